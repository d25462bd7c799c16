package schedule

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// Check lists all violations of a schedule for a problem, and returns nil for a valid schedule. It does not panic,
// whatever the values are. If the problem's GPU model or reconfiguration model cannot be used, that is the only
// violation. Times may differ by rounding (see tolerance.go), and touching intervals do not overlap.
//
// Where many runs (or instances, or operations) share a slice at one time, each is reported against the earlier one
// that holds the slice longest, not against all. An impossible index, time or instance is reported once, without the
// violations that follow from it. The order is fixed: the problem, placements, operations, instances, runs; each in
// the order of the lists or of time. Check takes O(n log n) for n placements and operations.
func Check(p Problem, s Schedule) []Violation {
	c := checker{p: &p, s: &s}
	if !c.problem() {
		return c.found
	}
	c.header()
	c.placements()
	c.operations()
	c.partitions()
	c.existence()
	reportOverlaps(c.runs, func(a, b *occupation) {
		first, second := &s.Placements[a.id], &s.Placements[b.id]
		c.add(TaskOverlap, "%q on %v and %q on %v both run on GPU %d between %v and %v s", c.name(second.Task),
			second.Instance, c.name(first.Task), first.Instance, b.gpu, b.start, min(a.end, b.end))
	})
	c.work()
	return c.found
}

// A life is the time in which tasks can run on an instance. The slices are in use for longer; see checker.held.
type life struct {
	from    mig.Seconds // the end of the create, or [Existing.BusyUntil] of an instance of the start partition
	to      mig.Seconds // the start of the destroy, or infinite
	atStart bool        // marks an instance of the start partition
}

// A checker has a method for each group of rules, which adds violations to found.
type checker struct {
	p     *Problem
	s     *Schedule
	found []Violation
	runs  []occupation // the placements whose instance, GPU and times are possible
	lives []life
	// held has, for each life, the interval in which its slices are in use: from the start of the create to the end of
	// the destroy. id is the index in lives. Method partitions sorts held by GPU and time.
	held []occupation
}

var inf = mig.Seconds(math.Inf(1))

func finite(t mig.Seconds) bool { return t > -inf && t < inf }

func (c *checker) add(k Kind, format string, args ...any) {
	c.found = append(c.found, Violation{k, fmt.Sprintf(format, args...)})
}

// name returns the name of a task that may not exist.
func (c *checker) name(i int) string {
	if i < 0 || i >= len(c.p.Tasks) {
		return fmt.Sprintf("task %d", i)
	}
	return c.p.Tasks[i].Name
}

// describe names an instance, which may be impossible.
func describe(in mig.Instance) string {
	if in.Profile == nil {
		return fmt.Sprintf("no profile at slice %d", in.Start)
	}
	return fmt.Sprintf("%v at slice %d", in.Profile, in.Start)
}

const (
	missing    = -1            // the index of an instance or a life that does not exist
	maskSlices = mig.Slices(8) // the number of memory slices in a mask
)

// key numbers the instances of the GPU: profile*maskSlices + start. It returns missing if the GPU cannot have it.
func (c *checker) key(in mig.Instance) int32 {
	if in.Profile == nil || !slices.Contains(in.Profile.Starts, in.Start) {
		return missing
	}
	i := slices.Index(c.p.GPU.Profiles, in.Profile)
	if i < 0 {
		return missing
	}
	return int32(i)*int32(maskSlices) + int32(in.Start)
}

