package algorithms

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// A preemptor is the state of an algorithm that decides at every event of a stream and may move tasks.
//
// The operations of a GPU run one after the other, even under a model with parallel reconfiguration. Tasks arrive at
// their release times. Without release times, a batch arrives when the last task of the batch before it has begun.
type preemptor struct {
	p       algo.Problem
	now     float64   // seconds
	left    []float64 // by task, the share of its work that remains
	waiting []int32   // the tasks that have not begun, in order of arrival
	runs    []taskRun
	// exist are the instances of each GPU. ready is, by GPU, the earliest instant of its next decision, in seconds.
	exist []mig.Partition
	ready []float64
	out   schedule.Schedule
	ends  float64 // the sum of the instants at which tasks have ended
}

// A taskRun is a run of a task on an instance. It lasts from from to end, in seconds, unless the task is stopped.
type taskRun struct {
	gpu       int
	task      int32
	on        mig.Instance
	from, end float64
}

func newPreemptor(p algo.Problem) *preemptor {
	q := &preemptor{
		p: p, left: slices.Repeat([]float64{1}, len(p.Tasks)), exist: make([]mig.Partition, p.GPUs()),
		ready: make([]float64, p.GPUs()), out: schedule.Schedule{GPU: p.GPU, Model: p.Model},
	}
	for _, e := range p.Start {
		q.exist[e.GPU] = append(q.exist[e.GPU], e.Instance)
		q.ready[e.GPU] = max(q.ready[e.GPU], float64(e.BusyUntil))
	}
	return q
}

// run calls decide at every arrival, and whenever a run begins or ends or a reconfiguration ends, until all tasks have
// ended. decide removes a task that it begins from waiting. It must begin every waiting task at some event: run panics
// if tasks wait and no event is left. The only error is that of ctx.
func (q *preemptor) run(ctx context.Context, lengths []int, decide func()) (schedule.Schedule, error) {
	if q.p.Release != nil {
		lengths = []int{len(q.p.Tasks)}
	}
	from := 0
	for _, n := range lengths {
		q.waiting = withBatch(q.p, q.waiting, from, n)
		from += n
		for {
			decide()
			if len(q.waiting) == 0 && (from < len(q.p.Tasks) || len(q.runs) == 0) {
				break
			}
			if err := ctx.Err(); err != nil {
				return schedule.Schedule{}, err
			}
			q.wait()
		}
	}
	return q.out, nil
}

// wait advances now to the next event and removes the runs that have ended.
func (q *preemptor) wait() {
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
	if math.IsInf(next, 1) {
		panic("algorithms: tasks wait and nothing happens any more; decide must begin them")
	}
	q.now = next
	for _, r := range slices.Clone(q.runs) {
		if r.end <= q.now {
			q.stop(r)
			q.ends += r.end
		}
	}
}

// withBatch adds n tasks of a stream to the waiting tasks, and sorts them by release.
func withBatch(p algo.Problem, waiting []int32, from, n int) []int32 {
	for i := range n {
		waiting = append(waiting, int32(from+i))
	}
	slices.SortStableFunc(waiting, func(a, b int32) int {
		return cmp.Compare(p.ReleaseOf(int(a)), p.ReleaseOf(int(b)))
	})
	return waiting
}

// arrivals returns how many of the waiting tasks have arrived; they come first.
func (q *preemptor) arrivals() int {
	return sort.Search(len(q.waiting), func(i int) bool { return float64(q.p.ReleaseOf(int(q.waiting[i]))) > q.now })
}

func (q *preemptor) runsOn(g int) []taskRun {
	return slices.DeleteFunc(slices.Clone(q.runs), func(r taskRun) bool { return r.gpu != g })
}

// fewestFirst returns the GPUs in ascending order of their number of runs.
func (q *preemptor) fewestFirst() []int {
	order := numbered[int](len(q.exist))
	slices.SortStableFunc(order, func(a, b int) int { return len(q.runsOn(a)) - len(q.runsOn(b)) })
	return order
}

// begin runs the remaining work of a task on an instance, from an instant on. The caller removes the task from waiting.
func (q *preemptor) begin(g int, k int32, on mig.Instance, from float64) {
	end := from + float64(q.left[k]*float64(q.p.Tasks[k].On(on.Size())))
	q.runs = append(q.runs, taskRun{gpu: g, task: k, on: on, from: from, end: end})
}

// stop ends a run now, or at its end if that was before. It records the run and reduces the rest of the task's work.
func (q *preemptor) stop(r taskRun) {
	end := min(r.end, q.now)
	q.left[r.task] -= (end - r.from) / float64(q.p.Tasks[r.task].On(r.on.Size()))
	if end > r.from {
		q.out.Placements = append(q.out.Placements, schedule.Placement{
			Task: int(r.task), GPU: r.gpu, Instance: r.on, Start: mig.Seconds(r.from), End: mig.Seconds(end),
		})
	}
	q.runs = slices.DeleteFunc(q.runs, func(o taskRun) bool { return o.task == r.task })
}

// partition destroys and creates instances of a GPU, as soon as it is ready, until it has the wanted ones. These must
// include the instances of its runs.
func (q *preemptor) partition(g int, wanted mig.Partition) {
	q.ready[g] = max(q.ready[g], q.now)
	operate := func(op schedule.Op, in mig.Instance, takes mig.Seconds) {
		start := q.ready[g]
		q.ready[g] += float64(q.p.Model.Cost(takes))
		q.out.Operations = append(q.out.Operations, schedule.Operation{
			Op: op, GPU: g, Instance: in, Start: mig.Seconds(start), End: mig.Seconds(q.ready[g]),
		})
	}
	for _, in := range q.exist[g] {
		if !slices.Contains(wanted, in) {
			operate(schedule.Destroy, in, in.Profile.Destroy)
		}
	}
	for _, in := range wanted {
		if !slices.Contains(q.exist[g], in) {
			operate(schedule.Create, in, in.Profile.Create)
		}
	}
	q.exist[g] = slices.Clone(wanted)
}
