package corun_test

import (
	"fmt"

	"miglab/datasets"
	"miglab/harness/sim/corun"
)

// Two programs share the GPU by MPS percentages. Together they take less time than one after
// the other.
func ExampleMeasure() {
	programs := datasets.Programs()
	w := corun.Window{Jobs: programs[:2], Concurrency: 2}
	setup, err := corun.Parse("[(0.4)+(0.6),1m]")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := corun.Measure(w, corun.Plan{{Jobs: []int{0, 1}, Setup: setup}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s and %s: throughput %.2f\n", w.Jobs[0].Name, w.Jobs[1].Name, r.Throughput())
	// Output:
	// lavaMD and huffman: throughput 1.13
}
