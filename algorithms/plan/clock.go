package plan

import (
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// A channelRule says which of several possible operations goes first. Remaining ties go to the earlier use.
type channelRule uint8

const (
	// firstAsked prefers the operation that became possible first (FAR Algorithm 1's reconfig_end).
	firstAsked  channelRule = iota
	longestTail             // prefers the operation with the longest remaining chain of work
)

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
	last     [mig.MaxMemorySlices]int32   // by memory slice: the last use, or -1
	free     [mig.MaxMemorySlices]float64 // by memory slice without a use: when it became free
	channel  float64                      // when the last operation ends, if operations exclude each other
	// pending are the operations that only wait for the channel. They share no slice.
	pending  []operation
	done     []operation // the operations in the order in which they were carried out
	makespan float64
}

// A clockUse is a use with its state on the clock. All times are in seconds.
type clockUse struct {
	Use
	notBefore   float64 // the earliest instant of any operation or task of the use
	destroyFrom float64 // the notBefore of the first follower: the instance is not destroyed before it
	// finished means that the instance exists and its tasks have an end. A destroyed instance is not finished.
	finished, destroyed bool
	slicesFree          float64 // when the slices of earlier uses are free, known when waits is 0
	// The instance exists and is free for the tasks at from. Tasks end at end, the destruction at gone.
	from, end, gone float64
	waits           int8 // counts the instances that stand in the way and are not yet destroyed
	// followers are the uses that wait for the destruction of this use's instance; followed is their number.
	followers [mig.MaxMemorySlices]int32
	followed  int8
	successor int32   // the use that continues on the same instance, or -1
	tail      float64 // the time from the start of the creation to the end of all that follows
	rest      float64 // the time from the start of the destruction to the same end
}

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
		i := c.push(Use{Instance: e.Instance}, 0)
		c.uses[i].finished, c.uses[i].end = true, float64(e.BusyUntil)
		first, end := sliceRange(e.Instance)
		for s := first; s < end; s++ {
			c.last[s] = i
		}
	}
}

func (c *clock) push(u Use, notBefore float64) int32 {
	c.uses = append(c.uses, clockUse{Use: u, notBefore: notBefore, successor: -1})
	return int32(len(c.uses) - 1)
}

// sliceRange returns the first memory slice of an instance and the slice after its last.
func sliceRange(in mig.Instance) (first, end int) {
	return int(in.Start), int(in.Start + in.Profile.Length)
}

// add adds a use after the uses that occupy its slices. Its operations and tasks begin at notBefore or later.
func (c *clock) add(u Use, notBefore float64) {
	i := c.push(u, notBefore)
	first, end := sliceRange(u.Instance)
	b := c.last[first]
	if b >= 0 && c.continues(b, u.Instance) {
		for s := first; s < end; s++ {
			c.last[s] = i
		}
		predecessor := &c.uses[b]
		predecessor.successor = i
		if predecessor.finished {
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
	return u.Instance == in && u.followed == 0 && !u.Destroy && !u.destroyed
}

// follow makes use i wait for the destruction of the instance of use b.
func (c *clock) follow(i, b int32) {
	u, blocker := &c.uses[i], &c.uses[b]
	if blocker.destroyed {
		u.slicesFree = max(u.slicesFree, blocker.gone)
		return
	}
	if blocker.finished && blocker.followed == 0 && !blocker.Destroy {
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
		create, destroy := operationSeconds(c.model, u.Instance.Profile)
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
	cost, destroy := operationSeconds(c.model, u.Instance.Profile)
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
	u.finished, u.destroyed, u.gone = false, true, o.end
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
		u.from, u.finished = from, true
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
	if u.followed > 0 || u.Destroy {
		c.ask(schedule.Destroy, i, max(u.end, u.destroyFrom))
	}
}

// lastEnd returns when the last task of a use ends in the schedule.
func (c *clock) lastEnd(u *clockUse) float64 {
	at := u.from
	for _, t := range u.Tasks {
		at = c.startTime(t, at) + t.Seconds
	}
	return at
}

// startTime returns when a task begins on an instance that is free from an instant on.
func (c *clock) startTime(t Task, from float64) float64 {
	if c.release == nil {
		return from
	}
	return max(from, float64(c.release[t.Index]))
}

// write adds the tasks and operations of the GPU to a schedule.
func (c *clock) write(gpu int, out *schedule.Schedule) {
	out.Operations = slices.Grow(out.Operations, len(c.done))
	for _, o := range c.done {
		out.Operations = append(out.Operations, schedule.Operation{
			Op: o.op, GPU: gpu, Instance: c.uses[o.use].Instance, Start: mig.Seconds(o.start), End: mig.Seconds(o.end),
		})
	}
	for i := range c.uses {
		u := &c.uses[i]
		at := u.from
		for _, t := range u.Tasks {
			start := c.startTime(t, at)
			at = start + t.Seconds
			out.Placements = append(out.Placements, schedule.Placement{
				Task: int(t.Index), GPU: gpu, Instance: u.Instance, Start: mig.Seconds(start), End: mig.Seconds(at),
			})
		}
	}
}

// slice returns the instance that has a memory slice, and the time in seconds at which the slice is free: when the
// tasks of the instance end or, without an instance, when the last destruction ends. All added uses must have run.
func (c *clock) slice(m int) (in mig.Instance, free float64) {
	i := c.last[m]
	if i < 0 {
		return in, c.free[m]
	}
	u := &c.uses[i]
	if !u.destroyed {
		return u.Instance, u.end
	}
	return in, u.gone
}

// remnant returns the state of the GPU in the end. It lists the oldest instances first.
func (c *clock) remnant(gpu int) remnant {
	out := remnant{free: c.free, channel: c.channel}
	for m := range c.last {
		in, free := c.slice(m)
		if in.Profile == nil {
			out.free[m] = free
		}
	}
	var oldest []int32
	for i := range c.existing {
		oldest = append(oldest, int32(i))
	}
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
		if !u.finished {
			continue
		}
		end := u.end
		if len(u.Tasks) > 0 {
			end = c.lastEnd(u) // With sums, u.end is rounded differently from the schedule that write makes.
		}
		out.exist = append(out.exist, schedule.Existing{GPU: gpu, Instance: u.Instance, BusyUntil: mig.Seconds(end)})
	}
	return out
}

// raiseEnds raises each entry of ends, which is by compute slice, to the end of the last task on the slice.
func (c *clock) raiseEnds(ends []float64) {
	for i := c.existing; i < len(c.uses); i++ {
		u := &c.uses[i]
		for s := u.Instance.Start; s < u.Instance.Start+u.Instance.Size(); s++ {
			ends[s] = max(ends[s], u.end)
		}
	}
}
