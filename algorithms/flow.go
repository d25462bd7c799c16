package algorithms

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/spec"
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
// The tasks that wait are a list of tasks and sizes of instances. Each in turn is placed where it ends first, on the
// slices that those before it leave, reconfigurations included. A list costs the sum of its tasks' ends and a price for
// their slice seconds. For a second of all GPUs, tasks that come later wait a second longer: on average as many of them
// as there are in the system, of which the average so far is known. Without the price, a task that is alone would take
// the whole GPU, however little that helps it.
//
// A new task is inserted where, and with the size with which, it costs least. A search then moves tasks and changes
// sizes while that costs no more. Tasks that the plan begins at once are begun; the others are planned again at the
// next arrival or completion. Of many, the [flowWindow] with the fewest slice seconds are planned.
//
// Tasks arrive at their release times. Without these, a batch arrives when the last task of the batch before has begun.
type flowStream struct {
	steps int
	price float64
}

// flowWindow is how many tasks flowStream plans at most.
const flowWindow = 32

// flowRounding is the relative difference up to which two instants or costs count as equal, so that no decision depends
// on their last bits. Sums of many times differ by much less if they are computed in another way.
const flowRounding = 1e-9

func (f flowStream) ScheduleStream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	q := newFlowQueue(p, f)
	if p.Release != nil {
		lengths = []int{len(p.Tasks)}
	}
	from := 0
	for _, n := range lengths {
		q.coming = withBatch(p, q.coming, from, n)
		from += n
		for q.event(ctx); len(q.coming)+len(q.list) > 0; q.event(ctx) {
			if err := ctx.Err(); err != nil {
				return schedule.Schedule{}, err
			}
			q.wait()
		}
	}
	return q.timing.schedule(), ctx.Err()
}

// A flowEntry is a waiting task and the size of the instance that it is to run on.
type flowEntry struct {
	task int32
	size int8 // in GPU.Sizes
}

// A flowPlace is an instance that a task can run on.
type flowPlace struct {
	in              mig.Instance
	first, end      int // memory slices
	create, destroy float64
}

// flowSlices is what is on a GPU, by memory slice: when it is free, and the place of the instance there, or -1.
type flowSlices struct {
	free    [8]float64
	place   [8]int16
	channel float64
}

// A flowQueue is the state of flowStream.
type flowQueue struct {
	flowStream
	p      algo.Problem
	timing *timing
	rng    *rand.Rand
	now    float64 // seconds
	// coming are the tasks that have not arrived. Of the others, list is planned, and waiting is not,
	// by ascending work.
	coming, waiting []int32
	list            []flowEntry
	// work is, by task, the slice seconds on the size where it needs the fewest.
	work []float64
	// places are the instances of the GPU, and bySize their indices.
	places []flowPlace
	bySize [][]int16
	// taskSeconds is the sum of the times that all tasks have been in the system.
	taskSeconds float64
	// gpus is what the clocks say. The others are scratch.
	gpus, scratch []flowSlices
	trial         []flowEntry
	spots         []flowSpot
}

// A flowSpot is where and when an entry runs. It waits for its slices until start, and for its instance until from.
type flowSpot struct {
	gpu              int
	place            int16
	start, from, end float64
}

func newFlowQueue(p algo.Problem, f flowStream) *flowQueue {
	q := &flowQueue{
		flowStream: f, p: p, timing: newTiming(p, firstAsked),
		rng: rand.New(rand.NewPCG(uint64(p.GPUs()), 0)),
	}
	q.timing.begin(remnants(p))
	for _, size := range p.GPU.Sizes() {
		profile := p.GPU.Profile(size)
		var own []int16
		for _, start := range profile.Starts {
			in := mig.Instance{Profile: profile, Start: start}
			first, end := slicesOf(in)
			create, destroy := operationSeconds(p.Model, profile)
			own = append(own, int16(len(q.places)))
			q.places = append(q.places, flowPlace{in, first, end, create, destroy})
		}
		q.bySize = append(q.bySize, own)
	}
	for i := range p.Tasks {
		q.work = append(q.work, p.Tasks[i].Work(p.GPU.Sizes()))
	}
	q.gpus, q.scratch = make([]flowSlices, p.GPUs()), make([]flowSlices, p.GPUs())
	return q
}

