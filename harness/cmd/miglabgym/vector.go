package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"miglab/algorithms/rl/env"
)

// A vector is environments of one kind that are stepped together, one after another.
type vector struct {
	kind  *kind
	envs  []environment
	shape env.Shape
	// streams are what the environments draw from, and sources what restarts them.
	streams []*rand.Rand
	sources []*rand.PCG
	// masks are those last shown.
	masks []bool
	begun bool
	// broken says why no environment can be used any more.
	broken error
}

// Bounds of a vector: maxValues is how many an observation and its mask may have,
// over all environments.
const (
	maxEnvironments = 1 << 16
	maxValues       = 1 << 28
)

func newVector(name, options string, count int64, seed uint64) (*vector, error) {
	k, make1, err := open(name, options)
	if err != nil {
		return nil, err
	}
	if count < 1 || count > maxEnvironments {
		return nil, fmt.Errorf("a vector of %d environments; there are from 1 to %d", count, maxEnvironments)
	}
	v := &vector{kind: k}
	for range count {
		e, err := make1()
		if err != nil {
			return nil, fmt.Errorf("environment %s: %w", name, err)
		}
		v.shape = e.Shape()
		if values := int64(v.shape.Observation+v.shape.Actions) * count; values > maxValues {
			return nil, fmt.Errorf("%d environments %s of this size have %d values; there may be %d", count, name, values, maxValues)
		}
		source := rand.NewPCG(0, 0)
		v.envs, v.sources, v.streams = append(v.envs, e), append(v.sources, source), append(v.streams, rand.New(source))
	}
	v.masks = make([]bool, len(v.envs)*v.shape.Actions)
	v.seed(seed)
	return v, nil
}

// seed restarts the streams. Environment i has that of a single one with the seed
// seed+i.
func (v *vector) seed(seed uint64) {
	for i, s := range v.sources {
		s.Seed(seed+uint64(i), 0)
	}
}

// buffers are what a vector writes, row by row: one row an environment.
type buffers struct {
	observations []float32
	masks        []bool
	rewards      []float32
	done         []bool
	// metrics are those of the episodes that are done, NaN elsewhere.
	metrics []float64
}

// reset begins an episode in every environment.
func (v *vector) reset(b *buffers) error {
	return v.use(func() {
		for i := range v.envs {
			v.envs[i].Reset(v.streams[i])
			v.observe(i, b)
		}
		v.begun = true
	})
}

// step carries out one action in each environment. Where one is not allowed, nothing
// happens in any.
func (v *vector) step(actions []int64, b *buffers) error {
	if !v.begun {
		return fmt.Errorf("step before the first reset; call reset first")
	}
	for i, a := range actions {
		if mask := v.mask(i); a < 0 || a >= int64(len(mask)) || !mask[a] {
			return fmt.Errorf("environment %d does not allow action %d; choose one of %s", i, a, allowed(mask))
		}
	}
	return v.use(func() {
		for i, a := range actions {
			e := &v.envs[i]
			metrics := b.metrics[i*len(v.kind.metrics):][:len(v.kind.metrics)]
			for k := range metrics {
				metrics[k] = math.NaN()
			}
			b.rewards[i], b.done[i] = e.Step(int(a))
			if b.done[i] {
				e.measure(metrics)
				e.Reset(v.streams[i])
			}
			v.observe(i, b)
		}
	})
}

// use runs f. If f panics, the environments are in no state to go on.
func (v *vector) use(f func()) (err error) {
	if v.broken != nil {
		return v.broken
	}
	defer func() {
		if p := recover(); p != nil {
			v.broken = fmt.Errorf("environment %s failed, a mistake in miglab: %v", v.kind.name, p)
			err = v.broken
		}
	}()
	f()
	return nil
}

func (v *vector) mask(i int) []bool { return v.masks[i*v.shape.Actions:][:v.shape.Actions] }

func (v *vector) observe(i int, b *buffers) {
	mask := v.mask(i)
	v.envs[i].Observe(b.observations[i*v.shape.Observation:][:v.shape.Observation], mask)
	copy(b.masks[i*v.shape.Actions:], mask)
}

// allowed lists the actions that a mask allows.
func allowed(mask []bool) string {
	var out []int
	for a, ok := range mask {
		if ok {
			out = append(out, a)
		}
	}
	return fmt.Sprint(out)
}
