package toy

import (
	"math/rand/v2"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

var _ = datasets.Register(datasets.Family{
	Name: "toy/numbers", Doc: "random numbers", Source: "a test",
	Params: []spec.Param{{Name: "n", Default: "5", Type: spec.Whole(1, 100), Doc: "how many"}},
	New:    func(_ string, a spec.Args) (datasets.Dataset, error) { return numbers(a.Int("n")), nil },
})

// numbers is the dataset whose instances have so many random numbers.
type numbers int

// Instances implements [datasets.Dataset].
func (numbers) Instances() int { return 0 }

// Instance implements [datasets.Dataset].
func (n numbers) Instance(_ *mig.GPU, index int) (task.Payload, error) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(index)))
	out := make(Numbers, n)
	for i := range out {
		out[i] = rng.Float64()
	}
	return out, nil
}
