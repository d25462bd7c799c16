package stats_test

import (
	"fmt"

	"miglab/harness/stats"
)

func ExampleSummarize() {
	s, err := stats.Summarize([]float64{9.5, 10.1, 9.9, 10.4, 10.1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("mean %.2f, 95 %% interval %.2f to %.2f, median %.1f\n", s.Mean, s.Low, s.High, s.Median)
	// Output:
	// mean 10.00, 95 % interval 9.59 to 10.41, median 10.1
}

// Two algorithms on the same ten instances are compared by their differences.
func ExampleWilcoxon() {
	d := []float64{1, 2, -0.5, 3, 1, 2, 0.5, 2, 1, 2}
	t, err := stats.Wilcoxon(d)
	fmt.Printf("%d differences, p = %.4f, %v\n", t.N, t.P, err)
	// Output:
	// 10 differences, p = 0.0087, <nil>
}

// Holm's adjustment is for several tests at once.
func ExampleHolm() {
	fmt.Println(stats.Holm([]float64{0.01, 0.04, 0.03}))
	// Output:
	// [0.03 0.06 0.06]
}
