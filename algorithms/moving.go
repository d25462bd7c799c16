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

// A moving is the state of an algorithm that can stop tasks and move them to other instances.
//
// Under every model, the operations of a GPU run one after the other. Tasks arrive at their release times. Without
// these, a batch arrives when the last task of the batch before has begun.
type moving struct {
	p   algo.Problem
	now float64 // seconds
	// left is, by task, the share of its work that has not been done.
	left []float64
	// waiting are the tasks that have not begun, in order of arrival.
	waiting []int32
	runs    []movingRun
	// exist are the instances of each GPU. Nothing is decided on it before ready, in seconds.
	exist []mig.Partition
	ready []float64
	out   schedule.Schedule
	// ends is the sum of the instants at which tasks have ended.
	ends float64
}

// A movingRun is a task on an instance, from one instant to another unless it is stopped, in seconds.
type movingRun struct {
	gpu       int
	task      int32
	in        mig.Instance
	from, end float64
}

func newMoving(p algo.Problem) *moving {
	q := &moving{
		p: p, left: slices.Repeat([]float64{1}, len(p.Tasks)), exist: make([]mig.Partition, p.GPUs()),
		ready: make([]float64, p.GPUs()), out: schedule.Schedule{GPU: p.GPU, Model: p.Model},
	}
	for _, e := range p.Start {
		q.exist[e.GPU] = append(q.exist[e.GPU], e.Instance)
		q.ready[e.GPU] = max(q.ready[e.GPU], float64(e.BusyUntil))
	}
	return q
}

// run calls decide at every arrival, and whenever a task or a reconfiguration ends, until all tasks have ended.
func (q *moving) run(ctx context.Context, lengths []int, decide func()) (schedule.Schedule, error) {
	if q.p.Release != nil {
		lengths = []int{len(q.p.Tasks)}
	}
	from := 0
	for _, n := range lengths {
		q.waiting = withBatch(q.p, q.waiting, from, n)
		from += n
		for decide(); len(q.waiting) > 0 || from == len(q.p.Tasks) && len(q.runs) > 0; decide() {
			if ctx.Err() != nil {
				return schedule.Schedule{}, ctx.Err()
			}
			q.wait()
		}
	}
	return q.out, nil
}

// wait goes on to the next event. Tasks that have ended then run no longer.
func (q *moving) wait() {
	events := slices.Clone(q.ready)
	for _, r := range q.runs {
		events = append(events, r.from, r.end)
	}
	for _, k := range q.waiting {
		events = append(events, float64(q.p.ReleaseOf(int(k))))
	}
	next := math.Inf(1)
	for _, at := range events {
		if at > q.now {
			next = min(next, at)
		}
	}
	q.now = next
	for _, r := range slices.Clone(q.runs) {
		if r.end <= q.now {
			q.stop(r)
			q.ends += r.end
		}
	}
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

// arrived returns how many of the waiting tasks have arrived; they come first.
func (q *moving) arrived() int {
	n := slices.IndexFunc(q.waiting, func(k int32) bool { return float64(q.p.ReleaseOf(int(k))) > q.now })
	if n < 0 {
		n = len(q.waiting)
	}
	return n
}

// on returns the runs on a GPU.
func (q *moving) on(g int) []movingRun {
	return slices.DeleteFunc(slices.Clone(q.runs), func(r movingRun) bool { return r.gpu != g })
}

// fewestFirst returns the GPUs, those with the fewest runs first.
func (q *moving) fewestFirst() []int {
	order := numbered[int](len(q.exist))
	slices.SortStableFunc(order, func(a, b int) int { return len(q.on(a)) - len(q.on(b)) })
	return order
}

// begin runs what is left of a task on an instance.
func (q *moving) begin(g int, k int32, in mig.Instance, from float64) {
	end := from + float64(q.left[k]*float64(q.p.Tasks[k].On(in.Size())))
	q.runs = append(q.runs, movingRun{g, k, in, from, end})
}

// stop ends a run now, or when it is done.
func (q *moving) stop(r movingRun) {
	end := min(r.end, q.now)
	q.left[r.task] -= (end - r.from) / float64(q.p.Tasks[r.task].On(r.in.Size()))
	if end > r.from {
		q.out.Placements = append(q.out.Placements, schedule.Placement{
			Task: int(r.task), GPU: r.gpu, Instance: r.in, Start: mig.Seconds(r.from), End: mig.Seconds(end),
		})
	}
	q.runs = slices.DeleteFunc(q.runs, func(o movingRun) bool { return o.task == r.task })
}

// partition makes some instances those of a GPU, as soon as it is ready. They include those of its runs.
func (q *moving) partition(g int, wanted mig.Partition) {
	q.ready[g] = max(q.ready[g], q.now)
	operate := func(op schedule.Op, in mig.Instance, seconds float64) {
		start := q.ready[g]
		q.ready[g] += seconds
		q.out.Operations = append(q.out.Operations, schedule.Operation{
			Op: op, GPU: g, Instance: in, Start: mig.Seconds(start), End: mig.Seconds(q.ready[g]),
		})
	}
	for _, in := range q.exist[g] {
		if _, destroy := operationSeconds(q.p.Model, in.Profile); !slices.Contains(wanted, in) {
			operate(schedule.Destroy, in, destroy)
		}
	}
	for _, in := range wanted {
		if create, _ := operationSeconds(q.p.Model, in.Profile); !slices.Contains(q.exist[g], in) {
			operate(schedule.Create, in, create)
		}
	}
	q.exist[g] = slices.Clone(wanted)
}
