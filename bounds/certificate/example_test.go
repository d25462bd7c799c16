package certificate_test

import (
	"context"
	"fmt"

	_ "miglab/algorithms"
	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// Verify checks the claim of a solver without the solver's code.
func ExampleVerify() {
	p := algo.Problem{
		GPU: mig.MustLookup("A30"),
		Tasks: task.Batch{
			task.New("a", map[mig.Slices]mig.Seconds{1: 10, 2: 6, 4: 4}),
			task.New("b", map[mig.Slices]mig.Seconds{1: 9, 2: 5, 4: 3}),
		},
	}
	known, err := algo.MustParse("nomig").Schedule(context.Background(), p)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := bounds.Exact(context.Background(), p, known)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("at least %.2f s, found %.2f s, verified: %v\n", c.Lower, c.Makespan, certificate.Verify(p, c) == nil)

	c.Lower++
	fmt.Println("a bound that is too high is refused:", certificate.Verify(p, c) != nil)
	// Output:
	// at least 6.12 s, found 6.12 s, verified: true
	// a bound that is too high is refused: true
}
