package algorithms

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"miglab/algorithms/plan"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/spec"
	"miglab/harness/stats"
)

var _ = algo.Register(algo.Spec{
	Name: "flow-stream", Version: 2, Cite: "ours",
	Summary: "on every arrival and completion the waiting tasks are planned again for the least mean flow time; " +
		"what the plan begins at once is run",
	Params: []algo.Param{
		{
			Name: "steps", Default: "20", Type: spec.Whole(0, 1e6),
			Doc: "steps of the search for each waiting task, on every arrival and completion; a whole number",
		},
		{
			Name: "price", Default: "1", Type: spec.Number(0, 1e6),
			Doc: "what a second of a whole GPU costs, in seconds of each of the tasks that were in the system " +
				"on average so far",
		},
	},
	Budget: func(a algo.Args) string { return a["steps"] + " steps a task and event" },
	New: algo.NewStream(func(a algo.Args) (algo.Stream, error) {
		return flowStream{a.Int("steps"), a.Float("price")}, nil
	}),
})

// flowStream plans for the mean flow time, which is the time from a task's arrival to its end.
//
// A plan is a list of waiting tasks, each with a size. Each task in turn is placed where it ends first, after the tasks
// before it in the list, reconfigurations included. A list costs the sum of its tasks' ends and a price for their slice
// seconds. The price of a second of all GPUs is the mean number of tasks in the system so far, because about so many
// later tasks wait a second longer. Without the price, a task that is alone would take the whole GPU.
//
// A new task is inserted at the position and with the size that cost least. A search then moves tasks and changes sizes
// as long as the cost does not rise. Tasks that the plan begins at once are begun; the others are planned again at the
// next arrival or completion. The list has at most [flowWindow] tasks; tasks with fewer slice seconds enter it first.
//
// Tasks arrive at their release times. Without these, a batch arrives when the tasks of the batch before it have begun.
type flowStream struct {
	steps int
	price float64
}

// flowWindow is the largest number of tasks that flowStream plans.
const flowWindow = 32

// leastNow replaces a time of 0 in the mean number of tasks, which is then 0.
const leastNow = 1e-9

func (f flowStream) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	q := newFlowQueue(p, f)
	if p.Release != nil {
		lengths = []int{len(p.Tasks)}
	}
	from := 0
	for _, n := range lengths {
		q.coming = withBatch(p, q.coming, from, n)
		from += n
		for q.react(ctx); len(q.coming)+len(q.list) > 0; q.react(ctx) {
			if err := ctx.Err(); err != nil {
				return schedule.Schedule{}, err
			}
			q.wait()
		}
	}
	return q.timer.Schedule(), ctx.Err()
}

// A flowEntry is a waiting task and the size of the instance that it is to run on.
type flowEntry struct {
	task int32
	size int8 // index in GPU.Sizes
}

// A flowPlace is an instance that a task can run on.
type flowPlace struct {
	in              mig.Instance
	first, end      int // memory slices
	create, destroy float64
}

// flowSlices is the state of a GPU. Times are in seconds.
type flowSlices struct {
	// free is, by memory slice, when it is free, and place the index of the instance there, or -1.
	free    [mig.MaxMemorySlices]float64
	place   [mig.MaxMemorySlices]int16
	channel float64 // when the last operation ends
}

// A flowQueue is the state of flowStream.
type flowQueue struct {
	flowStream
	p     algo.Problem
	timer *plan.Timer
	rng   *rand.Rand
	now   float64 // seconds
	// coming are the tasks that have not arrived. list is the plan. waiting are the tasks behind it, by ascending work.
	coming, waiting []int32
	list            []flowEntry
	work            []float64 // by task, the least slice seconds over the sizes
	// places are the instances of a GPU, and bySize their indices by size.
	places      []flowPlace
	bySize      [][]int16
	taskSeconds float64 // the sum over the tasks of the time in the system so far
	// gpus mirrors the clocks. The others are scratch.
	gpus, scratch []flowSlices
	trial         []flowEntry
	spots         []flowSpot
}

// A flowSpot is the place and time of an entry. Its slices are free at start, and its instance exists at from.
type flowSpot struct {
	gpu              int
	place            int16
	start, from, end float64
}

