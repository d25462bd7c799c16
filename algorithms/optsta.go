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
		return optSta{"optsta", func(g *mig.GPU) ([]mig.Partition, error) {
			if a["p"] == bestPartition {
				return g.Partitions(), nil
			}
			part, err := g.ParsePartition(a["p"])
			return []mig.Partition{part}, err
		}}, nil
	}),
})

// bestPartition is the value of the parameter p with which OptSta chooses the partition.
const bestPartition = "best"

// optSta is OptSta. It tries the whole stream on each partition and keeps the best, as the paper does offline. In
// exp_static.py of MISO's authors, one partition is given: 3+2+2. NoPart has the whole GPU as its only partition.
//
// A task that arrives takes the largest idle instance that it fits. If no idle instance fits, the task waits; tasks
// behind it may pass. Then each GPU moves the task on its smallest instance to its largest idle instance if that is
// larger, the next smallest to the next largest, and so on. A task that moves stands still for
// [schedule.Problem.Restart]. Tasks that cannot be stopped do not move.
type optSta struct {
	name  string
	parts func(*mig.GPU) ([]mig.Partition, error)
}

// CheckGPU refuses a model without the partition.
func (s optSta) CheckGPU(g *mig.GPU) error {
	_, err := s.parts(g)
	return err
}

func (s optSta) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	parts, err := s.parts(p.GPU)
	if err != nil {
		return schedule.Schedule{}, err
	}
	var best schedule.Schedule
	var infeasible error
	least := math.Inf(1)
	for _, part := range parts {
		k := misfit(p, part)
		if k >= 0 {
			infeasible = cmp.Or(infeasible, error(&algo.InfeasibleError{
				Algorithm: s.name, Task: p.Tasks[k].Name, Reason: "fits no instance of " + part.String(),
			}))
			continue
		}
		q := newPreemptor(p)
		for g := range q.exist {
			q.partition(g, part)
		}
		out, err := q.run(ctx, lengths, q.fill)
		if err != nil {
			return out, err
		}
		if q.ends < least {
			best, least = out, q.ends
		}
	}
	if math.IsInf(least, 1) {
		return best, infeasible
	}
	return best, nil
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
		return slices.ContainsFunc(runs, func(r taskRun) bool { return r.on == in })
	})
	slices.SortStableFunc(idle, func(a, b mig.Instance) int { return cmp.Compare(b.Size(), a.Size()) })
	return idle
}

// moveUp moves tasks of a GPU to larger idle instances. Tasks that still restart stay.
func (q *preemptor) moveUp(g int) {
	runs := slices.DeleteFunc(q.runsOn(g), func(r taskRun) bool { return r.from > q.now })
	slices.SortStableFunc(runs, func(a, b taskRun) int { return cmp.Compare(a.on.Size(), b.on.Size()) })
	for i, in := range q.idle(g) {
		if i < len(runs) && in.Size() > runs[i].on.Size() && q.p.Tasks[runs[i].task].Fits(in.Size()) {
			q.stop(runs[i])
			q.begin(g, runs[i].task, in, q.now+float64(q.p.Restart))
		}
	}
}
