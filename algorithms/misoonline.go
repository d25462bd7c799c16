package algorithms

import (
	"cmp"
	"context"
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

var _ = algo.Register(algo.Spec{
	Name: "miso-online", Version: 1, Track: algo.TrackStream, Cite: "Li et al., MISO, SoCC 2022",
	Summary: "on every arrival and completion the free slices become the instances that run the next tasks " +
		"fastest in sum",
	New: func(algo.Args) (algo.Stream, error) { return misoOnline{}, nil },
})

// misoOnline is MISO as published, for streams. Tasks wait in order of arrival. On every arrival and completion, each
// GPU is partitioned for the tasks that it runs and the next ones: of the partitions of the GPU, and of the orders of
// these tasks, it takes those with the largest sum of speeds, t(whole GPU)/t(instance). The GPU that runs the fewest
// tasks decides first. A task that fits no free instance waits, and tasks behind it may pass.
//
// Three things differ from the paper. MISO predicts speeds from a run of the tasks under MPS; here it knows the true
// durations. MISO checkpoints running tasks and moves them to new instances; here they keep their instances until they
// end, and only free slices are partitioned. And completions are those of the tasks' durations alone, as in miso; the
// common clock then adds the reconfigurations.
//
// The tasks of a batch arrive when the last task of the batch before has begun, or at their
// release times if these are later.
type misoOnline struct{}

func (misoOnline) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	q := newMISOQueue(p)
	from := 0
	for _, n := range lengths {
		q.waiting = withBatch(p, q.waiting, from, n)
		from += n
		for q.start(); len(q.waiting) > 0; q.start() {
			if err := ctx.Err(); err != nil {
				return schedule.Schedule{}, err
			}
			q.wait()
		}
	}
	return timedSchedule(p, q.plan), ctx.Err()
}

// withBatch adds n tasks of a stream to those that wait, in order of their release.
func withBatch(p algo.Problem, waiting []int32, from, n int) []int32 {
	for i := range n {
		waiting = append(waiting, int32(from+i))
	}
	slices.SortStableFunc(waiting, func(a, b int32) int {
		return cmp.Compare(p.ReleaseOf(int(a)), p.ReleaseOf(int(b)))
	})
	return waiting
}

// A misoQueue is the state of misoOnline.
type misoQueue struct {
	p       algo.Problem
	choice  misoChoice
	waiting []int32
	now     float64 // seconds
	// running are, by GPU, the instances whose tasks have not ended.
	running [][]schedule.Existing
	plan    []use
}

func newMISOQueue(p algo.Problem) *misoQueue {
	q := &misoQueue{p: p, running: make([][]schedule.Existing, p.GPUs())}
	for _, e := range p.Start {
		q.running[e.GPU] = append(q.running[e.GPU], e)
	}
	largest := slices.Clone(p.GPU.Sizes())
	slices.Reverse(largest)
	q.choice = misoChoice{p: p, reference: secondsOnFirst(p, largest), permute: true}
	return q
}

// wait goes on to the next completion or arrival.
func (q *misoQueue) wait() {
	next := math.Inf(1)
	for _, running := range q.running {
		for _, e := range running {
			next = min(next, float64(e.BusyUntil))
		}
	}
	for _, k := range q.waiting {
		if at := float64(q.p.ReleaseOf(int(k))); at > q.now {
			next = min(next, at)
		}
	}
	q.now = next
}

// start lets every GPU begin the tasks that it can.
func (q *misoQueue) start() {
	order := make([]int, len(q.running))
	for g := range order {
		order[g] = g
		q.running[g] = slices.DeleteFunc(q.running[g], func(e schedule.Existing) bool {
			return float64(e.BusyUntil) <= q.now
		})
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(q.running[a]) - len(q.running[b]) })
	for _, g := range order {
		arrived := slices.IndexFunc(q.waiting, func(k int32) bool { return float64(q.p.ReleaseOf(int(k))) > q.now })
		if arrived < 0 {
			arrived = len(q.waiting)
		}
		q.choice.parts = q.freeParts(g)
		if arrived > 0 && len(q.choice.parts) > 0 {
			q.choice.choose(q.waiting[:arrived])
			q.begin(g)
		}
	}
}

// freeParts returns, of each partition, the instances that overlap no running one of a GPU, the largest first.
func (q *misoQueue) freeParts(gpu int) []mig.Partition {
	var out []mig.Partition
	for _, part := range q.p.GPU.Partitions() {
		var free mig.Partition
		for _, in := range part {
			if !slices.ContainsFunc(q.running[gpu], func(e schedule.Existing) bool { return e.Instance.Overlaps(in) }) {
				free = append(free, in)
			}
		}
		if len(free) > 0 {
			slices.SortStableFunc(free, func(a, b mig.Instance) int { return cmp.Compare(b.Size(), a.Size()) })
			out = append(out, free)
		}
	}
	return out
}

// begin runs the chosen tasks, which are the first that wait.
func (q *misoQueue) begin(gpu int) {
	for i, k := range q.choice.tasks {
		in := q.choice.instances[i]
		t := float64(q.p.Tasks[k].On(in.Size()))
		q.running[gpu] = append(q.running[gpu],
			schedule.Existing{GPU: gpu, Instance: in, BusyUntil: mig.Seconds(q.now + t)})
		q.plan = append(q.plan, use{gpu: gpu, in: in, tasks: []timedTask{{t, k}}})
	}
	q.waiting = q.waiting[len(q.choice.tasks):]
}