// problem checks the problem, and reports whether a schedule can be checked against it.
func (c *checker) problem() bool {
	p := c.p
	if p.GPU == nil {
		c.add(BadProblem, "there is no GPU model")
		return false
	}
	if p.Model > mig.Free {
		c.add(BadProblem, "reconfiguration model %d is not known", uint8(p.Model))
		return false
	}
	for _, pr := range p.GPU.Profiles {
		if pr == nil || pr.Size < 1 || pr.Size > mig.MaxSize || pr.Length < 1 || pr.Length > maskSlices ||
			slices.ContainsFunc(pr.Starts, func(s mig.Slices) bool { return s < 0 || s > maskSlices-pr.Length }) {
			c.add(BadProblem, "GPU model %q has a profile that is nil, has a bad size or goes beyond %d slices",
				p.GPU.Name, maskSlices)
			return false
		}
	}
	if p.Release != nil && len(p.Release) != len(p.Tasks) {
		c.add(BadProblem, "there are %d releases for %d tasks", len(p.Release), len(p.Tasks))
	}
	if !finite(p.Restart) || p.Restart < 0 {
		c.add(BadProblem, "a restart takes %v s", p.Restart)
	}
	for i, r := range p.Release {
		if !finite(r) {
			c.add(BadProblem, "task %q is released at %v s", c.name(i), r)
		}
	}
	for i := range p.Tasks {
		for _, pr := range p.GPU.Profiles {
			takes := p.Tasks[i].On(pr.Size)
			if takes > 0 && takes < task.MinSeconds {
				c.add(BadProblem, "task %q takes %v s on size %d; durations are at least %v s", c.name(i),
					takes, pr.Size, task.MinSeconds)
				break
			}
		}
	}
	return true
}

// header checks that the schedule is for the problem's GPU model and reconfiguration model.
func (c *checker) header() {
	if c.s.GPU != c.p.GPU {
		have := "no GPU model"
		if c.s.GPU != nil {
			have = c.s.GPU.Name
		}
		c.add(WrongGPU, "the schedule is for %s, the problem for %s", have, c.p.GPU.Name)
	}
	if c.s.Model != c.p.Model {
		have := fmt.Sprintf("model %d", uint8(c.s.Model))
		if c.s.Model <= mig.Free {
			have = c.s.Model.String()
		}
		c.add(WrongModel, "the schedule is for %s reconfiguration, the problem for %v", have, c.p.Model)
	}
}

// possible reports whether an interval can begin and end at these times.
func possible(start, end mig.Seconds) bool {
	return finite(start) && finite(end) && !later(0, start) && !later(start, end)
}

// placements checks each placement and that every task runs. It fills c.runs.
func (c *checker) placements() {
	c.runs = make([]occupation, 0, len(c.s.Placements))
	ran := make([]int32, len(c.p.Tasks)) // for each task, the index of a placement that runs it, plus one
	for i := range c.s.Placements {
		c.placement(i, ran)
	}
	for i, r := range ran {
		if r == 0 {
			c.add(MissingTask, "%q (task %d) is never run", c.name(i), i)
		}
	}
	if c.p.Restart > 0 {
		c.parts()
	}
	slices.SortFunc(c.runs, byTime)
}

// placement checks placement i and records in ran that its task runs.
func (c *checker) placement(i int, ran []int32) {
	p := c.p
	pl := &c.s.Placements[i]
	known := pl.Task >= 0 && pl.Task < len(p.Tasks)
	key := c.key(pl.Instance)
	inTime := possible(pl.Start, pl.End)
	onGPU := pl.GPU >= 0 && pl.GPU < p.GPUs()
	if !known {
		c.add(UnknownTask, "placement %d runs task %d of %d", i, pl.Task, len(p.Tasks))
	}
	if key == missing {
		c.add(BadInstance, "%q runs on %s, which %s does not have", c.name(pl.Task), describe(pl.Instance), p.GPU.Name)
	}
	if !onGPU {
		c.add(UnknownGPU, "%q runs on GPU %d; there are %d, counted from 0", c.name(pl.Task), pl.GPU, p.GPUs())
	}
	if !inTime {
		c.add(BadTime, "%q runs from %v to %v s", c.name(pl.Task), pl.Start, pl.End)
	}
	if key != missing && onGPU && inTime {
		c.runs = append(c.runs,
			occupation{start: pl.Start, end: pl.End, gpu: pl.GPU, id: int32(i), key: key, mask: pl.Instance.Mask()})
	}
	if !known {
		return
	}
	if ran[pl.Task] != 0 && p.Restart == 0 {
		c.add(RepeatedTask, "%q runs in placements %d and %d", c.name(pl.Task), ran[pl.Task]-1, i)
	} else {
		ran[pl.Task] = int32(i + 1)
	}
	if key != missing {
		c.duration(pl, inTime)
	}
	if inTime && pl.Task < len(p.Release) && later(p.Release[pl.Task], pl.Start) {
		c.add(BeforeRelease, "%q starts at %v s, before its release at %v s", c.name(pl.Task), pl.Start,
			p.Release[pl.Task])
	}
}

