package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"miglab/algorithms/rl/env"
)

// A vector is environments of one kind that are stepped together, one after another.
type vector struct {
	calls sync.Mutex // those from C wait for each other
	name  string
	kind
	envs  []environment
	shape env.Shape
	// streams are what the environments draw from, and sources what restarts them.
	streams []*rand.Rand
	sources []*rand.PCG
	// masks are those last shown.
	masks []bool
	// over says which episodes are done, and so wait for a reset.
	over  []bool
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
	k, err := openKind(name, options)
	if err != nil {
		return nil, err
	}
	if count < 1 || count > maxEnvironments {
		return nil, fmt.Errorf("a vector of %d environments; there are from 1 to %d", count, maxEnvironments)
	}
	v := &vector{name: name, kind: k, over: make([]bool, count)}
	for i := range int(count) {
		e, err := v.make(i, int(count))
		if err != nil {
			return nil, fmt.Errorf("environment %s: %w", name, err)
		}
		v.shape = e.Shape()
		if values := int64(v.shape.Observation+v.shape.Actions) * count; values > maxValues {
			return nil, fmt.Errorf("%d environments %s of this size have %d values; there may be %d", count, name,
				values, maxValues)
		}
		source := rand.NewPCG(0, 0)
		v.envs, v.sources, v.streams = append(v.envs, e), append(v.sources, source), append(v.streams, rand.New(source))
	}
	v.masks = make([]bool, len(v.envs)*v.shape.Actions)
	for i := range v.envs {
		v.seed(i, seed+uint64(i))
	}
	return v, nil
}

// has returns an error unless there is an environment i.
func (v *vector) has(i int) error {
	if i < 0 || i >= len(v.envs) {
		return fmt.Errorf("there is no environment %d; they are 0 to %d", i, len(v.envs)-1)
	}
	return nil
}

// seed restarts the stream of an environment, and with it the instances of a dataset.
func (v *vector) seed(i int, seed uint64) {
	v.sources[i].Seed(seed, 0)
	if b, ok := v.envs[i].(*batch); ok {
		b.rewind()
	}
}

// buffers are what a vector writes, row by row: one row an environment.
type buffers struct {
	observations []float32
	masks        []bool
	// facts are those of the episodes that begin.
	facts   []float64
	rewards []float32
	done    []bool
	// metrics are those of the episodes that are done, NaN elsewhere.
	metrics []float64
}

// reset begins an episode in the environments that which names; nil means in all of them, as
// the first reset must.
func (v *vector) reset(which []bool, b *buffers) error {
	if !v.begun && which != nil {
		return fmt.Errorf("the first reset is of all environments, not of some")
	}
	return v.use(func() error {
		for i := range v.envs {
			if which != nil && !which[i] {
				continue
			}
			v.over[i] = true
			if err := v.envs[i].begin(v.streams[i], b.facts[i*len(v.facts):][:len(v.facts)]); err != nil {
				return err
			}
			v.over[i] = false
			v.observe(i, b)
		}
		v.begun = true
		return nil
	})
}

// step carries out one action in each environment that does not wait for a reset. Where one is
// not allowed, nothing happens in any.
func (v *vector) step(actions []int64, b *buffers) error {
	if !v.begun {
		return fmt.Errorf("step before the first reset; call reset first")
	}
	for i, a := range actions {
		if mask := v.mask(i); !v.over[i] && (a < 0 || a >= int64(len(mask)) || !mask[a]) {
			return fmt.Errorf("environment %d does not allow action %d; choose one of %s", i, a, allowed(mask))
		}
	}
	return v.use(func() error {
		for i, a := range actions {
			e := v.envs[i]
			metrics := b.metrics[i*len(v.metrics):][:len(v.metrics)]
			for k := range metrics {
				metrics[k] = math.NaN()
			}
			if v.over[i] {
				b.rewards[i], b.done[i] = 0, false
				continue
			}
			b.rewards[i], b.done[i] = e.Step(int(a))
			if b.done[i] {
				e.measure(metrics)
				v.over[i] = true
			}
			v.observe(i, b)
		}
		return nil
	})
}

// answer returns what a file of answers has for the episode of an environment, which must be
// done and must not be reset yet.
func (v *vector) answer(i int) (line []byte, err error) {
	if err := v.has(i); err != nil {
		return nil, err
	}
	b, ok := v.envs[i].(*batch)
	if !ok {
		return nil, fmt.Errorf("environment %s schedules no batches; own and batch do", v.name)
	}
	if !v.over[i] || !v.begun {
		return nil, fmt.Errorf("the episode of environment %d is not done", i)
	}
	err = v.use(func() error {
		line, err = b.answer()
		return err
	})
	return line, err
}

// use runs f. If f panics, the environments are in no state to go on.
func (v *vector) use(f func() error) (err error) {
	if v.broken != nil {
		return v.broken
	}
	defer func() {
		if p := recover(); p != nil {
			v.broken = fmt.Errorf("environment %s failed, a mistake in miglab: %v", v.name, p)
			err = v.broken
		}
	}()
	return f()
}

func (v *vector) mask(i int) []bool { return v.masks[i*v.shape.Actions:][:v.shape.Actions] }

// observe writes what an environment shows: zeros where its episode is done.
func (v *vector) observe(i int, b *buffers) {
	mask := v.mask(i)
	observation := b.observations[i*v.shape.Observation:][:v.shape.Observation]
	if v.over[i] {
		clear(observation)
		clear(mask)
	} else {
		v.envs[i].Observe(observation, mask)
	}
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
