package datasets

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// largestNoise lets an estimate be about ten times too long or too short within one standard deviation.
const largestNoise = 2

// withNoise adds the parameter noise to a family of tasks: how wrong the durations are that a scheduler sees. Its
// estimate of a duration t is t exp(noise z), where z is standard normal and is drawn for each task and size, from a
// random stream that the rest of the spec, the sizes of the GPU and the index of the instance name. So every noise has
// the same z, and half of the estimates are too short.
func withNoise(f Family) Family {
	exact, made := f.Params, f.New
	f.Params = append(slices.Clip(exact), number("noise", 0, 0, largestNoise,
		"error of the durations that schedulers see, as the standard deviation of their logarithm; 0.2 is about 20 %"))
	f.New = func(id string, a spec.Args) (Dataset, error) {
		d, err := made(id, a)
		if sigma := a.Float("noise"); err == nil && sigma > 0 {
			d = noisy{d, "estimates=" + spec.ID(f.Name+a[FileKey], exact, a), sigma}
		}
		return d, err
	}
	return f
}

// noisy is a dataset of tasks whose durations schedulers estimate.
type noisy struct {
	Dataset
	// key names the random stream of the estimates.
	key   string
	sigma float64
}

func (n noisy) Instance(g *mig.GPU, index int) (task.Payload, error) {
	in, err := n.Dataset.Instance(g, index)
	if err != nil {
		return nil, err
	}
	b := in.(task.Batches)
	if b.Restart > 0 {
		return nil, errors.New("tasks that can be stopped have no estimates; give restart=0 or no noise")
	}
	b.Estimates = slices.Clone(b.Tasks)
	rng := rand.New(pcg(n.key, 1, g, index))
	for i := range b.Estimates {
		for _, size := range g.Sizes() {
			z := rng.NormFloat64()
			if t := &b.Estimates[i]; t.Fits(size) {
				seen := float64(t.On(size)) * math.Exp(n.sigma*z)
				t.Set(size, mig.Seconds(min(max(seen, task.MinSeconds), task.MaxSeconds)))
			}
		}
	}
	return b, nil
}

// AddTo implements [Varied].
func (n noisy) AddTo(d *task.Digest) {
	if v, ok := n.Dataset.(Varied); ok {
		v.AddTo(d)
	}
}

func (n noisy) regime() task.Regime { return regimeOfDataset(n.Dataset) }