// duration checks that a known task fits its instance and, unless it can be stopped, runs as long as it takes there.
func (c *checker) duration(pl *Placement, inTime bool) {
	size := pl.Instance.Size()
	takes := c.p.Tasks[pl.Task].On(size)
	if !finite(takes) || takes <= 0 {
		c.add(DoesNotFit, "%q runs on %v, where it takes %v s", c.name(pl.Task), pl.Instance, takes)
	} else if inTime && c.p.Restart == 0 && !sameInstant(pl.End, pl.Start+takes) {
		c.add(WrongDuration, "%q runs for %v s on size %d, where it takes %v s", c.name(pl.Task), pl.End-pl.Start, size,
			takes)
	}
}

// parts checks that the parts of a task's run do its work once, with at least [Problem.Restart] between two.
func (c *checker) parts() {
	done := make([]float64, len(c.p.Tasks)) // the share of the work
	last := make([]Placement, len(c.p.Tasks))
	ends := make([]mig.Seconds, len(c.p.Tasks)) // the end of the work, if the last part does the remaining share
	for _, pl := range c.s.sortedPlacements() {
		if pl.Task < 0 || pl.Task >= len(done) || c.key(pl.Instance) == missing || !possible(pl.Start, pl.End) ||
			!c.p.Tasks[pl.Task].Fits(pl.Instance.Size()) {
			continue
		}
		k := pl.Task
		takes := c.p.Tasks[k].On(pl.Instance.Size())
		if done[k] > 0 && later(last[k].End+c.p.Restart, pl.Start) {
			c.add(EarlyRestart, "%q goes on at %v s after it stops at %v s; a restart takes %v s", c.name(k), pl.Start,
				last[k].End, c.p.Restart)
		}
		ends[k] = pl.Start + mig.Seconds(mig.Seconds(1-done[k])*takes)
		done[k] += float64((pl.End - pl.Start) / takes)
		last[k] = pl
	}
	for k, pl := range last {
		if !sameInstant(pl.End, ends[k]) {
			c.add(WrongDuration, "%q ends at %v s; it has done its work at %v s", c.name(k), pl.End, ends[k])
		}
	}
}

// cost returns the time that an operation must take.
func (c *checker) cost(o *Operation) mig.Seconds {
	switch {
	case c.p.Model == mig.Free:
		return 0
	case o.Op == Create:
		return o.Instance.Profile.Create
	}
	return o.Instance.Profile.Destroy
}

// operations checks each create and destroy, and that under [mig.Sequential] the operations of a GPU run one at a time.
// It fills c.lives and c.held.
func (c *checker) operations() {
	ops := make([]occupation, 0, len(c.p.Start)+len(c.s.Operations))
	for i, e := range c.p.Start {
		key := c.key(e.Instance)
		if key == missing || e.GPU < 0 || e.GPU >= c.p.GPUs() || !finite(e.BusyUntil) || e.BusyUntil < 0 {
			c.add(BadProblem, "the start partition holds %s on GPU %d, busy until %v s", describe(e.Instance), e.GPU,
				e.BusyUntil)
			continue
		}
		// It begins before 0, so that it comes first and overlaps even an occupation that ends at 0.
		ops = append(ops,
			occupation{start: -inf, end: -inf, gpu: e.GPU, id: int32(-1 - i), key: key, mask: e.Instance.Mask()})
	}
	for i := range c.s.Operations {
		ops = c.operation(ops, i)
	}
	slices.SortFunc(ops, byInstance)
	c.pair(ops)
	if c.p.Model != mig.Sequential {
		return
	}
	slices.SortFunc(ops, byTime)
	for i := range ops {
		ops[i].mask = 1 // operations exclude each other, whatever their instances
	}
	reportOverlaps(ops, func(a, b *occupation) {
		first, second := &c.s.Operations[a.id], &c.s.Operations[b.id]
		c.add(OperationOverlap, "the %v of %v begins at %v s on GPU %d, before the %v of %v ends at %v s",
			second.Op, second.Instance, second.Start, second.GPU, first.Op, first.Instance, first.End)
	})
}

