package dqn

import "miglab/algorithms/rl/env"

// A replay holds the last transitions of all environments, step by step in a ring. The
// observation after a step is the one before the next step, so that each is stored once.
type replay struct {
	env.Rows         // of the chosen candidates
	envs, rows   int // a row of the ring holds one step of all environments
	head, filled int // head is the row that is being filled, filled the number of whole rows

	actions []int32
	rewards []float32
	dones   []bool

	// bestCandidate has the candidates with the highest value at each step. It has the same memory
	// as Rows unless the environments are of [env.Chooser].
	bestCandidate env.Rows
}

func newReplay(shape env.Shape, envs, transitions int, choosers bool) *replay {
	r := &replay{envs: envs, rows: transitions/envs + 1}
	n := r.rows * envs
	r.Resize(shape, n)
	r.actions, r.rewards, r.dones = make([]int32, n), make([]float32, n), make([]bool, n)
	r.bestCandidate = r.Rows
	if choosers {
		r.bestCandidate = env.Rows{}
		r.bestCandidate.Resize(shape, n)
	}
	return r
}

func (r *replay) clear() { r.head, r.filled = 0, 0 }

// advance moves to the next row. Once all rows are filled, it overwrites the oldest.
func (r *replay) advance() {
	r.head = r.after(r.head)
	r.filled = min(r.filled+1, r.rows-1)
}

// after returns the next row of the ring.
func (r *replay) after(row int) int { return (row + 1) % r.rows }

// size returns the number of whole transitions.
func (r *replay) size() int { return r.filled * r.envs }

// slot returns the index of the i-th oldest transition.
func (r *replay) slot(i int) int { return (r.head+r.rows-r.filled+i/r.envs)%r.rows*r.envs + i%r.envs }

// next returns the slot of the same environment's next step.
func (r *replay) next(slot int) int { return (slot + r.envs) % (r.rows * r.envs) }
