package track_test

import (
	"context"
	"fmt"

	_ "miglab/algorithms"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/track"
)

// A track runs an algorithm on an instance and has the answer checked.
func Example() {
	t, err := track.Parse("batch")
	check(err)
	gpu := mig.MustLookup(t.GPU)
	in, err := datasets.MustParse("rodinia").Instance(gpu, 0)
	check(err)
	answer, err := t.Solve(context.Background(), algo.MustParse("far"), track.Problem{GPU: gpu, Count: 1, Payload: in})
	check(err)
	for _, m := range answer.Metrics {
		if m.Name == "makespan_s" {
			fmt.Printf("%s of far on %s: %.2f\n", m.Name, gpu, m.Value)
		}
	}
	// Output:
	// makespan_s of far on A100: 12.61
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