func newFlowQueue(p algo.Problem, f flowStream) *flowQueue {
	q := &flowQueue{
		flowStream: f, p: p, timer: plan.NewTimer(p, plan.Start(p)),
		rng: rand.New(rand.NewPCG(uint64(p.GPUs()), 0)),
	}
	for _, size := range p.GPU.Sizes() {
		profile := p.GPU.Profile(size)
		var own []int16
		for _, start := range profile.Starts {
			in := mig.Instance{Profile: profile, Start: start}
			own = append(own, int16(len(q.places)))
			q.places = append(q.places, flowPlace{
				in: in, first: int(start), end: int(start + profile.Length),
				create: float64(p.Model.Cost(profile.Create)), destroy: float64(p.Model.Cost(profile.Destroy)),
			})
		}
		q.bySize = append(q.bySize, own)
	}
	for i := range p.Tasks {
		q.work = append(q.work, p.Tasks[i].Work(p.GPU.Sizes()))
	}
	q.gpus, q.scratch = make([]flowSlices, p.GPUs()), make([]flowSlices, p.GPUs())
	return q
}

// react plans and begins tasks at an arrival or completion. It repeats while tasks begin and others move up into the
// list, because these may also begin at once.
func (q *flowQueue) react(ctx context.Context) {
	for again := true; again; again = len(q.waiting) > 0 && len(q.list) < flowWindow {
		q.sync()
		q.arrive()
		q.improve(ctx)
		q.begin()
	}
}

// sync copies each GPU's state from its clock.
func (q *flowQueue) sync() {
	for g := range q.gpus {
		s := &q.gpus[g]
		s.channel = max(q.now, q.timer.Channel(g))
		for m := range s.place {
			in, free := q.timer.Slice(g, m)
			s.free[m] = max(q.now, free)
			s.place[m] = int16(slices.IndexFunc(q.places, func(p flowPlace) bool { return p.in == in }))
		}
	}
}

// cost returns the cost of a list. If spots is not nil, it stores the spot of each entry there.
func (q *flowQueue) cost(list []flowEntry, spots []flowSpot) float64 {
	copy(q.scratch, q.gpus)
	price := q.price * q.taskSeconds / max(q.now, leastNow) / float64(int(q.p.GPU.ComputeSlices)*len(q.gpus))
	total := 0.0
	for i, e := range list {
		size := q.p.GPU.Sizes()[e.size]
		t := float64(q.p.Tasks[e.task].On(size))
		spot := q.earliest(e.size, t)
		q.take(spot)
		total += spot.end + float64(price*t*float64(size))
		if spots != nil {
			spots[i] = spot
		}
	}
	return total
}

// earliest returns the spot at which a task of t seconds ends first on an instance of a size.
func (q *flowQueue) earliest(size int8, t float64) flowSpot {
	best := flowSpot{end: math.Inf(1)}
	for g := range q.scratch {
		s := &q.scratch[g]
		for _, k := range q.bySize[size] {
			p := &q.places[k]
			start, operations, exists := 0.0, p.create, true
			before := int16(-1)
			for m := p.first; m < p.end; m++ {
				start = max(start, s.free[m])
				at := s.place[m]
				exists = exists && at == k
				if at >= 0 && at != before {
					operations += q.places[at].destroy
					before = at
				}
			}
			from := start
			if !exists {
				if q.p.Model == mig.Sequential {
					from = max(start, s.channel)
				}
				from += operations
			}
			if from+t < best.end*(1-stats.RoundingError) {
				best = flowSpot{gpu: g, place: k, start: start, from: from, end: from + t}
			}
		}
	}
	return best
}

// take occupies the slices of a spot until its task ends.
func (q *flowQueue) take(spot flowSpot) {
	s, p := &q.scratch[spot.gpu], &q.places[spot.place]
	if spot.from > spot.start {
		s.channel = max(s.channel, spot.from)
	}
	for m := p.first; m < p.end; m++ {
		at := s.place[m]
		if at >= 0 && at != spot.place { // the destroyed instance also leaves its other slices
			for o := q.places[at].first; o < q.places[at].end; o++ {
				s.place[o] = -1
			}
		}
	}
	for m := p.first; m < p.end; m++ {
		s.free[m], s.place[m] = spot.end, spot.place
	}
}

