package algorithms

import (
	"cmp"
	"context"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

var _ = algo.Register(algo.Spec{
	Name: "miso-online", Version: 2, Cite: "Li et al., MISO, SoCC 2022",
	Summary: "on every arrival and completion the free slices become the instances that run the next tasks " +
		"fastest in sum",
	New: algo.NewStream(func(algo.Args) (algo.Stream, error) { return misoOnline{}, nil }),
})

// misoOnline is MISO for tasks that cannot be stopped. Tasks wait in order of arrival. On every arrival and completion,
// each GPU is partitioned for the tasks that it runs and the next tasks. It takes the partition, and the order of the
// next tasks, with the largest sum of speeds t(whole GPU)/t(instance). The GPU that runs the fewest tasks decides
// first. A task that fits no free instance waits, and tasks behind it may pass.
//
// MISO predicts speeds from a run of the tasks under MPS; misoOnline knows the true durations. MISO checkpoints running
// tasks and moves them to new instances, as miso-stream does. Here they keep their instances until they end, and only
// free slices are partitioned.
type misoOnline struct{}

func (misoOnline) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	q := &misoQueue{preemptor: newPreemptor(p)}
	largest := slices.Clone(p.GPU.Sizes())
	slices.Reverse(largest)
	q.choice = misoChoice{p: p, reference: secondsOnFirst(p, largest), permute: true}
	return q.run(ctx, lengths, q.start)
}

// A misoQueue is the state of misoOnline.
type misoQueue struct {
	*preemptor
	choice misoChoice
}

// start lets every GPU begin the tasks that it can.
func (q *misoQueue) start() {
	for _, g := range q.fewestFirst() {
		q.choice.parts = q.freeParts(g)
		n := q.arrivals()
		if n > 0 && q.ready[g] <= q.now && len(q.choice.parts) > 0 {
			q.choice.choose(q.waiting[:n])
			q.add(g)
		}
	}
}

// freeParts returns, for each partition, its instances that overlap no run of a GPU, the largest first.
func (q *misoQueue) freeParts(g int) []mig.Partition {
	var out []mig.Partition
	runs := q.runsOn(g)
	for _, part := range q.p.GPU.Partitions() {
		free := slices.DeleteFunc(slices.Clone(part), func(in mig.Instance) bool {
			return slices.ContainsFunc(runs, func(r taskRun) bool { return r.on.Overlaps(in) })
		})
		if len(free) > 0 {
			slices.SortStableFunc(free, func(a, b mig.Instance) int { return cmp.Compare(b.Size(), a.Size()) })
			out = append(out, free)
		}
	}
	return out
}

// add runs the chosen tasks, which come first in waiting. The GPU keeps the instances that theirs do not overlap.
func (q *misoQueue) add(g int) {
	chosen := q.choice.instances[:len(q.choice.tasks)]
	kept := slices.DeleteFunc(slices.Clone(q.exist[g]), func(in mig.Instance) bool {
		return slices.ContainsFunc(chosen, in.Overlaps)
	})
	q.partition(g, append(kept, chosen...))
	for i, k := range q.choice.tasks {
		q.begin(g, k, chosen[i], q.ready[g])
	}
	q.waiting = q.waiting[len(chosen):]
}