// operation checks operation i by itself. It appends the operation to ops if its instance, GPU and times are possible.
func (c *checker) operation(ops []occupation, i int) []occupation {
	o := &c.s.Operations[i]
	if o.Op > Destroy {
		c.add(UnknownOp, "operation %d is of kind %d; write create or destroy", i, uint8(o.Op))
		return ops
	}
	key := c.key(o.Instance)
	inTime := possible(o.Start, o.End)
	onGPU := o.GPU >= 0 && o.GPU < c.p.GPUs()
	if key == missing {
		c.add(BadInstance, "operation %d is a %v of %s, which %s does not have", i, o.Op, describe(o.Instance),
			c.p.GPU.Name)
	}
	if !onGPU {
		c.add(UnknownGPU, "operation %d runs on GPU %d; there are %d, counted from 0", i, o.GPU, c.p.GPUs())
	}
	if !inTime {
		c.add(BadTime, "operation %d runs from %v to %v s", i, o.Start, o.End)
	}
	if key != missing && inTime && !sameInstant(o.End, o.Start+c.cost(o)) {
		c.add(WrongCost, "the %v of %v at %v s takes %v s; under %v reconfiguration it takes %v s", o.Op,
			o.Instance, o.Start, o.End-o.Start, c.p.Model, c.cost(o))
	}
	if key == missing || !onGPU || !inTime {
		return ops
	}
	return append(ops, occupation{
		start: o.Start, end: o.End, gpu: o.GPU, id: int32(i), key: key, mask: o.Instance.Mask(),
		destroy: o.Op == Destroy,
	})
}

// pair makes a life of each create and its destroy. ops are sorted by instance and time.
func (c *checker) pair(ops []occupation) {
	creates := 0
	for i := range ops {
		if !ops[i].destroy {
			creates++
		}
	}
	c.lives, c.held = make([]life, 0, creates), make([]occupation, 0, creates)
	open := missing // the life of the instance that is not yet over
	for i := 0; i < len(ops); {
		first := &ops[i]
		if i > 0 && !sameInstance(first, &ops[i-1]) {
			open = missing
		}
		j := i + 1
		for j < len(ops) && sameInstance(first, &ops[j]) && !later(ops[j].start, first.start) {
			j++
		}
		open = c.pairAtOnce(ops[i:j], open)
		i = j
	}
}

// pairAtOnce pairs operations on one instance at one time; only [mig.Free] allows several. They alternate: a destroy
// comes first if the instance exists. It returns the open life.
func (c *checker) pairAtOnce(ops []occupation, open int) int {
	create, destroy := 0, 0 // the next of each kind
	for range ops {
		for create < len(ops) && ops[create].destroy {
			create++
		}
		for destroy < len(ops) && !ops[destroy].destroy {
			destroy++
		}
		if destroy < len(ops) && (open != missing || create == len(ops)) {
			c.finish(&ops[destroy], open)
			open = missing
			destroy++
		} else {
			open = c.begin(&ops[create], open)
			create++
		}
	}
	return open
}

// sameInstance reports whether two occupations are of the same instance of a GPU.
func sameInstance(a, b *occupation) bool { return a.gpu == b.gpu && a.key == b.key }

// begin adds the life that a create starts, unless a life is open. It returns the open life.
func (c *checker) begin(o *occupation, open int) int {
	if open != missing && o.id < 0 {
		e := c.p.Start[-1-o.id]
		c.add(BadProblem, "the start partition holds %v on GPU %d twice", e.Instance, e.GPU)
		return open
	}
	if open != missing {
		op := &c.s.Operations[o.id]
		c.add(AlreadyExists, "%v is created at %v s on GPU %d, where it exists", op.Instance, op.Start, op.GPU)
		return open
	}
	l := life{from: o.end, to: inf, atStart: o.id < 0}
	if l.atStart {
		l.from = c.p.Start[-1-o.id].BusyUntil
	}
	c.lives = append(c.lives, l)
	taken := *o
	taken.id, taken.end = int32(len(c.lives)-1), inf
	c.held = append(c.held, taken)
	return len(c.lives) - 1
}

