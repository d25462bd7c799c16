package mig_test

import (
	"fmt"

	"miglab/harness/mig"
)

// The partitions of an A30. A size is a number of compute slices, and the instances of a
// partition stand from left to right.
func ExampleGPU_Partitions() {
	for _, p := range mig.MustLookup("A30").Partitions() {
		fmt.Println(p)
	}
	// Output:
	// 4
	// 2-2
	// 2-1-1
	// 1-1-2
	// 1-1-1-1
}

// Two instances conflict if they share a memory slice. Three compute slices at 0 take four
// memory slices.
func ExampleInstance_Overlaps() {
	gpu := mig.MustLookup("A100")
	three, err := gpu.Instance(3, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	one, err := gpu.Instance(1, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(three, one, three.Overlaps(one))
	// Output:
	// 3@0 1@3 true
}
