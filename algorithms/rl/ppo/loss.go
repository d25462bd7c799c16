package ppo

import (
	"math"
	"math/rand/v2"

	"miglab/harness/portable"
)

// actionsIn lists the actions that a mask allows, in the memory of list if they fit. It
// panics if no action is allowed, which breaks the contract of an environment.
//
// Inlined into a large function, its loop would keep its variables in memory.
//
//go:noinline
func actionsIn(mask []bool, list []int32) []int32 {
	if cap(list) < len(mask) {
		list = make([]int32, len(mask))
	}
	list = list[:len(mask)]
	n := 0
	for j, ok := range mask {
		// Masks are hard to predict, so this compiles to no branch.
		list[n] = int32(j)
		if ok {
			n++
		}
	}
	if n == 0 {
		panic("ppo: an environment allows no action")
	}
	return list[:n]
}

// sampleAction draws an action from the softmax of the allowed preferences, and returns
// the logarithm of its probability. weights is scratch memory, one value for each action.
func sampleAction(
	preferences []float32, allowed []int32, weights []float32, rng *rand.Rand,
) (action int32, logp float32) {
	most := highest(preferences, allowed)
	sum := 0.0
	for _, j := range allowed {
		w := portable.Exp(float64(preferences[j] - most))
		weights[j] = float32(w)
		sum += w
	}
	u := rng.Float64() * sum
	for _, j := range allowed {
		// By rounding, u may stay at 0 or more after the last action, which is then chosen.
		action = j
		if u -= float64(weights[j]); u < 0 {
			break
		}
	}
	return action, preferences[action] - most - float32(portable.Log(sum))
}

// highest returns the highest allowed preference, ignoring those that are not a number.
func highest(preferences []float32, allowed []int32) float32 {
	most := float32(math.Inf(-1))
	for _, j := range allowed {
		// The built-in max takes several times longer, as it treats NaN and -0.
		if v := preferences[j]; v > most {
			most = v
		}
	}
	return most
}

// An experience holds the data of one step to learn from.
type experience struct {
	action    int32
	logp      float32 // of the action, by the policy that acted
	advantage float32
	target    float32 // of the critic: the return by GAE
}

// weights holds the factors in the loss of a minibatch: scale is 1 over its number of steps, entropy and value weigh
// these terms, and clip is [Config].Clip.
type weights struct{ scale, clip, entropy, value float64 }

// terms holds the terms of the loss, summed over steps.
type terms struct{ policy, value, entropy float64 }

func (t *terms) add(o terms) {
	t.policy += o.policy
	t.value += o.value
	t.entropy += o.entropy
}

// loss computes the terms of one step and the derivatives of
//
//	scale (surrogate - entropy H + value (V - target)^2)
//
// by the preferences, 0 where not allowed, and by the value.
func (w weights) loss(
	preferences []float32, allowed []int32, value float32, at experience, dPreferences []float32,
) (terms, float32) {
	most := highest(preferences, allowed)
	clear(dPreferences)
	sum, dot := 0.0, 0.0
	for _, j := range allowed {
		x := float64(preferences[j] - most)
		e := portable.Exp(x)
		sum += e
		dot += float64(e * x)
		dPreferences[j] = float32(e)
	}
	logSum := portable.Log(sum)
	entropy := logSum - dot/sum
	ratio := portable.Exp(float64(preferences[at.action]-most) - logSum - float64(at.logp))

	advantage := float64(at.advantage)
	free := advantage * ratio
	clipped := advantage * min(max(ratio, 1-w.clip), 1+w.clip)
	dLogp := 0.0 // of the surrogate, which is constant where clipping lowers it
	if free <= clipped {
		dLogp = -free
	}

	dLogp = float64(dLogp * w.scale)
	for _, j := range allowed {
		p := float64(dPreferences[j]) / sum
		logp := float64(preferences[j]-most) - logSum
		dPreferences[j] = float32(p * (float64(w.scale*w.entropy*(logp+entropy)) - dLogp))
	}
	dPreferences[at.action] += float32(dLogp)

	miss := float64(value) - float64(at.target)
	return terms{-min(free, clipped), miss * miss, entropy}, float32(2 * w.scale * w.value * miss)
}

// advantages computes GAE for one of several environments with alternating steps: its own
// are first, first+stride, and so on. values has one more step.
func advantages(
	rewards, values []float32, dones []bool, gamma, lambda float64, first, stride int, out, targets []float32,
) {
	sum := 0.0
	for i := first + (len(rewards)/stride-1)*stride; i >= 0; i -= stride {
		next := float64(values[i+stride])
		if dones[i] {
			next, sum = 0, 0
		}
		value := float64(values[i])
		sum = float64(rewards[i]) + float64(gamma*next) - value + float64(gamma*lambda*sum)
		out[i], targets[i] = float32(sum), float32(sum+value)
	}
}

// standardize gives the advantages of a minibatch mean 0 and, if they vary, variance 1.
func standardize(at []experience) {
	n, mean, squares := float64(len(at)), 0.0, 0.0
	for _, a := range at {
		mean += float64(a.advantage)
	}
	mean /= n
	for _, a := range at {
		d := float64(a.advantage) - mean
		squares += float64(d * d)
	}
	scale := 1 / (math.Sqrt(squares/max(1, n-1)) + 1e-8)
	for i := range at {
		at[i].advantage = float32((float64(at[i].advantage) - mean) * scale)
	}
}
