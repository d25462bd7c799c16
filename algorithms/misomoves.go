package algorithms

import (
	"slices"

	"miglab/harness/mig"
)

// misoMoves is the state of misoStream.
type misoMoves struct {
	*preemptor
	choice misoChoice
	// pause is the time for which a GPU stops when a task joins others, in seconds.
	pause float64
}

// decide admits tasks in order of arrival, and partitions GPUs with idle instances again if no task waits.
func (q *misoMoves) decide() {
	for q.arrivals() > 0 && q.admit(q.waiting[0]) {
		q.waiting = q.waiting[1:]
	}
	for g := range q.exist {
		n := len(q.runsOn(g))
		if q.arrivals() == 0 && 0 < n && n < len(q.exist[g]) && q.choose(g) {
			q.rearrange(g, float64(q.p.Restart))
		}
	}
}

// admit gives a task to a GPU, and reports whether a GPU could take it.
func (q *misoMoves) admit(k int32) bool {
	for _, g := range q.fewestFirst() {
		if q.choose(g, k) {
			q.rearrange(g, q.pause)
			return true
		}
	}
	return false
}

// choose finds instances for the tasks of a GPU and new tasks, and reports whether all of them get one. It returns false
// while the GPU is not ready, and for several tasks if tasks cannot be stopped.
func (q *misoMoves) choose(g int, tasks ...int32) bool {
	for _, r := range q.runsOn(g) {
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

// rearrange stops the tasks of a GPU and runs the chosen tasks, after a pause if it stopped any.
func (q *misoMoves) rearrange(g int, pause float64) {
	runs := q.runsOn(g)
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
