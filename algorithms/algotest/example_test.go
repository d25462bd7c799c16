package algotest_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	_ "miglab/algorithms"
	"miglab/algorithms/algotest"
	"miglab/harness/algo"
)

// The suite runs each variant of an algorithm: its defaults, and every other value of its
// parameters.
func ExampleVariantsOf() {
	fmt.Println(algotest.VariantsOf(algo.Spec{
		Name: "mine",
		Params: []algo.Param{
			{Name: "order", Default: "given", Values: []string{"given", "longest", "shortest"}},
			{Name: "k", Default: "1"}, // any number: only the default is tried
		},
	}))
	// Output:
	// [mine mine?order=longest mine?order=shortest]
}

// Each track has a value with a referee. A test of one's own can use it on problems that the
// suite does not draw.
func ExampleTrack() {
	p := algotest.RandomProblem(rand.New(rand.NewPCG(1, 2)), 5)
	s, err := algotest.Batch.Run(context.Background(), algo.MustParse("far"), p)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(algotest.Batch.Check(p, s))
	s.Placements = s.Placements[1:]
	fmt.Println(algotest.Batch.Check(p, s) != nil)
	// Output:
	// <nil>
	// true
}
