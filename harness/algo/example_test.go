package algo_test

import (
	"context"
	"fmt"

	_ "miglab/algorithms" // registers the schedulers
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// An algorithm is found by its name and parameters. Parameters that have their defaults are
// left out of its ID.
func ExampleParse() {
	a, err := algo.Parse("fixpart?p=2-2")
	check(err)
	s, err := a.Schedule(context.Background(), algo.Problem{
		GPU: mig.MustLookup("A30"),
		Tasks: task.Batch{
			task.New("a", map[mig.Slices]mig.Seconds{1: 5, 2: 3, 4: 2}),
			task.New("b", map[mig.Slices]mig.Seconds{1: 9, 2: 5, 4: 3}),
		},
	})
	check(err)
	fmt.Printf("%s: %d tasks in %.2f s\n", s.Algorithm, len(s.Placements), s.Makespan())
	// Output:
	// fixpart?p=2-2: 2 tasks in 5.24 s
}

// A scheduler registers itself. Register returns what it registers, so that a file can call
// it in a variable declaration.
func ExampleRegister() {
	spec := algo.Register(algo.Spec{
		Name: "example", Version: 1, Cite: "none", Summary: "an empty schedule",
		Params: []algo.Param{{Name: "order", Default: "given", Values: []string{"given", "longest"}, Doc: "which task comes first"}},
		New:    algo.NewBatch(func(algo.Args) (algo.Batch, error) { return nil, nil }),
	})
	a, err := algo.Parse("example?order=longest")
	fmt.Println(spec.Name, a.ID, a.Args["order"], err)
	// Output:
	// example example?order=longest longest <nil>
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
