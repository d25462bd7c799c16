package datasets_test

import (
	"fmt"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// Two consecutive batches of ten tasks, as FAR 6.7 concatenates them.
func ExampleParse() {
	s, err := datasets.Parse("far/MIXSCALINGUNIFORM+WIDETIMES?n=10&seed=1&batches=2")
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := datasets.InstanceOf[task.Batches](s, mig.MustLookup("A100"), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.ID())
	fmt.Println(in.Lengths, in.Tasks[0].Name, in.Tasks[19].Name)
	// Output:
	// far/MIXEDSCALING+WIDETIMES?batches=2&n=10
	// [10 10] b0001-t01 b0002-t10
}
