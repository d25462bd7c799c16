package datasets

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// noise is a parameter of all families of tasks: the error of the durations that a scheduler sees. The estimate of a
// duration t is t exp(noise z), where z is standard normal and is drawn for each task and size. Datasets that differ in
// noise alone have the same z. Half of the estimates are too short. With a noise of 2, an estimate that is one standard
// deviation off is about seven times too long or too short.
var noise = number("noise", 0, 0, 2,
	"error of the durations that schedulers see, as the standard deviation of their logarithm; 0.2 is about 20 %")

// estimates describes the errors of a dataset's estimates. The zero value means that schedulers see the true durations.
type estimates struct {
	sigma float64
	key   string // seeds the random stream
}

// newEstimates reads the parameter. The key of the random stream is the spec without noise.
func newEstimates(name string, params []spec.Param, a spec.Args) estimates {
	if a[noise.Name] == "" || a[noise.Name] == noise.Default {
		return estimates{}
	}
	exact := maps.Clone(a)
	exact[noise.Name] = noise.Default
	return estimates{sigma: a.Float(noise.Name), key: "estimates=" + spec.ID(name, params, exact)}
}

// addTo adds estimates to an instance. It returns an error if tasks can be stopped.
func (e estimates) addTo(in task.Payload, g *mig.GPU, index int) (task.Payload, error) {
	if e.sigma == 0 {
		return in, nil
	}
	b := in.(task.Batches)
	if b.Restart > 0 {
		return nil, errors.New("tasks that can be stopped have no estimates; give restart=0 or no noise")
	}
	b.Estimates = slices.Clone(b.Tasks)
	rng := rand.New(pcg(e.key, 1, g, index))
	for i := range b.Estimates {
		for _, size := range g.Sizes() {
			z := portable.Normal(rng)
			t := &b.Estimates[i]
			if t.Fits(size) {
				seen := float64(t.On(size)) * portable.Exp(e.sigma*z)
				t.Set(size, mig.Seconds(min(max(seen, task.MinSeconds), task.MaxSeconds)))
			}
		}
	}
	return b, nil
}
