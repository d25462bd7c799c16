package algorithms

import (
	"cmp"
	"context"
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

var _ = algo.Register(algo.Spec{
	Name: "optsta", Version: 1, Cite: "Li et al., MISO, SoCC 2022: OptSta",
	Summary: "the partition with the least mean flow time for the whole stream, the same on all GPUs and never " +
		"changed; a task moves up into a larger idle instance",
	Params: []algo.Param{partitionParam(bestPartition, "best: the one with the least mean flow time")},
	New: algo.NewStream(func(a algo.Args) (algo.Stream, error) {
		if a["p"] == bestPartition {
			return static{"optsta", (*mig.GPU).Partitions}, nil
		}
		return fixedStatic{a["p"]}, nil
	}),
})

// bestPartition is the value of the parameter p with which OptSta chooses the partition.
const bestPartition = "best"

// static is OptSta. It tries the whole stream on each partition and keeps the best, as the paper does offline.
//
// A task that arrives takes the largest idle instance that it fits. If no idle instance fits, the task waits; tasks
// behind it may pass. Then each GPU moves the task on its smallest instance to its largest idle instance if that is
// larger, the next smallest to the next largest, and so on. A task that moves stands still for
// [schedule.Problem.Restart]. Tasks that cannot be stopped do not move.
type static struct {
	name  string
	parts func(*mig.GPU) []mig.Partition
}

func (s static) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (best schedule.Schedule, err error) {
	least := math.Inf(1)
	for _, part := range s.parts(p.GPU) {
		k := misfit(p, part)
		if k >= 0 {
			err = cmp.Or(err, error(&algo.InfeasibleError{
				Algorithm: s.name, Task: p.Tasks[k].Name, Reason: "fits no instance of " + part.String(),
			}))
			continue
		}
		q := newPreemptor(p)
		for g := range q.exist {
			q.partition(g, part)
		}
		out, failed := q.run(ctx, lengths, q.fill)
		if failed != nil {
			return out, failed
		}
		if q.ends < least {
			best, least = out, q.ends
		}
	}
	if math.IsInf(least, 1) {
		return best, err
	}
	return best, nil
}

// fixedStatic is OptSta with a partition that is given, as in exp_static.py of MISO's authors, which has 3+2+2.
type fixedStatic struct{ partition string }

func (f fixedStatic) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	part, err := p.GPU.ParsePartition(f.partition)
	if err != nil {
		return schedule.Schedule{}, err
	}
	only := func(*mig.GPU) []mig.Partition { return []mig.Partition{part} }
	return static{"optsta", only}.ScheduleStream(ctx, p, lengths)
}

// CheckGPU refuses a model without the partition.
func (f fixedStatic) CheckGPU(g *mig.GPU) error {
	_, err := g.ParsePartition(f.partition)
	return err
}

// misfit returns the first task that fits no instance of a partition, or -1.
func misfit(p algo.Problem, part mig.Partition) int {
	return slices.IndexFunc(p.Tasks, func(t task.Task) bool {
		return !slices.ContainsFunc(part, func(in mig.Instance) bool { return t.Fits(in.Size()) })
	})
}

// fill runs the tasks that have arrived on idle instances, and moves running tasks up.
func (q *preemptor) fill() {
	for _, k := range slices.Clone(q.waiting[:q.arrivals()]) {
		at, best := -1, mig.Instance{}
		for g := range q.exist {
			for _, in := range q.idle(g) {
				if q.p.Tasks[k].Fits(in.Size()) && (at < 0 || in.Size() > best.Size()) {
					at, best = g, in
				}
			}
		}
		if at >= 0 {
			q.begin(at, k, best, q.now)
			q.waiting = slices.DeleteFunc(q.waiting, func(o int32) bool { return o == k })
		}
	}
	for g := 0; g < len(q.exist) && q.p.Restart > 0; g++ {
		q.moveUp(g)
	}
}

// idle returns the instances of a GPU without a task, the largest first.
func (q *preemptor) idle(g int) []mig.Instance {
	if q.ready[g] > q.now {
		return nil
	}
	runs := q.runsOn(g)
	idle := slices.DeleteFunc(slices.Clone(q.exist[g]), func(in mig.Instance) bool {
		return slices.ContainsFunc(runs, func(r taskRun) bool { return r.in == in })
	})
	slices.SortStableFunc(idle, func(a, b mig.Instance) int { return cmp.Compare(b.Size(), a.Size()) })
	return idle
}

// moveUp moves tasks of a GPU to larger idle instances. Tasks that still restart stay.
func (q *preemptor) moveUp(g int) {
	runs := slices.DeleteFunc(q.runsOn(g), func(r taskRun) bool { return r.from > q.now })
	slices.SortStableFunc(runs, func(a, b taskRun) int { return cmp.Compare(a.in.Size(), b.in.Size()) })
	for i, in := range q.idle(g) {
		if i < len(runs) && in.Size() > runs[i].in.Size() && q.p.Tasks[runs[i].task].Fits(in.Size()) {
			q.stop(runs[i])
			q.begin(g, runs[i].task, in, q.now+float64(q.p.Restart))
		}
	}
}
