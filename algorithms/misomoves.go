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
		if q.choose(g, k) {
			q.rearrange(g, q.pause)
			return true
		}
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

// rearrange stops the tasks of a GPU and runs the chosen ones: after a pause if there were any to stop.
func (q *misoMoves) rearrange(g int, pause float64) {
	runs := q.on(g)
	for _, r := range runs {
		q.stop(r)
	}
	q.partition(g, q.choice.instances)
	if len(runs) > 0 {
		q.ready[g] = max(q.ready[g], q.now+pause)
	}
	for i, k := range q.choice.tasks {
		q.begin(g, k, q.choice.instances[i], q.ready[g])
	}
}