// arrive moves the tasks that have arrived to waiting, and fills the list from it.
func (q *flowQueue) arrive() {
	for len(q.coming) > 0 && float64(q.p.ReleaseOf(int(q.coming[0]))) <= q.now {
		k := q.coming[0]
		q.coming = q.coming[1:]
		at, _ := slices.BinarySearchFunc(q.waiting, q.work[k], func(o int32, work float64) int {
			if q.work[o] > work*(1+stats.RoundingError) {
				return 1
			}
			return -1
		})
		q.waiting = slices.Insert(q.waiting, at, k)
	}
	n := min(flowWindow-len(q.list), len(q.waiting))
	for _, k := range q.waiting[:n] {
		q.insert(k)
	}
	q.waiting = slices.Delete(q.waiting, 0, n)
}

// insert inserts a task at the position and with the size that cost least.
func (q *flowQueue) insert(k int32) {
	var best flowEntry
	at, least := 0, math.Inf(1)
	for size, s := range q.p.GPU.Sizes() {
		if !q.p.Tasks[k].Fits(s) {
			continue
		}
		e := flowEntry{k, int8(size)}
		for i := range len(q.list) + 1 {
			q.trial = append(append(append(q.trial[:0], q.list[:i]...), e), q.list[i:]...)
			cost := q.cost(q.trial, nil)
			if cost < least*(1-stats.RoundingError) {
				best, least, at = e, cost, i
			}
		}
	}
	q.list = slices.Insert(q.list, at, best)
}

// improve moves tasks in the list and changes sizes of consecutive tasks. It keeps a change unless the cost rises.
func (q *flowQueue) improve(ctx context.Context) {
	if len(q.list) == 0 {
		return
	}
	least := q.cost(q.list, nil)
	for step := range q.steps * len(q.list) {
		if step%1024 == 0 && ctx.Err() != nil {
			return
		}
		from, to, size := q.rng.IntN(len(q.list)), q.rng.IntN(len(q.list)), q.rng.IntN(len(q.bySize))
		q.trial = append(q.trial[:0], q.list...)
		if q.rng.IntN(2) == 0 {
			e := q.trial[from]
			q.trial = slices.Insert(slices.Delete(q.trial, from, from+1), to, e)
			from = to
		}
		for i := min(from, to); i <= max(from, to); i++ {
			if q.p.Tasks[q.trial[i].task].Fits(q.p.GPU.Sizes()[size]) {
				q.trial[i].size = int8(size)
			}
		}
		cost := q.cost(q.trial, nil)
		if cost <= least*(1+stats.RoundingError) {
			least = min(least, cost)
			q.list, q.trial = q.trial, q.list
		}
	}
}

// begin runs the tasks that the plan begins now.
func (q *flowQueue) begin() {
	q.spots = slices.Grow(q.spots[:0], len(q.list))[:len(q.list)]
	q.cost(q.list, q.spots)
	rest := q.list[:0]
	for i, e := range q.list {
		spot := q.spots[i]
		if spot.start > q.now {
			rest = append(rest, e)
			continue
		}
		in := q.places[spot.place].in
		t := float64(q.p.Tasks[e.task].On(in.Size()))
		q.timer.Add([]plan.Use{{GPU: spot.gpu, Instance: in, Tasks: []plan.Task{{Seconds: t, Index: e.task}}}}, q.now)
		q.timer.Run()
	}
	q.list = rest
}

// wait advances now to the next arrival, completion or destroyed instance, and past events at about the same time.
func (q *flowQueue) wait() {
	var events []float64
	inSystem := len(q.list) + len(q.waiting)
	for g := range q.gpus {
		for m := range q.gpus[g].free {
			in, free := q.timer.Slice(g, m)
			if free <= q.now {
				continue
			}
			events = append(events, free)
			if in.Profile != nil && int(in.Start) == m {
				inSystem++
			}
		}
	}
	if len(q.coming) > 0 {
		events = append(events, float64(q.p.ReleaseOf(int(q.coming[0]))))
	}
	if len(events) == 0 {
		return
	}
	next := slices.Min(events)
	last := next * (1 + stats.RoundingError)
	for _, k := range q.coming {
		at := float64(q.p.ReleaseOf(int(k)))
		if at > last {
			break
		}
		events = append(events, at)
	}
	for _, at := range events {
		if at <= last {
			next = max(next, at)
		}
	}
	q.taskSeconds += float64((next - q.now) * float64(inSystem))
	q.now = next
}