// finish ends the open life with a destroy.
func (c *checker) finish(o *occupation, open int) {
	op := &c.s.Operations[o.id]
	if open == missing {
		c.add(NotExisting, "%v is destroyed at %v s on GPU %d, where it does not exist", op.Instance, op.Start, op.GPU)
		return
	}
	l := &c.lives[open]
	if later(l.from, op.Start) {
		if l.atStart {
			c.add(StillBusy, "%v is destroyed at %v s on GPU %d, where it is busy until %v s", op.Instance, op.Start,
				op.GPU, l.from)
		} else {
			c.add(NotExisting, "%v is destroyed at %v s on GPU %d, before its create ends at %v s",
				op.Instance, op.Start, op.GPU, l.from)
		}
	}
	l.to = op.Start
	c.held[open].end = op.End
}

// partitions checks that the instances on a GPU can exist together.
func (c *checker) partitions() {
	slices.SortFunc(c.held, byTime)
	reportOverlaps(c.held, func(a, b *occupation) {
		c.add(InvalidPartition, "%v takes slices of GPU %d from %v s, which %v has until %v s", c.instance(b), b.gpu,
			max(b.start, 0), c.instance(a), a.end)
	})

	latest := c.perKey()
	for i := range c.held {
		b := &c.held[i]
		latest[b.key] = i
		in := c.instance(b)
		// If the profile has at most Max starts, the geometry alone limits the number.
		if in.Profile.Max >= len(in.Profile.Starts) {
			continue
		}
		count := 0
		for _, s := range in.Profile.Starts {
			j := latest[b.key-int32(in.Start)+int32(s)]
			if j != missing && c.held[j].gpu == b.gpu && (j == i || clash(&c.held[j], b)) {
				count++
			}
		}
		if count > in.Profile.Max {
			c.add(TooManyInstances, "GPU %d holds %d instances of %v at %v s; it can hold %d", b.gpu, count, in.Profile,
				max(b.start, 0), in.Profile.Max)
		}
	}
}

// instance returns the instance of an occupation; it is the inverse of key.
func (c *checker) instance(s *occupation) mig.Instance {
	return mig.Instance{
		Profile: c.p.GPU.Profiles[s.key/int32(maskSlices)], Start: mig.Slices(s.key % int32(maskSlices)),
	}
}

// perKey returns a list by key of indices that are all missing.
func (c *checker) perKey() []int {
	return slices.Repeat([]int{missing}, len(c.p.GPU.Profiles)*int(maskSlices))
}

// existence checks that every run lies within a life of its instance. c.runs and c.held are sorted by GPU and time.
func (c *checker) existence() {
	latest := c.perKey()
	next := 0
	for i := range c.runs {
		r := &c.runs[i]
		for next < len(c.held) &&
			(c.held[next].gpu < r.gpu || c.held[next].gpu == r.gpu && !later(c.held[next].start, r.start)) {
			latest[c.held[next].key] = next
			next++
		}
		pl := &c.s.Placements[r.id]
		j := latest[r.key]
		if j == missing || c.held[j].gpu != r.gpu {
			c.add(NoInstance, "%q starts at %v s on %v of GPU %d, which is not there", c.name(pl.Task), pl.Start,
				pl.Instance, r.gpu)
			continue
		}
		l := &c.lives[c.held[j].id]
		if later(l.from, pl.Start) || later(pl.End, l.to) {
			c.add(NoInstance, "%q runs from %v to %v s on %v of GPU %d, which exists from %v to %v s",
				c.name(pl.Task), pl.Start, pl.End, pl.Instance, r.gpu, l.from, l.to)
		}
	}
}

// work checks that the runs do not take more slice-seconds than the GPUs have until the last run
// ends. The other checks imply this except for rounding, which this check keeps from adding up.
func (c *checker) work() {
	var busy SliceSeconds
	var last mig.Seconds
	for i := range c.runs {
		r := &c.runs[i]
		busy += SliceSeconds(SliceSeconds(c.instance(r).Size()) * SliceSeconds(r.end-r.start))
		last = max(last, r.end)
	}
	whole := SliceSeconds(c.p.GPU.ComputeSlices) * SliceSeconds(c.p.GPUs()) * SliceSeconds(last)
	if busy > whole*(1+fullness) {
		c.add(TooMuchWork, "the tasks take %v slice-seconds; up to the makespan the GPUs have %v", busy, whole)
	}
}
