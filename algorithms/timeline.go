package algorithms

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// A use is a stretch of time in which one instance runs tasks one after the
// other. A plan is a list of uses; of two uses that share a slice the earlier one
// in the list comes first.
type use struct {
	gpu int
	in  mig.Instance
	// tasks are indices in the problem's tasks, in order of execution.
	tasks []int32
	// destroy asks for the instance's destruction as soon as the tasks are done,
	// even where nothing else needs its slices.
	destroy bool
}

// A timeline works out when the uses of a plan run. Everything happens as early
// as it can: an instance is destroyed when its tasks are done if a later use needs
// its slices, and created when all that is in its way has been destroyed. A use of
// the very instance that is already there continues on it without any operation.
// Under [mig.Sequential] each GPU carries out one operation at a time, first come
// first served (FAR Algorithm 1's reconfig_end); ties go to the earlier use.
//
// Plans may be added after others have run; they then follow on what is there.
type timeline struct {
	p       algo.Problem
	out     schedule.Schedule
	uses    []timedUse
	last    []int32       // by position (see slices): the last use of the slice, or -1
	channel []mig.Seconds // by GPU: when its last operation ends
	queue   []request     // binary min-heap
}

type timedUse struct {
	use
	// notBefore is the earliest instant of any operation or task of the use.
	notBefore mig.Seconds
	state     useState
	// at is the instant that the state speaks of.
	at mig.Seconds
	// waits counts the instances that stand in the way and are not yet destroyed.
	waits int32
	// followers are the uses that wait for this one's destruction.
	followers []int32
	// successor continues on the same instance; -1 when none does.
	successor int32
}

type useState uint8

const (
	// The zero value is a use that has not begun: at is when the last of what stood
	// in its way so far was destroyed.
	_ useState = iota
	// finished: the instance exists; at is when its tasks are done.
	finished
	// destroyed: at is when the destruction ended.
	destroyed
)

// A request asks for an operation on a use's instance.
type request struct {
	ready mig.Seconds
	use   int32
	op    schedule.Op
}

func (r request) before(o request) bool {
	return r.ready < o.ready || r.ready == o.ready && r.use < o.use
}

// run works out one plan on its own: the schedule for it.
func run(p algo.Problem, plan []use) schedule.Schedule {
	t := newTimeline(p)
	t.add(plan, 0)
	return t.out
}

func newTimeline(p algo.Problem) *timeline {
	t := &timeline{p: p, out: schedule.Schedule{GPU: p.GPU, Model: p.Model}}
	t.last = make([]int32, p.GPUs()*int(p.GPU.MemorySlices))
	for i := range t.last {
		t.last[i] = -1
	}
	t.channel = make([]mig.Seconds, p.GPUs())
	t.out.Placements = make([]schedule.Placement, 0, len(p.Tasks))
	for _, e := range p.Start {
		i := t.append(use{gpu: e.GPU, in: e.Instance}, 0)
		t.uses[i].state, t.uses[i].at = finished, e.BusyUntil
	}
	return t
}

// append registers a use as the last one of its slices.
func (t *timeline) append(u use, notBefore mig.Seconds) int32 {
	i := int32(len(t.uses))
	t.uses = append(t.uses, timedUse{use: u, notBefore: notBefore, successor: -1})
	first, n := t.slices(u)
	for s := range n {
		t.last[first+s] = i
	}
	return i
}

// slices returns the first position in t.last that a use occupies, and how many.
func (t *timeline) slices(u use) (first, n int) {
	return u.gpu*int(t.p.GPU.MemorySlices) + int(u.in.Start), int(u.in.Profile.Length)
}

// add appends a plan and runs it. None of its operations and tasks begins before
// notBefore. Uses without tasks are left out.
func (t *timeline) add(plan []use, notBefore mig.Seconds) {
	for _, u := range plan {
		if len(u.tasks) > 0 {
			t.link(u, notBefore)
		}
	}
	for len(t.queue) > 0 {
		t.operate(t.pop())
	}
}

