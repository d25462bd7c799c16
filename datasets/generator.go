package datasets

import (
	"math/rand/v2"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/portable"
)

// A speedup is a kind of gain from one more slice (FAR 6.3): r below 0, near 0 or near 1, see [generator.durations].
type speedup uint8

const (
	superLinear speedup = iota
	nearLinear
	subLinear
)

// clippedNormal is the N(mean, sigma)_[low, high] of FAR 6.3: values outside the interval are moved to its nearer
// end, not drawn again, so that both ends have a positive probability.
type clippedNormal struct{ mean, sigma, low, high float64 }

func (c clippedNormal) draw(rng *rand.Rand) float64 {
	// The conversion rounds the product, which keeps it from being fused with the sum.
	return min(max(c.mean+float64(c.sigma*portable.Normal(rng)), c.low), c.high)
}

// A generator draws the durations of tasks by one reading of FAR 6.3.
type generator struct {
	name string
	r    [3]clippedNormal // the distribution of r for each speedup
	// leave is the probability with which a memory-bound task becomes compute-bound, drawn before each slice from the
	// third on.
	leave float64
	// noBandwidthAt4 makes memory-bound tasks gain sub-linearly from 3 to 4 slices, which have
	// the same memory bandwidth on 7-slice models. No draw for leaving follows that step.
	noBandwidthAt4 bool
}

// Distributions as FAR 6.3 and DRL 5.1.2 print them.
var (
	printedSuper = clippedNormal{-0.25, 0.25, -0.5, 0}
	printedNear  = clippedNormal{0.1, 0.1, 0, 0.2}
	printedSub   = clippedNormal{0.75, 0.25, 0.5, 1}
	releasedNear = clippedNormal{0.05, 0.05, 0, 0.1}
)

// generators lists the readings; the first is the default. The papers' text and
// their released code disagree, and so do parts of the text.
//
// "paper" is the text, where a task that becomes compute-bound scales near-linearly
// up to its size. It gives FAR Table 4 with psup=0, that is, without memory-bound tasks.
//
// "released" is the authors' code, with narrower intervals and another probability. The script compare_size_test of
// March 2024, which made FAR Table 5, uses it with psup=50 and leave=0.3. The scripts refinement_test, concat_test and
// multi_batch_test, which made FAR Tables 6 to 9, use it with psup=0. The script create_dataset.py of the DRL paper's
// public code draws the same tasks in the order of order=classes.
//
// "released-train" is the code with which the DRL paper's agents were trained. It comes
// nearest to the values of FAR in DRL Table 4.
var generators = []*generator{
	{
		name: "paper", r: [3]clippedNormal{printedSuper, printedNear, printedSub},
		leave: 0.3,
	},
	{
		name:  "released",
		r:     [3]clippedNormal{{-0.25, 0.25, -0.3, 0}, releasedNear, printedSub},
		leave: 0.1, noBandwidthAt4: true,
	},
	{
		name:  "released-train",
		r:     [3]clippedNormal{{-0.3, 0.3, -0.5, 0}, releasedNear, printedSub},
		leave: 0.025, noBandwidthAt4: true,
	},
}

func (v *generator) String() string { return v.name }

// findGenerator returns the generator with a name. The name must exist.
func findGenerator(name string) *generator {
	return generators[slices.IndexFunc(generators, func(v *generator) bool { return v.name == name })]
}

// A shape decides how a task scales.
type shape struct {
	size        mig.Slices // the instance size up to which the task scales well
	memoryBound bool       // tasks gain super-linearly until they become compute-bound
}

// durations draws the durations of a task on 1, 2, ... slices of a GPU with a number of compute slices, also on numbers
// of slices for which the GPU has no instance: t(k+1) = (k+r)/(k+1) t(k). t1 is t(1), and leave replaces the
// generator's own probability.
func (v *generator) durations(rng *rand.Rand, t1 float64, s shape, compute mig.Slices, leave float64) times {
	t := times{1: t1}
	good := nearLinear
	if s.memoryBound {
		good = superLinear
	}
	for have := mig.Slices(1); have < compute; have++ {
		kind := good
		switch {
		case have >= s.size:
			kind = subLinear
		case v.noBandwidthAt4 && have == 3 && good == superLinear:
			// In the released code this step is sub-linear if instances of both sizes have the same memory, else (A30)
			// like a step of a compute-bound task.
			kind = nearLinear
			if compute == mig.MaxSize {
				kind = subLinear
			}
		}
		r := v.r[kind].draw(rng)
		k := float64(have)
		t[have+1] = (k + r) / (k + 1) * t[have]
		if kind == superLinear && rng.Float64() < leave {
			good = nearLinear
		}
	}
	return t
}
