package algorithms

import (
	"slices"

	"miglab/harness/mig"
)

// misoMoves is the state of misoStream.
type misoMoves struct {
	*moving
	choice misoChoice
	// pause is how long a GPU with tasks that a new one joins does no work, in seconds.
	pause float64
}

func (q *misoMoves) decide() {
	for q.arrived() > 0 && q.admit(q.waiting[0]) {
		q.waiting = q.waiting[1:]
	}
	for g := range q.exist {
		if n := len(q.on(g)); q.arrived() == 0 && 0 < n && n < len(q.exist[g]) && q.choose(g) {
			q.rearrange(g, float64(q.p.Restart))
		}
	}
}

// admit gives a task to a GPU, and reports whether there is one for it.
func (q *misoMoves) admit(k int32) bool {
	for _, g := range q.fewestFirst() {
		if !q.choose(g, k) {
			continue
		}
		if len(q.on(g)) > 0 {
			q.rearrange(g, q.pause)
		} else {
			q.rearrange(g, 0)
		}
		return true
	}
	return false
}

// choose finds the instances for the tasks of a GPU and new ones, and reports whether there are any.
func (q *misoMoves) choose(g int, tasks ...int32) bool {
	for _, r := range q.on(g) {
		tasks = append(tasks, r.task)
	}
	if q.ready[g] > q.now || len(tasks) > 1 && q.p.Restart == 0 {
		return false
	}
	q.choice.parts = slices.DeleteFunc(slices.Clone(q.p.GPU.Partitions()), func(part mig.Partition) bool {
		return len(part) != len(tasks)
	})
	q.choice.choose(tasks)
	return len(q.choice.tasks) == len(tasks)
}

// rearrange stops all tasks of a GPU, and runs the chosen ones after a pause.
func (q *misoMoves) rearrange(g int, pause float64) {
	for _, r := range q.on(g) {
		q.stop(r)
	}
	q.partition(g, q.choice.instances)
	q.ready[g] = max(q.ready[g], q.now+pause)
	for i, k := range q.choice.tasks {
		q.begin(g, k, q.choice.instances[i], q.ready[g])
	}
}
