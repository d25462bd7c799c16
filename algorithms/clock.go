package algorithms

import (
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// A use is a stretch of time in which one instance runs tasks one after the other. A plan is a list of uses. Of two
// uses that share a slice, the use that is earlier in the list runs first.
type use struct {
	gpu int
	in  mig.Instance
	// tasks are in order of execution.
	tasks []timedTask
	// seconds is the sum of the tasks' durations. Only clocks with sums or with the rule longestTail need it.
	seconds float64
	// destroy requests the destruction of the instance after the tasks, even if no later use needs its slices.
	destroy bool
}

// timedTask is a task of a problem with its duration in seconds on the instance that runs it.
type timedTask struct {
	time float64
	task int32
}

// A channelRule says which of several possible operations goes first. Remaining ties go to the earlier use.
type channelRule uint8

const (
	// firstAsked prefers the operation that became possible first (FAR Algorithm 1's reconfig_end).
	firstAsked channelRule = iota
	// longestTail prefers the operation with the longest remaining chain of work.
	longestTail
)

// memorySlices is the largest number of memory slices of a GPU.
const memorySlices = 8

// A clock computes when the uses of one GPU run. Everything happens as early as possible. An instance is destroyed when
// its tasks are done, if a later use needs its slices. An instance is created once its slices are free. A use of an
// existing instance continues on it without operations. Under [mig.Sequential] operations exclude each other.
//
// Call begin, then add for each use and run; then read the result with write and remnant. More uses may be added after
// run: they start from the instances that exist then. The clock reuses its lists.
type clock struct {
	model   mig.Reconfiguration
	rule    channelRule
	release []mig.Seconds
	// sums means that a use takes use.seconds. Otherwise its tasks are added one by one, which rounds differently.
	sums bool

	uses []clockUse
	// existing is the number of uses that are instances from the beginning. They come first in uses.
	existing int
	last     [memorySlices]int32   // by memory slice: the last use, or -1
	free     [memorySlices]float64 // by memory slice without a use: when it became free
	channel  float64               // when the last operation ends, if operations exclude each other
	// pending are the operations that only wait for the channel. They share no slice.
	pending []operation
	// done are the operations in the order in which they were carried out.
	done     []operation
	makespan float64
}

// A clockUse is a use with its state on the clock. All times are in seconds.
type clockUse struct {
	use
	// notBefore is the earliest instant of any operation or task of the use.
	notBefore float64
	// destroyFrom is the notBefore of the first follower: the instance is not destroyed before it.
	destroyFrom float64
	state       useState
	// slicesFree is when the slices of earlier uses are free, known when waits is 0.
	slicesFree float64
	// The instance exists and is free for the tasks at from. Tasks end at end, the destruction at gone.
	from, end, gone float64
	// waits counts the instances that stand in the way and are not yet destroyed.
	waits int8
	// followers are the uses that wait for the destruction of this use's instance; followed is their number.
	followers [memorySlices]int32
	followed  int8
	// successor is the use that continues on the same instance, or -1.
	successor int32
	// tail is the time from the start of the creation to the end of all that follows.
	tail float64
	// rest is the time from the start of the destruction to the same end.
	rest float64
}

type useState uint8

const (
	// The zero value is a use that has not begun.
	_ useState = iota
	// finished: the instance exists and its tasks have an end.
	finished
	destroyed
)

// An operation creates or destroys the instance of a use. While it is pending, start is the earliest possible one.
type operation struct {
	start, end float64
	use        int32
	op         schedule.Op
}

// begin empties the clock and starts it from the remnant of the GPU.
func (c *clock) begin(r *remnant) {
	c.uses, c.pending, c.done = c.uses[:0], c.pending[:0], c.done[:0]
	c.free, c.channel, c.makespan = r.free, r.channel, 0
	c.existing = len(r.exist)
	for s := range c.last {
		c.last[s] = -1
	}
	for _, e := range r.exist {
		i := c.push(use{in: e.Instance}, 0)
		c.uses[i].state, c.uses[i].end = finished, float64(e.BusyUntil)
		first, end := sliceRange(e.Instance)
		for s := first; s < end; s++ {
			c.last[s] = i
		}
	}
}

func (c *clock) push(u use, notBefore float64) int32 {
	c.uses = append(c.uses, clockUse{use: u, notBefore: notBefore, successor: -1})
	return int32(len(c.uses) - 1)
}

// sliceRange returns the first memory slice of an instance and the slice after its last.
func sliceRange(in mig.Instance) (first, end int) {
	return int(in.Start), int(in.Start + in.Profile.Length)
}

// add adds a use after the uses that occupy its slices. Its operations and tasks begin at notBefore or later.
func (c *clock) add(u use, notBefore float64) {
	i := c.push(u, notBefore)
	first, end := sliceRange(u.in)
	b := c.last[first]
	if b >= 0 && c.continues(b, u.in) {
		for s := first; s < end; s++ {
			c.last[s] = i
		}
		predecessor := &c.uses[b]
		predecessor.successor = i
		if predecessor.state == finished {
			c.work(i, max(predecessor.end, notBefore))
		}
		return
	}
	blocker := int32(-1)
	for s := first; s < end; s++ {
		b := c.last[s]
		c.last[s] = i
		switch {
		case b < 0:
			c.uses[i].slicesFree = max(c.uses[i].slicesFree, c.free[s])
		case b != blocker:
			c.follow(i, b)
			blocker = b
		}
	}
	c.tryCreate(i)
}

// continues reports whether a new use of an instance can continue after use b without an operation.
func (c *clock) continues(b int32, in mig.Instance) bool {
	u := &c.uses[b]
	return u.in == in && u.followed == 0 && !u.destroy && u.state != destroyed
}

// follow makes use i wait for the destruction of the instance of use b.
func (c *clock) follow(i, b int32) {
	u, blocker := &c.uses[i], &c.uses[b]
	if blocker.state == destroyed {
		u.slicesFree = max(u.slicesFree, blocker.gone)
		return
	}
	if blocker.state == finished && blocker.followed == 0 && !blocker.destroy {
		c.ask(schedule.Destroy, b, max(blocker.end, u.notBefore))
	}
	if blocker.followed == 0 {
		blocker.destroyFrom = u.notBefore
	}
	blocker.followers[blocker.followed] = i
	blocker.followed++
	u.waits++
}

// tryCreate asks for the instance of a use if no instance is in its way.
func (c *clock) tryCreate(i int32) {
	u := &c.uses[i]
	if u.waits == 0 {
		c.ask(schedule.Create, i, max(u.slicesFree, u.notBefore))
	}
}

func (c *clock) ask(op schedule.Op, i int32, from float64) {
	c.pending = append(c.pending, operation{start: from, use: i, op: op})
}

// run carries out the operations that the added uses need and returns when the last task ends, in seconds.
func (c *clock) run() float64 {
	if c.rule == longestTail {
		c.computeTails()
	}
	for len(c.pending) > 0 {
		c.operate(c.next())
	}
	return c.makespan
}

// computeTails computes the tail and rest of all uses, from the last use to the first.
func (c *clock) computeTails() {
	for i := len(c.uses) - 1; i >= 0; i-- {
		u := &c.uses[i]
		after := 0.0
		for _, f := range u.followers[:u.followed] {
			after = max(after, c.uses[f].tail)
		}
		create, destroy := operationSeconds(c.model, u.in.Profile)
		u.rest = destroy + after
		u.tail = create + u.seconds + after
		if u.followed > 0 {
			u.tail += destroy
		}
		if u.successor >= 0 { // The successor's tail includes the creation of the instance.
			s := &c.uses[u.successor]
			u.tail, u.rest = u.seconds+s.tail, s.rest
		}
	}
}

// next removes the pending operation that goes first and returns it.
func (c *clock) next() operation {
	best := 0
	for i := 1; i < len(c.pending); i++ {
		if c.before(&c.pending[i], &c.pending[best]) {
			best = i
		}
	}
	o := c.pending[best]
	n := len(c.pending) - 1
	c.pending[best] = c.pending[n]
	c.pending = c.pending[:n]
	return o
}

// before reports whether operation a goes before b: it can begin earlier, or the rule prefers it.
func (c *clock) before(a, b *operation) bool {
	startA, startB := max(a.start, c.channel), max(b.start, c.channel)
	if startA != startB {
		return startA < startB
	}
	if c.rule == longestTail {
		tailA, tailB := c.remaining(a), c.remaining(b)
		if tailA != tailB {
			return tailA > tailB
		}
	} else if a.start != b.start {
		return a.start < b.start
	}
	return a.use < b.use
}

// remaining returns the time from a pending operation to the end of everything that follows.
func (c *clock) remaining(o *operation) float64 {
	if o.op == schedule.Create {
		return c.uses[o.use].tail
	}
	return c.uses[o.use].rest
}

// operate carries out an operation and asks for the operations that it makes possible.
func (c *clock) operate(o operation) {
	u := &c.uses[o.use]
	cost, destroy := operationSeconds(c.model, u.in.Profile)
	if o.op == schedule.Destroy {
		cost = destroy
	}
	if c.model == mig.Sequential {
		o.start = max(o.start, c.channel)
		c.channel = o.start + cost
	}
	o.end = o.start + cost
	c.done = append(c.done, o)
	if o.op == schedule.Create {
		c.work(o.use, o.end)
		return
	}
	u.state, u.gone = destroyed, o.end
	for _, f := range u.followers[:u.followed] {
		w := &c.uses[f]
		w.slicesFree = max(w.slicesFree, o.end)
		w.waits--
		c.tryCreate(f)
	}
}

// work runs the tasks of a use on its instance, which is free from an instant on, and then the tasks of its successors.
func (c *clock) work(i int32, from float64) {
	u := &c.uses[i]
	for {
		u.from, u.state = from, finished
		u.end = from + u.seconds
		if !c.sums {
			u.end = c.lastEnd(u)
		}
		if u.successor < 0 {
			break
		}
		i = u.successor
		from = max(u.end, c.uses[i].notBefore)
		u = &c.uses[i]
	}
	c.makespan = max(c.makespan, u.end)
	if u.followed > 0 || u.destroy {
		c.ask(schedule.Destroy, i, max(u.end, u.destroyFrom))
	}
}

// lastEnd returns when the last task of a use ends in the schedule.
func (c *clock) lastEnd(u *clockUse) float64 {
	at := u.from
	for _, t := range u.tasks {
		at = c.startTime(t, at) + t.time
	}
	return at
}

// startTime returns when a task begins on an instance that is free from an instant on.
func (c *clock) startTime(t timedTask, from float64) float64 {
	if c.release == nil {
		return from
	}
	return max(from, float64(c.release[t.task]))
}

// write adds the tasks and operations of the GPU to a schedule.
func (c *clock) write(gpu int, out *schedule.Schedule) {
	out.Operations = slices.Grow(out.Operations, len(c.done))
	for _, o := range c.done {
		out.Operations = append(out.Operations, schedule.Operation{
			Op: o.op, GPU: gpu, Instance: c.uses[o.use].in, Start: mig.Seconds(o.start), End: mig.Seconds(o.end),
		})
	}
	for i := range c.uses {
		u := &c.uses[i]
		at := u.from
		for _, t := range u.tasks {
			start := c.startTime(t, at)
			at = start + t.time
			out.Placements = append(out.Placements, schedule.Placement{
				Task: int(t.task), GPU: gpu, Instance: u.in, Start: mig.Seconds(start), End: mig.Seconds(at),
			})
		}
	}
}

// holder returns the use whose instance has a memory slice, or nil, and the time in seconds at which the slice is free:
// when the tasks of the use end or, without a use, when the last destruction ends. All added uses must have run.
func (c *clock) holder(m int) (u *clockUse, free float64) {
	i := c.last[m]
	if i < 0 {
		return nil, c.free[m]
	}
	u = &c.uses[i]
	if u.state != destroyed {
		return u, u.end
	}
	return nil, u.gone
}

// remnant returns the state of the GPU in the end. It lists the oldest instances first.
func (c *clock) remnant(gpu int) remnant {
	out := remnant{free: c.free, channel: c.channel}
	for m := range c.last {
		u, free := c.holder(m)
		if u == nil {
			out.free[m] = free
		}
	}
	oldest := numbered[int32](c.existing)
	for _, o := range c.done {
		if o.op == schedule.Create {
			oldest = append(oldest, o.use)
		}
	}
	for _, i := range oldest {
		u := &c.uses[i]
		for u.successor >= 0 {
			u = &c.uses[u.successor]
		}
		if u.state != finished {
			continue
		}
		end := u.end
		if len(u.tasks) > 0 {
			end = c.lastEnd(u) // With sums, u.end is rounded differently from the schedule that write makes.
		}
		out.exist = append(out.exist, schedule.Existing{GPU: gpu, Instance: u.in, BusyUntil: mig.Seconds(end)})
	}
	return out
}

// raiseEnds raises each entry of ends, which is by compute slice, to the end of the last task on the slice.
func (c *clock) raiseEnds(ends []float64) {
	for i := c.existing; i < len(c.uses); i++ {
		u := &c.uses[i]
		for s := u.in.Start; s < u.in.Start+u.in.Size(); s++ {
			ends[s] = max(ends[s], u.end)
		}
	}
}
