package bounds_test

import (
	"context"
	"fmt"

	"miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"

	_ "miglab/algorithms"
)

// The optimum of a small batch. Exact starts from a known schedule.
func ExampleExact() {
	ctx := context.Background()
	p := algo.Problem{
		GPU: mig.MustLookup("A30"),
		Tasks: task.Batch{
			task.New("a", map[mig.Slices]mig.Seconds{1: 10, 2: 6, 4: 4}),
			task.New("b", map[mig.Slices]mig.Seconds{1: 9, 2: 5, 4: 3}),
			task.New("c", map[mig.Slices]mig.Seconds{1: 4, 2: 3, 4: 2}),
		},
	}
	far, err := algo.MustParse("far").Schedule(ctx, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := bounds.Exact(ctx, p, far)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("FAR %.2f s, optimum %.2f s, proven: %v\n", far.Makespan(), r.Schedule.Makespan(), r.Proven)
	// Output:
	// FAR 9.23 s, optimum 8.12 s, proven: true
}
