package ppo

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// lossOf is the loss of one step as the papers write it, in double precision.
func lossOf(preferences []float64, mask []bool, value float64, at experience, w weights) float64 {
	var p []float64
	sum := 0.0
	for j, ok := range mask {
		p = append(p, 0)
		if ok {
			p[j] = math.Exp(preferences[j])
			sum += p[j]
		}
	}
	entropy := 0.0
	for j, ok := range mask {
		if ok {
			p[j] /= sum
			entropy -= p[j] * math.Log(p[j])
		}
	}
	ratio := p[at.action] / math.Exp(float64(at.logp))
	a := float64(at.advantage)
	surrogate := math.Min(ratio*a, math.Max(1-w.clip, math.Min(1+w.clip, ratio))*a)
	miss := value - float64(at.target)
	return w.scale * (-surrogate - w.entropy*entropy + w.value*miss*miss)
}

func TestGradientOfTheLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		n := 1 + rng.IntN(8)
		preferences, mask := make([]float32, n), make([]bool, n)
		double := make([]float64, n)
		for j := range n {
			preferences[j] = float32(2 * rng.NormFloat64())
			double[j] = float64(preferences[j])
			mask[j] = rng.IntN(3) > 0
		}
		at := experience{
			action: int32(rng.IntN(n)), logp: -3 * rng.Float32(),
			advantage: float32(rng.NormFloat64()), target: float32(rng.NormFloat64()),
		}
		mask[at.action] = true
		w := weights{scale: 0.25, clip: 0.2, entropy: 0.3, value: 0.5}
		value := float32(rng.NormFloat64())
		d := make([]float32, n)
		got, dValue := w.loss(preferences, actionsIn(mask, nil), value, at, d)

		want := lossOf(double, mask, float64(value), at, w)
		if loss := w.scale * (got.policy - w.entropy*got.entropy + w.value*got.value); math.Abs(loss-want) > 1e-5 {
			t.Fatalf("loss %v, want %v", loss, want)
		}
		const h = 1e-5
		central := func(f func(h float64) float64) float64 { return (f(h) - f(-h)) / (2 * h) }
		for j := range n {
			want := central(func(h float64) float64 {
				moved := append([]float64(nil), double...)
				moved[j] += h
				return lossOf(moved, mask, float64(value), at, w)
			})
			if !mask[j] && d[j] != 0 {
				t.Fatalf("masked action %d has the gradient %v", j, d[j])
			}
			// At a ratio of exactly 1 +- clip there is none; rapid does not hit it.
			if math.Abs(float64(d[j])-want) > 1e-4 {
				t.Fatalf("preference %d: gradient %v, want %v", j, d[j], want)
			}
		}
		if want := central(func(h float64) float64 { return lossOf(double, mask, float64(value)+h, at, w) }); math.Abs(float64(dValue)-want) > 1e-4 {
			t.Fatalf("value: gradient %v, want %v", dValue, want)
		}
	})
}

// naive is GAE by its definition: the sum of (gamma lambda)^l delta_(t+l) up to the
// episode's end.
func naive(rewards, values []float64, dones []bool, gamma, lambda float64, t int) float64 {
	sum, weight := 0.0, 1.0
	for l := t; l < len(rewards); l++ {
		delta := rewards[l] - values[l]
		if !dones[l] {
			delta += gamma * values[l+1]
		}
		sum += weight * delta
		if dones[l] {
			break
		}
		weight *= gamma * lambda
	}
	return sum
}

func TestAdvantages(t *testing.T) {
	const horizon, envs = 12, 3
	const gamma, lambda = 0.9, 0.8
	rng := rand.New(rand.NewPCG(1, 2))
	rewards, values, dones := make([]float32, horizon*envs), make([]float32, (horizon+1)*envs), make([]bool, horizon*envs)
	for i := range values {
		values[i] = float32(rng.NormFloat64())
	}
	for i := range rewards {
		rewards[i], dones[i] = float32(rng.NormFloat64()), rng.IntN(4) == 0
	}
	got, targets := make([]float32, horizon*envs), make([]float32, horizon*envs)
	for e := range envs {
		advantages(rewards, values, dones, gamma, lambda, e, envs, got, targets)
		var r, v []float64
		var d []bool
		for i := e; i < len(values); i += envs {
			v = append(v, float64(values[i]))
			if i < len(rewards) {
				r, d = append(r, float64(rewards[i])), append(d, dones[i])
			}
		}
		for s := range horizon {
			i, want := s*envs+e, naive(r, v, d, gamma, lambda, s)
			if math.Abs(float64(got[i])-want) > 1e-5 || math.Abs(float64(targets[i])-want-v[s]) > 1e-5 {
				t.Errorf("environment %d, step %d: advantage %v, target %v, want %v, %v", e, s, got[i], targets[i], want, want+v[s])
			}
		}
	}
}

// Actions come as often as the softmax of what is allowed says, and no others.
func TestSample(t *testing.T) {
	preferences, mask := []float32{9, 0, 1, 99, -1, 0}, []bool{false, true, true, false, true, false}
	const n = 100_000
	sum := 1 + math.E + 1/math.E
	want := []float64{0, 1 / sum, math.E / sum, 0, 1 / (math.E * sum), 0}
	rng, scratch, counts := rand.New(rand.NewPCG(3, 4)), make([]float32, len(mask)), make([]int, len(mask))
	allowed := actionsIn(mask, nil)
	for range n {
		action, logp := sampleAction(preferences, allowed, scratch, rng)
		counts[action]++
		if math.Abs(float64(logp)-math.Log(want[action])) > 1e-5 {
			t.Fatalf("action %d has the log-probability %v, want %v", action, logp, math.Log(want[action]))
		}
	}
	for j, p := range want {
		if got := float64(counts[j]) / n; math.Abs(got-p) > 4*math.Sqrt(p*(1-p)/n) {
			t.Errorf("action %d was drawn with frequency %v, want %v", j, got, p)
		}
	}
}

func TestStandardize(t *testing.T) {
	at := []experience{{advantage: 1}, {advantage: 2}, {advantage: 3}}
	standardize(at)
	for i, want := range []float32{-1, 0, 1} {
		if math.Abs(float64(at[i].advantage-want)) > 1e-6 {
			t.Errorf("%v, want %v", at[i].advantage, want)
		}
	}
	same := []experience{{advantage: 5}, {advantage: 5}}
	standardize(same)
	if same[0].advantage != 0 {
		t.Errorf("%v where all are equal, want 0", same[0].advantage)
	}
}

func TestStandardizeOneSample(t *testing.T) {
	for _, at := range [][]experience{nil, {{advantage: 3}}} {
		if standardize(at); len(at) > 0 && at[0].advantage != 0 {
			t.Errorf("the advantage is %v, want 0", at[0].advantage)
		}
	}
}
