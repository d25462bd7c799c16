package algorithms

import (
	"context"
	"math/rand/v2"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/schedule"
	"miglab/harness/spec"
	"miglab/harness/task"
)

var _ = algo.Register(algo.Spec{
	Name: "miso-stream", Version: 1, Cite: "Li et al., MISO, SoCC 2022",
	Summary: "a task goes to the GPU with the fewest; after a run under MPS, its tasks are stopped and move to the " +
		"partition with the largest sum of predicted speeds",
	Params: []algo.Param{
		{
			Name: "error", Default: "0.016", Type: spec.Number(0, 1),
			Doc: "mean error of the predictor, with a fifth of it as standard deviation",
		},
		{Name: "profile", Default: "30", Type: spec.Number(0, 1e6), Doc: "seconds that a run under MPS takes"},
		{Name: "seed", Default: "1", Type: spec.Seed, Doc: "of the random errors"},
	},
	New: algo.NewStream(func(a algo.Args) (algo.Stream, error) {
		return misoStream{
			name: "miso-stream", mean: a.Float("error"), profile: a.Float("profile"), seed: a.Uint("seed"),
		}, nil
	}),
})

// misoStream is MISO as published. A task that arrives goes to the GPU that runs the fewest tasks, among the GPUs for
// which some partition has an instance for each of their tasks and for the new task. GPUs that are being partitioned or
// profiled take no task. Tasks wait strictly in order of arrival. The GPU takes the partition with as many instances as
// tasks, and the order of the tasks, with the largest sum of speeds t(whole GPU)/t(instance). When a task ends and no
// task waits, the GPU is partitioned again.
//
// Whenever a GPU with tasks is partitioned, all of them stand still for [schedule.Problem.Restart]: checkpoint,
// partition, restart. If a new task joins others, all are profiled first. A predicted duration is off by a normally
// distributed share of the task's longest duration on its three largest sizes, up or down, as in the released code.
//
// Three things are simpler than in the paper:
//
//   - Tasks do no work while they run under MPS, because the track has no instances that tasks share. This makes MISO
//     slower than it is; with profile=0 it is faster than it is.
//   - A new task waits as long as the stopped tasks.
//   - Of partitions with the same sum it takes the first, not the one with the fewest moves: all tasks restart anyway.
//
// The released scripts minimise the mean slowdown, not the paper's sum of speeds. If tasks cannot be stopped, only a
// GPU without tasks takes a task.
type misoStream struct {
	name    string  // the name of the algorithm in errors
	mean    float64 // the mean error of the predictor
	profile float64 // the seconds under MPS
	seed    uint64
}

func (m misoStream) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	k := misfit(p, p.GPU.Partitions()[0])
	if k >= 0 {
		return schedule.Schedule{}, &algo.InfeasibleError{
			Algorithm: m.name, Task: p.Tasks[k].Name, Reason: "does not fit the whole GPU",
		}
	}
	q := &misoMoves{preemptor: newPreemptor(p), pause: m.profile + float64(p.Restart)}
	predicted := p
	predicted.Tasks = m.predict(p.Tasks, p.GPU.Sizes())
	whole := []mig.Slices{p.GPU.Partitions()[0][0].Size()}
	q.choice = misoChoice{p: predicted, reference: secondsOnFirst(predicted, whole), permute: true, full: true}
	return q.run(ctx, lengths, q.decide)
}

// predict returns the tasks with predicted durations.
func (m misoStream) predict(tasks task.Batch, sizes []mig.Slices) task.Batch {
	rng := rand.New(rand.NewPCG(m.seed, 0))
	out := slices.Clone(tasks)
	for i, t := range tasks {
		fits := slices.DeleteFunc(slices.Clone(sizes), func(s mig.Slices) bool { return !t.Fits(s) })
		var longest mig.Seconds
		for _, s := range fits[max(0, len(fits)-3):] {
			longest = max(longest, t.On(s))
		}
		for _, s := range fits {
			off := longest * mig.Seconds(m.mean+float64(m.mean/5*portable.Normal(rng)))
			if rng.IntN(2) == 0 {
				off = -off
			}
			out[i].Set(s, max(task.MinSeconds, t.On(s)+off))
		}
	}
	return out
}

// A misoMoves runs misoStream: it stops tasks and moves them to other instances.
type misoMoves struct {
	*preemptor
	choice misoChoice
	pause  float64 // the time for which a GPU stops when a task joins others, in seconds
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

// choose finds instances for the tasks of a GPU and new tasks, and reports whether all of them get one. It returns
// false while the GPU is not ready, and for several tasks if tasks cannot be stopped.
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