// event does what there is to do at an arrival or completion. Where tasks begin, those that waited
// behind the list may begin at once, too.
func (q *flowQueue) event(ctx context.Context) {
	for again := true; again; again = len(q.waiting) > 0 && len(q.list) < flowWindow {
		q.look()
		q.arrive()
		q.improve(ctx)
		q.begin()
	}
}

// look reads what the GPUs do off their clocks.
func (q *flowQueue) look() {
	for g := range q.gpus {
		s, c := &q.gpus[g], &q.timing.clocks[g]
		s.channel = max(q.now, c.channel)
		for m := range s.place {
			holder, free := c.slice(m)
			s.free[m], s.place[m] = max(q.now, free), -1
			if holder != nil {
				s.place[m] = int16(slices.IndexFunc(q.places, func(p flowPlace) bool { return p.in == holder.in }))
			}
		}
	}
}

// cost returns what the list costs. It writes where its entries run, if there is room.
func (q *flowQueue) cost(list []flowEntry, spots []flowSpot) float64 {
	copy(q.scratch, q.gpus)
	price := q.price * q.taskSeconds / max(q.now, 1e-9) / float64(int(q.p.GPU.ComputeSlices)*len(q.gpus))
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

// earliest is where, of the instances of a size, a task of t seconds ends first.
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
			if from+t < best.end*(1-flowRounding) {
				best = flowSpot{g, k, start, from, from + t}
			}
		}
	}
	return best
}

// take puts an instance on its slices until its task ends.
func (q *flowQueue) take(spot flowSpot) {
	s, p := &q.scratch[spot.gpu], &q.places[spot.place]
	if spot.from > spot.start {
		s.channel = max(s.channel, spot.from)
	}
	for m := p.first; m < p.end; m++ {
		if at := s.place[m]; at >= 0 && at != spot.place { // its other slices lose it, too
			for o := q.places[at].first; o < q.places[at].end; o++ {
				s.place[o] = -1
			}
		}
	}
	for m := p.first; m < p.end; m++ {
		s.free[m], s.place[m] = spot.end, spot.place
	}
}

// arrive takes the tasks that have arrived, and fills the list.
func (q *flowQueue) arrive() {
	for len(q.coming) > 0 && float64(q.p.ReleaseOf(int(q.coming[0]))) <= q.now {
		k := q.coming[0]
		q.coming = q.coming[1:]
		at, _ := slices.BinarySearchFunc(q.waiting, q.work[k], func(o int32, work float64) int {
			if q.work[o] > work*(1+flowRounding) {
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

// insert puts a task where, and with the size with which, the list costs least.
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
			if c := q.cost(q.trial, nil); c < least*(1-flowRounding) {
				best, least, at = e, c, i
			}
		}
	}
	q.list = slices.Insert(q.list, at, best)
}

// improve moves tasks in the list and changes sizes, of one task or of several that follow each
// other, while that costs no more.
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
			if e := &q.trial[i]; q.p.Tasks[e.task].Fits(q.p.GPU.Sizes()[size]) {
				e.size = int8(size)
			}
		}
		if c := q.cost(q.trial, nil); c <= least*(1+flowRounding) {
			least = min(least, c)
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
		q.timing.add([]use{{gpu: spot.gpu, in: in, tasks: []timedTask{{t, e.task}}, seconds: t}}, q.now)
		q.timing.run()
	}
	q.list = rest
}

// wait goes on to the next arrival, completion or end of a destruction, and to those at the same time but for rounding.
func (q *flowQueue) wait() {
	var events []float64
	inSystem := len(q.list) + len(q.waiting)
	for g := range q.timing.clocks {
		for m := range q.gpus[g].free {
			holder, free := q.timing.clocks[g].slice(m)
			if free <= q.now {
				continue
			}
			events = append(events, free)
			if holder != nil && int(holder.in.Start) == m {
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
	last := next * (1 + flowRounding)
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
