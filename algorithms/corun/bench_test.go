package corun

import (
	"context"
	"fmt"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/harness/algo"
	"miglab/harness/sim/corun"
)

// BenchmarkPlan measures decisions, everything that depends on the window included: for
// Q1 to Q12 in turn, and for larger windows where it matters.
func BenchmarkPlan(b *testing.B) {
	plan := func(name, id string, windows ...corun.Window) {
		a := algo.MustParse(id)
		s, err := algotest.Planner(a)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := s.Plan(context.Background(), windows[i%len(windows)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	qs := queues(b)
	for _, a := range variants() {
		plan(a.ID, a.ID, qs...)
	}
	for _, id := range []string{"exact", "local", "greedy"} {
		for _, jobs := range []int{16, 20, 100, 1000} {
			if id != "exact" || jobs <= maxDivide {
				plan(fmt.Sprintf("W=%d/%s", jobs, id), id, paperWindow(1, jobs))
			}
		}
	}
}
