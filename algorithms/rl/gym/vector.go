package gym

import (
	"fmt"
	"math"
	"math/rand/v2"

	"miglab/algorithms/rl/env"
)

// A vector holds environments of one kind that are stepped together.
type vector struct {
	*request
	kind
	envs    []environment
	shape   env.Shape
	streams []*rand.Rand // the random streams from which the environments draw their episodes
	// live says which environments are in an episode. The others wait for one to begin.
	live []bool

	// message is the memory of the client's message. It has a value and an order for each environment; the order says
	// what the value means.
	message []byte
	values  []int64
	orders  []uint8

	// frame is the memory of the reply. The slices are its parts, in this order, with one row for each environment.
	frame []byte
	// known has the facts of the present episodes. measured has the metrics of the episodes that are done, and NaN for
	// others.
	known, measured       []float64
	observations, rewards []float32
	// masks marks the allowed actions. done marks the episodes that this message has completed, and truncated those
	// that it has ended with an action that is not allowed.
	masks, done, truncated []bool
	answers                []byte // the lines of the answer file for the episodes that are done
}

// Orders to an environment.
const (
	orderStep         = iota // Carry out the action of the value, if there is an episode.
	orderStepAndBegin        // The same; if that ends the episode, begin the next one.
	orderKeep                // Change nothing.
	orderBegin               // Begin an episode.
	orderSeed                // Seed the stream with the value, go back to the dataset's first instance, and begin.
)

// Limits of a vector: its environments, and the values of all their observations and masks.
const (
	maxEnvironments = 1 << 16
	maxValues       = 1 << 28
)

func newVector(o *request) (*vector, error) {
	if o.Envs < 1 || o.Envs > maxEnvironments {
		return nil, fmt.Errorf("a vector of %d environments; there are from 1 to %d", o.Envs, maxEnvironments)
	}
	v := &vector{request: o, live: make([]bool, o.Envs)}
	if err := v.open(); err != nil {
		return nil, fmt.Errorf("environment %s: %w", o.Environment, err)
	}
	v.allocate()
	return v, nil
}

// open makes the environments and their streams.
func (v *vector) open() (err error) {
	if v.kind, err = openKind(v.Environment, v.Options); err != nil {
		return err
	}
	for i := range v.Envs {
		e, err := v.newEnvironment(i, v.Envs)
		if err != nil {
			return err
		}
		v.shape = e.Shape()
		if values := (v.shape.Observation + v.shape.Actions) * v.Envs; values > maxValues {
			return fmt.Errorf("%d environments of this size have %d values; there may be %d", v.Envs, values, maxValues)
		}
		v.envs = append(v.envs, e)
		v.streams = append(v.streams, newStream(v.Seed+uint64(i)))
	}
	return nil
}

func newStream(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// allocate makes the message and the frame, which begins with two lengths of 4 bytes. The order of the parts aligns
// them.
func (v *vector) allocate() {
	n, observations, actions := v.Envs, v.Envs*v.shape.Observation, v.Envs*v.shape.Actions
	v.message = make([]byte, (8+1)*n) // a value and an order for each environment
	v.values, v.orders = carve[int64](v.message, n)
	// float64: known and measured; float32: observations and rewards; bool: masks, done and truncated
	v.frame = make([]byte, 8+8*n*(len(v.facts)+len(v.metrics))+4*(observations+n)+actions+2*n)
	rest := v.frame[8:]
	v.known, rest = carve[float64](rest, n*len(v.facts))
	v.measured, rest = carve[float64](rest, n*len(v.metrics))
	v.observations, rest = carve[float32](rest, observations)
	v.rewards, rest = carve[float32](rest, n)
	v.masks, rest = carve[bool](rest, actions)
	v.done, rest = carve[bool](rest, n)
	v.truncated, _ = carve[bool](rest, n)
}

// apply carries out a message. An order that is refused leaves all environments as they were.
func (v *vector) apply() error {
	v.answers = v.answers[:0]
	for i := range v.envs {
		if err := v.admit(i); err != nil {
			return err
		}
	}
	for i, order := range v.orders {
		if order == orderSeed {
			v.streams[i] = newStream(uint64(v.values[i]))
			v.envs[i].rewind()
		}
		if err := v.step(i); err != nil {
			return err
		}
		if order >= orderBegin || order == orderStepAndBegin && (v.done[i] || v.truncated[i]) {
			v.live[i] = false // It stays so if the episode cannot begin.
			if err := v.envs[i].begin(v.streams[i], v.known[i*len(v.facts):][:len(v.facts)]); err != nil {
				return err
			}
			v.live[i] = true
			v.envs[i].Observe(v.observation(i), v.mask(i))
		}
	}
	return nil
}

// acts reports whether environment i carries out an action of the message.
func (v *vector) acts(i int) bool { return v.orders[i] <= orderStepAndBegin && v.live[i] }

// admit checks an order. An action that does not exist is always an error. An action that is not allowed is replaced,
// truncates the episode or is an error, as the client has asked with invalid.
func (v *vector) admit(i int) error {
	v.truncated[i] = false
	action, mask := v.values[i], v.mask(i)
	exists := action >= 0 && action < int64(len(mask))
	switch {
	case v.orders[i] > orderSeed:
		return fmt.Errorf("environment %d: there is no order %d; an order is from 0 to %d", i, v.orders[i], orderSeed)
	case !v.acts(i) || exists && mask[action]:
		// nothing to do, or an allowed action
	case exists && v.Invalid == "nearest":
		v.values[i] = replacement(mask, action)
	case exists && v.Invalid == "end":
		v.truncated[i] = true
	default:
		return fmt.Errorf("environment %d does not allow action %d; choose one of %s", i, action, listActions(mask))
	}
	return nil
}

// replacement returns the allowed action with the nearest number, the lower one of two.
func replacement(mask []bool, action int64) int64 {
	for away := int64(0); ; away++ {
		for _, a := range []int64{action - away, action + away} {
			if a >= 0 && a < int64(len(mask)) && mask[a] {
				return a
			}
		}
	}
}

// listActions lists the actions that a mask allows, the first ones if there are many.
func listActions(mask []bool) string {
	var out []int
	for a, ok := range mask {
		if ok {
			out = append(out, a)
		}
	}
	const most = 20
	if len(out) > most {
		return fmt.Sprintf("%v and %d more", out[:most], len(out)-most)
	}
	return fmt.Sprint(out)
}

// step carries out the action of an environment, if the message has one, and writes its results.
func (v *vector) step(i int) (err error) {
	metrics := v.measured[i*len(v.metrics):][:len(v.metrics)]
	for k := range metrics {
		metrics[k] = math.NaN()
	}
	v.rewards[i], v.done[i] = 0, false
	if !v.acts(i) {
		return nil
	}
	if v.truncated[i] {
		v.live[i] = false
		return nil
	}
	v.rewards[i], v.done[i] = v.envs[i].Step(int(v.values[i]))
	if !v.done[i] {
		v.envs[i].Observe(v.observation(i), v.mask(i))
		return nil
	}
	v.live[i] = false
	clear(v.observation(i))
	clear(v.mask(i))
	v.answers, err = v.envs[i].measure(metrics, v.answers)
	return err
}

func (v *vector) observation(i int) []float32 {
	return v.observations[i*v.shape.Observation:][:v.shape.Observation]
}

func (v *vector) mask(i int) []bool { return v.masks[i*v.shape.Actions:][:v.shape.Actions] }
