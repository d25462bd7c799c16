package dqn

import "miglab/algorithms/rl/env"

// A replay holds the last transitions of all environments, step by step in a ring. The
// observation after a step is the one before the next step, so that each is stored once.
type replay struct {
	shape        env.Shape
	envs, rows   int // rows hold one step each; one is being filled
	head, filled int // head is the row being filled; filled counts whole ones

	observations []float32
	masks        []bool
	actions      []int32
	rewards      []float32
	dones        []bool

	// best and bestMasks are about the candidate with the highest value at each step, where
	// observations and masks are about the chosen one. They are the same memory unless the
	// environments are of [env.Chooser].
	best      []float32
	bestMasks []bool
}

func newReplay(shape env.Shape, envs, transitions int, choosers bool) *replay {
	r := &replay{shape: shape, envs: envs, rows: transitions/envs + 1}
	n := r.rows * envs
	r.observations, r.masks = make([]float32, n*shape.Observation), make([]bool, n*shape.Actions)
	r.actions, r.rewards, r.dones = make([]int32, n), make([]float32, n), make([]bool, n)
	r.best, r.bestMasks = r.observations, r.masks
	if choosers {
		r.best, r.bestMasks = make([]float32, len(r.best)), make([]bool, len(r.bestMasks))
	}
	return r
}

func (r *replay) clear() { r.head, r.filled = 0, 0 }

// advance moves to the next row. Once all rows are filled, it overwrites the oldest.
func (r *replay) advance() {
	r.head = r.after(r.head)
	r.filled = min(r.filled+1, r.rows-1)
}

func (r *replay) after(row int) int { return (row + 1) % r.rows }

// len is the number of whole transitions.
func (r *replay) len() int { return r.filled * r.envs }

// slot returns where the i-th oldest transition is.
func (r *replay) slot(i int) int {
	return (r.head+r.rows-r.filled+i/r.envs)%r.rows*r.envs + i%r.envs
}

func (r *replay) next(slot int) int { return (slot + r.envs) % (r.rows * r.envs) }

// observation, mask, bestObservation and bestMask are those of a slot.

func (r *replay) observation(slot int) []float32 {
	return slotOf(r.observations, slot, r.shape.Observation)
}

func (r *replay) mask(slot int) []bool { return slotOf(r.masks, slot, r.shape.Actions) }

func (r *replay) bestObservation(slot int) []float32 {
	return slotOf(r.best, slot, r.shape.Observation)
}

func (r *replay) bestMask(slot int) []bool { return slotOf(r.bestMasks, slot, r.shape.Actions) }

// slotOf returns the i-th part of a slice in parts of n elements.
func slotOf[T any](all []T, i, n int) []T { return all[i*n : (i+1)*n] }
