package corun

import (
	"context"
	"fmt"
	"testing"
)

func BenchmarkLocal(b *testing.B) {
	for _, n := range []int{12, 50, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := paperWindow(1, n)
			for b.Loop() {
				local(context.Background(), &w)
			}
		})
	}
}
func BenchmarkExact(b *testing.B) {
	for _, n := range []int{12, 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := paperWindow(1, n)
			for b.Loop() {
				exhaustive("hierarchical")(context.Background(), &w)
			}
		})
	}
}
