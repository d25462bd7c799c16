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

// noise is a parameter of all families of tasks: how wrong the durations are that a scheduler sees. Its estimate of a
// duration t is t exp(noise z), where z is standard normal and is drawn for each task and size, from a random stream
// that the rest of the spec, the sizes of the GPU and the index of the instance name. So every noise has the same z,
// and half of the estimates are too short. A noise of 2 makes an estimate seven times too long or too short within one
// standard deviation.
var noise = number("noise", 0, 0, 2,
	"error of the durations that schedulers see, as the standard deviation of their logarithm; 0.2 is about 20 %")

// estimates are the errors of a dataset. The zero value is none.
type estimates struct {
	sigma float64
	// key names the random stream.
	key string
}

func newEstimates(name string, params []spec.Param, a spec.Args) estimates {
	if a[noise.Name] == "" || a[noise.Name] == noise.Default {
		return estimates{}
	}
	exact := maps.Clone(a)
	exact[noise.Name] = noise.Default
	return estimates{a.Float(noise.Name), "estimates=" + spec.ID(name, params, exact)}
}

// addTo adds estimates to an instance. Tasks that can be stopped are an error.
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
			if t := &b.Estimates[i]; t.Fits(size) {
				seen := float64(t.On(size)) * portable.Exp(e.sigma*z)
				t.Set(size, mig.Seconds(min(max(seen, task.MinSeconds), task.MaxSeconds)))
			}
		}
	}
	return b, nil
}
