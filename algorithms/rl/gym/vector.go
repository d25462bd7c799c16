package gym

import (
	"fmt"
	"math"
	"math/rand/v2"

	"miglab/algorithms/rl/env"
)

// A vector is environments of one kind that are stepped together.
type vector struct {
	*request
	kind
	envs  []environment
	shape env.Shape
	// streams are what the environments draw from, and sources restart them.
	streams []*rand.Rand
	sources []*rand.PCG
	// over says which environments have no episode, and so wait for one to begin.
	over []bool

	// message is what a client sends: for each environment a value, and what to do with it.
	message []byte
	values  []int64
	orders  []uint8

	// frame is what the client gets. The slices are its parts, in this order: row by row, one row an environment.
	frame []byte
	// known are the facts of the episodes, and measured the metrics of those that have just ended by themselves, else NaN.
	known, measured       []float64
	observations, rewards []float32
	// masks are the allowed actions. done and truncated say which episodes have just ended, by themselves or by an action
	// that is not allowed.
	masks, done, truncated []bool
	// answers has the lines of a file of answers for the episodes that have just ended.
	answers []byte
}

// Orders to an environment. A step does nothing while the environment waits.
const (
	orderStep         = iota // Carry out the action of the value.
	orderStepAndBegin        // The same; if that ends the episode, begin the next one.
	orderKeep                // Change nothing.
	orderBegin               // Begin an episode.
	orderSeed                // Restart the stream with the value as seed, and the instances of a dataset; then begin.
)

// maxEnvironments and maxValues are limits of a vector; values are those of all observations and masks.
const (
	maxEnvironments = 1 << 16
	maxValues       = 1 << 28
)

func newVector(o *request) (*vector, error) {
	k, err := openKind(o.Environment, o.Options)
	if err != nil {
		return nil, fmt.Errorf("environment %s: %w", o.Environment, err)
	}
	if o.Envs < 1 || o.Envs > maxEnvironments {
		return nil, fmt.Errorf("a vector of %d environments; there are from 1 to %d", o.Envs, maxEnvironments)
	}
	v := &vector{request: o, kind: k}
	for i := range o.Envs {
		e, err := v.make(i, o.Envs)
		if err != nil {
			return nil, fmt.Errorf("environment %s: %w", o.Environment, err)
		}
		v.shape = e.Shape()
		if values := (v.shape.Observation + v.shape.Actions) * o.Envs; values > maxValues {
			return nil, fmt.Errorf("%d environments %s of this size have %d values; there may be %d", o.Envs,
				o.Environment, values, maxValues)
		}
		source := rand.NewPCG(o.Seed+uint64(i), 0)
		v.envs, v.sources, v.streams = append(v.envs, e), append(v.sources, source), append(v.streams, rand.New(source))
		v.over = append(v.over, true)
	}
	v.allocate()
	return v, nil
}

// allocate makes the message and the frame, whose first 8 bytes are lengths. Wide values come first, so that all are
// aligned.
func (v *vector) allocate() {
	n, observations, actions := v.Envs, v.Envs*v.shape.Observation, v.Envs*v.shape.Actions
	v.message = make([]byte, 9*n)
	var rest []byte
	v.values, v.orders = carve[int64](v.message, n)
	v.frame = make([]byte, 8+8*n*(len(v.facts)+len(v.metrics))+4*(observations+n)+actions+2*n)
	v.known, rest = carve[float64](v.frame[8:], n*len(v.facts))
	v.measured, rest = carve[float64](rest, n*len(v.metrics))
	v.observations, rest = carve[float32](rest, observations)
	v.rewards, rest = carve[float32](rest, n)
	v.masks, rest = carve[bool](rest, actions)
	v.done, rest = carve[bool](rest, n)
	v.truncated, _ = carve[bool](rest, n)
}

// apply carries out a message. An order that is an error leaves all environments as they were.
func (v *vector) apply() error {
	for i := range v.orders {
		if err := v.admit(i); err != nil {
			return err
		}
	}
	for i, order := range v.orders {
		if order == orderSeed {
			v.sources[i].Seed(uint64(v.values[i]), 0)
			v.envs[i].rewind()
		}
		if err := v.step(i); err != nil {
			return err
		}
		if order >= orderBegin || order == orderStepAndBegin && (v.done[i] || v.truncated[i]) {
			v.over[i] = true // if it fails
			if err := v.envs[i].begin(v.streams[i], v.known[i*len(v.facts):][:len(v.facts)]); err != nil {
				return err
			}
			v.over[i] = false
			v.observe(i)
		}
	}
	return nil
}

// steps reports whether an environment carries out an action.
func (v *vector) steps(i int) bool { return v.orders[i] <= orderStepAndBegin && !v.over[i] }

// admit checks an order. An action that is not allowed is replaced, or marks the episode as truncated, if the client asked
// for that. One that does not exist is always an error.
func (v *vector) admit(i int) error {
	v.truncated[i] = false
	action, mask := v.values[i], v.mask(i)
	exists := action >= 0 && action < int64(len(mask))
	switch {
	case v.orders[i] > orderSeed:
		return fmt.Errorf("environment %d: there is no order %d; an order is from 0 to %d", i, v.orders[i], orderSeed)
	case !v.steps(i) || exists && mask[action]:
	case exists && v.Invalid == nearestAction:
		v.values[i] = nearestAllowed(mask, action)
	case exists && v.Invalid == endEpisode:
		v.truncated[i] = true
	default:
		return fmt.Errorf("environment %d does not allow action %d; choose one of %s", i, action, allowed(mask))
	}
	return nil
}

// nearestAllowed returns the allowed action with the nearest number, the lower one of two.
func nearestAllowed(mask []bool, action int64) int64 {
	for away := int64(0); ; away++ {
		for _, a := range []int64{action - away, action + away} {
			if a >= 0 && a < int64(len(mask)) && mask[a] {
				return a
			}
		}
	}
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

// step carries out the action of an environment, unless its order is another one or it has no episode.
func (v *vector) step(i int) (err error) {
	metrics := v.measured[i*len(v.metrics):][:len(v.metrics)]
	for k := range metrics {
		metrics[k] = math.NaN()
	}
	v.rewards[i], v.done[i] = 0, false
	if !v.steps(i) {
		return nil
	}
	if v.truncated[i] {
		v.over[i] = true
		return nil
	}
	v.rewards[i], v.done[i] = v.envs[i].Step(int(v.values[i]))
	if v.done[i] {
		v.over[i] = true
		v.answers, err = v.envs[i].measure(metrics, v.answers)
	}
	v.observe(i)
	return err
}

func (v *vector) mask(i int) []bool { return v.masks[i*v.shape.Actions:][:v.shape.Actions] }

// observe writes what an environment shows: zeros if its episode is over.
func (v *vector) observe(i int) {
	observation, mask := v.observations[i*v.shape.Observation:][:v.shape.Observation], v.mask(i)
	if v.over[i] {
		clear(observation)
		clear(mask)
		return
	}
	v.envs[i].Observe(observation, mask)
}