// link puts a use behind those that occupy its slices.
func (t *timeline) link(u use, notBefore mig.Seconds) {
	var before [8]int32 // No GPU has more memory slices.
	blockers := before[:0]
	first, n := t.slices(u)
	for s := range n {
		b := t.last[first+s]
		if b >= 0 && (len(blockers) == 0 || blockers[len(blockers)-1] != b) {
			blockers = append(blockers, b)
		}
	}
	i := t.append(u, notBefore)
	if len(blockers) == 1 {
		b := &t.uses[blockers[0]]
		if b.in == u.in && !b.destroy && b.state != destroyed {
			b.successor = i
			if b.state == finished {
				t.work(i, max(b.at, notBefore))
			}
			return
		}
	}
	for _, j := range blockers {
		b := &t.uses[j]
		if b.state == destroyed {
			t.uses[i].at = max(t.uses[i].at, b.at)
			continue
		}
		if b.state == finished && len(b.followers) == 0 && !b.destroy {
			t.push(request{max(b.at, notBefore), j, schedule.Destroy})
		}
		b.followers = append(b.followers, i)
		t.uses[i].waits++
	}
	t.tryCreate(i)
}

// tryCreate asks for the use's instance once nothing stands in its way.
func (t *timeline) tryCreate(i int32) {
	if u := &t.uses[i]; u.waits == 0 {
		t.push(request{max(u.at, u.notBefore), i, schedule.Create})
	}
}

// operate carries out an operation and what follows from it.
func (t *timeline) operate(r request) {
	u := &t.uses[r.use]
	cost := u.in.Profile.Create
	if r.op == schedule.Destroy {
		cost = u.in.Profile.Destroy
	}
	start := r.ready
	switch t.p.Model {
	case mig.Free:
		cost = 0
	case mig.Sequential:
		start = max(start, t.channel[u.gpu])
	}
	end := start + cost
	t.channel[u.gpu] = end
	t.out.Operations = append(t.out.Operations, schedule.Operation{Op: r.op, GPU: u.gpu, Instance: u.in, Start: start, End: end})
	if r.op == schedule.Create {
		t.work(r.use, end)
		return
	}
	u.state, u.at = destroyed, end
	for _, f := range u.followers {
		w := &t.uses[f]
		w.at = max(w.at, end)
		w.waits--
		t.tryCreate(f)
	}
}

// work runs the tasks of a use on its instance, which is free from the instant on.
func (t *timeline) work(i int32, from mig.Seconds) {
	for {
		u := &t.uses[i]
		for _, k := range u.tasks {
			start := max(from, t.p.ReleaseOf(int(k)))
			from = start + t.p.Tasks[k].On(u.in.Size())
			t.out.Placements = append(t.out.Placements, schedule.Placement{
				Task: int(k), GPU: u.gpu, Instance: u.in, Start: start, End: from,
			})
		}
		u.state, u.at = finished, from
		if u.successor < 0 {
			break
		}
		i = u.successor
		from = max(from, t.uses[i].notBefore)
	}
	if u := &t.uses[i]; len(u.followers) > 0 || u.destroy {
		t.push(request{u.at, i, schedule.Destroy})
	}
}

func (t *timeline) push(r request) {
	q := append(t.queue, r)
	i := len(q) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !r.before(q[parent]) {
			break
		}
		q[i] = q[parent]
		i = parent
	}
	q[i] = r
	t.queue = q
}

func (t *timeline) pop() request {
	q := t.queue
	top, r := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	t.queue = q
	i := 0
	for child := 1; child < len(q); child = 2*i + 1 {
		if right := child + 1; right < len(q) && q[right].before(q[child]) {
			child = right
		}
		if !q[child].before(r) {
			break
		}
		q[i] = q[child]
		i = child
	}
	if len(q) > 0 {
		q[i] = r
	}
	return top
}
