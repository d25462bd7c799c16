package env

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// Encoding is how an agent sees the times of tasks (DRL 6.4).
type Encoding uint8

const (
	// Float writes a time as a fraction of the largest one.
	Float Encoding = iota
	// OneHot writes a time as a vector with a 1 at its level.
	OneHot
)

// BatchOptions choose a variant of the DRL paper's MDP. The zero values of all but
// GPU and Tasks are the paper's first model in continuous time.
type BatchOptions struct {
	GPU *mig.GPU
	// Model is what [Batch.Makespan] and [Batch.Schedule] charge for reconfiguring.
	// The MDP itself always lets slices reconfigure in parallel (DRL 4.2).
	Model mig.Reconfiguration
	// Tasks is N, how many tasks the agent sees at once.
	Tasks int
	// Levels is M, how many levels time has, up to MaxLevels; 0 means continuous time.
	Levels int
	// Encoding is Float in continuous time.
	Encoding Encoding
	// Direct lets every reconfiguration wait for its slices (DRL 6.5.2).
	Direct bool
	// Stream is how many tasks an episode has of those that Reset draws: those beyond
	// the first N replenish the batch in order of arrival (DRL 3, online). 0 means N,
	// the offline batch.
	Stream int
	// RandomStart lets Reset begin in a random canonical partition, each instance of
	// which is busy for a random time with probability 1/2, as the released code
	// trains. Otherwise Reset begins with the whole GPU as one idle instance.
	RandomStart bool
	// Released follows the released code where it differs from the text: level
	// round(t/step)+1, so that there are M+1 of them; observations that are plain
	// numbers divided by the largest of M+1, N and the number of partitions; and slices
	// that are renamed for the partition's sake only.
	Released bool
}

// MaxLevels is the largest M.
const MaxLevels = 1000

// Batch is the MDP of the DRL paper (4.1 to 4.3, 6.2 to 6.5): tasks of a batch are
// executed on the instances of a MIG partition, the partition is changed, or time
// advances. Where the paper leaves a choice, this is how it was read.
//
// Partitions. Only canonical ones are seen, numbered as [mig.GPU.Classes] lists
// them, slices renamed by sigma (Fig. 5). Definition 1 leaves several sigmas: it is
// the one that puts the slices first that are free first, so that equivalent states
// are one. A reconfiguration to a canonical partition may lead to any real one of
// its class: in Fig. 5, 1-1-1-1-3 becomes 1-1-2-3 while the first two slices are
// busy. It is the one that is there first, then the one that changes fewest slices,
// and then those that come first.
//
// Time. A level is the largest finite time of the episode's tasks, those still in
// the queue included, divided by M. Tasks take the nearest level from 1 on;
// reconfigurations take fractions of levels, as do start times. All are multiples of
// 2^-30 levels, so that sums are exact and equal instants stay equal. In continuous
// time the unit is the largest time itself.
//
// Classes. Tasks of the same level vector are one class, sorted by Num with the time
// on the smallest instance as the first digit and infinity as the highest one. Of a
// class the first to arrive is executed first. In continuous time each task is a
// class of its own.
//
// Actions. 0 is Advance, 1 to C reconfigure, and from C+1 on action C+1+jK+m
// executes class j on the m-th instance of the canonical partition. A class is not
// executed on a size on which its time is infinite. The current partition is never a
// target, nor is one on no instance of which any task of the batch fits. Without
// Direct there is no second reconfiguration before a task has been executed; the
// paper forbids two in a row, which lets a greedy policy alternate between
// reconfiguring and advancing for ever. With Direct there is none right after one.
//
// Episodes end. With Direct, time that passes never makes slices busy, so that
// between two executions each Advance frees one of K slices or meets an arrival, and
// each but one reconfiguration needs one of them before it. Without Direct the one
// reconfiguration between two executions adds K slices to be freed. And an action is
// always left: Advance while a slice is busy; when all are idle, a task can be
// executed, or else none fits the partition, which is then not the target of the
// last reconfiguration, and one on which it does can be chosen.
//
// Reward. What time passes, negated, as a fraction of the largest time. The last
// execution also pays the time until all slices are idle: only Advance could follow,
// and with a discount of 1 the return is the same.
//
// Arrivals. A task joins the batch when it is released and fewer than N are in it;
// Advance stops there if a slice is idle, and is allowed on an idle GPU to wait.
//
// Beside the MDP every execution is carried out on a [Device], in seconds: its
// makespan is that of the decisions, whatever levels did to the times. Reset puts the
// instances on it that the MDP begins with; Load takes it as it is, and where it is
// empty the makespan pays for creating the first instance and the MDP does not.
//
// The device starts each task as soon as it can, and reconfigures what a task needs as
// early as it can and nothing else. So makespans, by which agents are scored, leave out
// what an agent waited or reconfigured for nothing, and the MDP pays for it. In
// continuous time, under [mig.Parallel] and with the same instances at the start, the
// negated return in seconds is never below the makespan. The two are equal, unless work
// found at the start ends later, if tasks and reconfigurations begin the instant that
// their slices are free and each instance created runs a task.
type Batch struct {
	o      BatchOptions
	source Source
	tables *batchTables
	device *Device
	sizes  []mig.Slices

	// The episode.
	tasks   []Times
	release []float64 // seconds, by task; empty where all are there
	first   int       // what the device calls task 0
	unit    float64   // seconds
	reward  float64   // of a unit
	create  [mig.MaxSize + 1]float64
	destroy [mig.MaxSize + 1]float64
	arrival []float64 // units, by task
	queue   []int32   // tasks in order of arrival
	scaled  []Times   // units, by task
	place   []int32   // in the queue, by task
	order   []int32   // tasks by class, those of a class in order of arrival
	class   []int32   // by task
	classes []batchClass
	rows    []float32 // what is seen of each class

	// The state.
	partition    int        // canonical
	sigma        [8]int8    // the real slice, by canonical slice
	remaining    [8]float64 // units, by canonical slice
	clock        float64    // units since the episode began
	joined       int        // tasks of the queue that have been in the batch
	waiting      int        // tasks in the batch
	batch        []int32    // its classes, ascending
	reconfigured bool       // and no other reconfiguration is allowed yet
	released     [8]float64 // seconds, by real slice: see ReleasedMakespan
}

// A batchClass is a task class of the DRL paper (4.1).
type batchClass struct {
	// next is where the next task to be executed stands in the order.
	next int32
	// count is how many tasks of the class are in the batch.
	count int32
	// fits has bit s set if the class runs on size s.
	fits uint8
}

// grid is the number of steps in a unit of time.
const grid = 1 << 30

var _ Env = (*Batch)(nil)

// NewBatch returns an environment for tasks of the source, which may be nil if only
// Load is used.
func NewBatch(o BatchOptions, source Source) (*Batch, error) {
	switch {
	case o.GPU == nil:
		return nil, fmt.Errorf("batch environment: no GPU is given")
	case o.Tasks < 1:
		return nil, fmt.Errorf("batch environment: N is %d; it is at least 1", o.Tasks)
	case o.Levels < 0 || o.Levels > MaxLevels:
		return nil, fmt.Errorf("batch environment: M is %d; it is 1 to %d, or 0 for continuous time", o.Levels, MaxLevels)
	case o.Encoding > OneHot:
		return nil, fmt.Errorf("batch environment: there is no encoding %d", o.Encoding)
	case o.Levels == 0 && o.Encoding == OneHot:
		return nil, fmt.Errorf("batch environment: one-hot encoding needs levels; M is 0")
	case o.Levels == 0 && o.Released:
		return nil, fmt.Errorf("batch environment: the released code has levels; M is 0")
	case o.Stream < 0:
		return nil, fmt.Errorf("batch environment: a stream has %d tasks; it has at least 1, or 0 stands for N", o.Stream)
	}
	if o.Stream == 0 {
		o.Stream = o.Tasks
	}
	b := &Batch{
		o: o, source: source, device: NewDevice(o.GPU, o.Model), tables: newBatchTables(o.GPU), sizes: o.GPU.Sizes(),
		tasks: make([]Times, 0, o.Stream), batch: make([]int32, 0, o.Tasks),
	}
	return b, nil
}

// Device returns the GPU that decisions are carried out on. It may be reset and
// given instances before [Batch.Load].
func (b *Batch) Device() *Device { return b.device }

// Makespan returns the end of the last task, in seconds.
func (b *Batch) Makespan() float64 { return b.device.Makespan() }

// Schedule returns what has been decided since the device was reset.
func (b *Batch) Schedule() schedule.Schedule { return b.device.Schedule() }

// ReleasedMakespan returns the makespan of the released code, in seconds: in the
// order of the actions each task starts when the slices of its instance have done
// what they were given before. Reconfiguring takes no time.
func (b *Batch) ReleasedMakespan() float64 { return slices.Max(b.released[:]) }

// Reset implements [Env].
func (b *Batch) Reset(rng *rand.Rand) {
	b.device.Reset()
	n := b.source(rng, b.tasks[:b.o.Stream])
	b.tasks, b.release, b.first = b.tasks[:n], b.release[:0], 0
	b.scale()
	b.remaining = [8]float64{}
	b.released = [8]float64{}
	b.partition = b.tables.whole
	if b.o.RandomStart {
		b.partition = rng.IntN(len(b.tables.partitions))
		b.busyStart(rng)
	} else {
		b.device.Exists(b.deviceInstance(0), 0)
	}
	b.begin(0, b.tables.partitions[b.partition].form)
}

// busyStart puts the partition's instances in place, some of them busy.
func (b *Batch) busyStart(rng *rand.Rand) {
	p := &b.tables.partitions[b.partition]
	for m := range p.instances {
		units := 0.0
		if rng.IntN(2) == 0 {
			if b.o.Levels > 0 {
				units = float64(1 + rng.IntN(b.o.Levels))
			} else {
				units = float64(1+rng.IntN(grid)) / grid
			}
		}
		b.device.Exists(b.deviceInstance(m), units*b.unit)
		for s := p.instances[m]; s != 0; s &= s - 1 {
			b.remaining[bits.TrailingZeros8(s)] = units
			b.released[bits.TrailingZeros8(s)] = units * b.unit
		}
	}
}

// deviceInstance returns what the device calls the partition's m-th instance, slices
// not renamed yet.
func (b *Batch) deviceInstance(m int) int {
	p := &b.tables.partitions[b.partition]
	first := bits.TrailingZeros8(p.instances[m])
	return int(b.tables.device[b.tables.forms[p.form][first]][first])
}

// Load begins an episode with tasks that are given, in order of arrival, any number
// of them. The device stays as it is, whatever has happened on it; it calls the
// tasks first, first+1 and so on. A task may not start before its release, in
// seconds; nil means that all are there.
//
// The episode begins when the first slice is free and the first task is there, in
// the first of the useful partitions, by class, that holds the instances on the
// device. Only 3 slices at 0 are in none of them: the agent sees an instance of 4,
// busy for as long.
func (b *Batch) Load(tasks []Times, first int, release []float64) error {
	if len(tasks) == 0 {
		return fmt.Errorf("batch environment: there are no tasks; an episode has at least one")
	}
	if release != nil && len(release) != len(tasks) {
		return fmt.Errorf("batch environment: %d releases for %d tasks; each has one", len(release), len(tasks))
	}
	for i := range tasks {
		if err := b.judge(&tasks[i]); err != nil {
			return fmt.Errorf("batch environment: task %d %w", i, err)
		}
		if release != nil && !(release[i] >= 0 && release[i] <= math.MaxFloat64) {
			return fmt.Errorf("batch environment: task %d is released at %v; it has to be a finite instant from 0 on", i, release[i])
		}
	}
	b.tasks = append(b.tasks[:0], tasks...)
	b.release = append(b.release[:0], release...)
	b.first = first
	b.scale()
	b.adopt()
	return nil
}

// judge completes the sentence "task ... ".
func (b *Batch) judge(t *Times) error {
	fits := false
	for _, s := range b.sizes {
		if !(t[s] > 0) {
			return fmt.Errorf("takes %v s on size %d; it has to be above 0", t[s], s)
		}
		fits = fits || !math.IsInf(t[s], 1)
	}
	if !fits {
		return fmt.Errorf("fits no instance")
	}
	return nil
}

// adopt begins where the device is.
func (b *Batch) adopt() {
	k := int(b.o.GPU.ComputeSlices)
	start := math.Inf(1)
	for s := range k {
		_, b.released[s] = b.device.Here(s)
		start = min(start, b.released[s])
	}
	if len(b.release) > 0 {
		start = max(start, slices.Min(b.release))
	}
	best, form := -1, 0
	for f := range b.tables.forms {
		score := 0
		for s := range k {
			if here, _ := b.device.Here(s); here == int(b.tables.device[b.tables.forms[f][s]][s]) {
				score++
			}
		}
		if score > best {
			best, form = score, f
		}
	}
	for s := range k {
		b.remaining[s] = b.snap(max(0, b.released[s]-start))
	}
	b.begin(start, form)
}

// begin lets the first tasks join. start is the episode's instant 0, in seconds; the
// slices are real ones so far.
func (b *Batch) begin(start float64, form int) {
	for i, seconds := range b.release {
		b.arrival[i] = b.snap(max(0, seconds-start))
	}
	b.clock, b.joined, b.waiting = 0, 0, 0
	b.batch = b.batch[:0]
	b.reconfigured = false
	b.join()
	for s := range b.sigma {
		b.sigma[s] = int8(s)
	}
	b.rename(form)
}

// rename makes the state canonical that is partitioned as the form says.
func (b *Batch) rename(form int) {
	size := b.tables.forms[form]
	for _, w := range b.tables.swaps {
		if !b.canonical(w, &size) {
			for i := range w.width {
				x, y := w.a+i, w.b+i
				size[x], size[y] = size[y], size[x]
				b.remaining[x], b.remaining[y] = b.remaining[y], b.remaining[x]
				b.sigma[x], b.sigma[y] = b.sigma[y], b.sigma[x]
			}
		}
	}
	b.partition = b.tables.canonical[form]
}

// canonical reports whether two groups of slices may stay as they are: the larger
// instances come first, then the slices that are free first, as released those that
// really are first.
func (b *Batch) canonical(w swap, size *sizeVector) bool {
	for i := range w.width {
		if x, y := size[w.a+i], size[w.b+i]; x != y {
			return x > y
		}
	}
	if b.o.Released {
		return b.sigma[w.a] < b.sigma[w.b]
	}
	for i := range w.width {
		if x, y := b.remaining[w.a+i], b.remaining[w.b+i]; x != y {
			return x < y
		}
	}
	return true
}

// Step implements [Env].
func (b *Batch) Step(action int) (reward float32, done bool) {
	units := 0.0
	first := 1 + len(b.tables.partitions)
	switch {
	case action == 0:
		units = b.next()
		b.pass(units)
		if b.o.Direct {
			b.reconfigured = false
		}
	case action < first:
		units = b.reconfigure(action - 1)
	default:
		k := int(b.o.GPU.ComputeSlices)
		b.execute((action-first)/k, (action-first)%k)
		if b.waiting == 0 && b.joined == len(b.queue) {
			units, done = slices.Max(b.remaining[:]), true
			b.pass(units)
		}
	}
	b.rename(b.tables.partitions[b.partition].form)
	return float32(-units * b.reward), done
}

// next returns the time until the next instance completes, next_time in DRL 4.2, or
// until a task joins the batch.
func (b *Batch) next() float64 {
	next := math.Inf(1)
	idle := false
	for _, r := range b.remaining[:b.o.GPU.ComputeSlices] {
		if r > 0 {
			next = min(next, r)
		} else {
			idle = true
		}
	}
	if idle && b.awaited() {
		next = min(next, b.arrival[b.queue[b.joined]]-b.clock)
	}
	return next
}

// awaited reports whether a task will join the batch if time passes.
func (b *Batch) awaited() bool { return b.joined < len(b.queue) && b.waiting < b.o.Tasks }

func (b *Batch) pass(units float64) {
	for s := range b.remaining {
		b.remaining[s] = max(0, b.remaining[s]-units)
	}
	b.clock += units
	b.join()
}

// join lets tasks that are there into the batch while it has room.
func (b *Batch) join() {
	for b.awaited() {
		t := b.queue[b.joined]
		if b.arrival[t] > b.clock {
			return
		}
		c := b.class[t]
		if b.classes[c].count == 0 {
			at, _ := slices.BinarySearch(b.batch, c)
			b.batch = slices.Insert(b.batch, at, c)
		}
		b.classes[c].count++
		b.waiting++
		b.joined++
	}
}

// reconfigure changes the partition to a canonical one (DRL 4.2, with Direct 6.5.2)
// and returns the time that passes.
func (b *Batch) reconfigure(to int) float64 {
	ways := b.tables.ways[b.partition][to]
	best, delay := 0, math.Inf(1)
	for i, w := range ways {
		if d := b.delay(w); d < delay && (b.o.Direct || w.changed&b.busy() == 0) {
			best, delay = i, d
		}
	}
	w := ways[best]
	for m := w.changed; m != 0; m &= m - 1 {
		s := bits.TrailingZeros8(m)
		b.remaining[s] += b.cost(w, s)
	}
	b.reconfigured = true
	if b.o.Direct {
		b.pass(delay)
	} else {
		delay = 0
	}
	b.rename(w.form)
	return delay
}

// cost is what destroying a slice's instance and creating the next one takes.
func (b *Batch) cost(w way, slice int) float64 {
	old := b.tables.partitions[b.partition].form
	return b.destroy[b.tables.forms[old][slice]] + b.create[b.tables.forms[w.form][slice]]
}

// delay is the time after which a reconfiguration is complete, reconfig_delay in
// DRL 6.5.2.
func (b *Batch) delay(w way) float64 {
	delay := 0.0
	for m := w.changed; m != 0; m &= m - 1 {
		s := bits.TrailingZeros8(m)
		delay = max(delay, b.remaining[s]+b.cost(w, s))
	}
	return delay
}

// busy returns the set of slices that are not free.
func (b *Batch) busy() (set uint8) {
	for s, r := range b.remaining {
		if r > 0 {
			set |= 1 << s
		}
	}
	return set
}

// execute starts the j-th class's first task on the m-th instance.
func (b *Batch) execute(j, m int) {
	c := b.batch[j]
	class := &b.classes[c]
	task := b.order[class.next]
	class.next++
	class.count--
	b.waiting--
	if class.count == 0 {
		b.batch = slices.Delete(b.batch, j, j+1)
	}
	b.reconfigured = false
	p := &b.tables.partitions[b.partition]
	slice := bits.TrailingZeros8(p.instances[m])
	size := b.tables.forms[p.form][slice]
	for mask := p.instances[m]; mask != 0; mask &= mask - 1 {
		b.remaining[bits.TrailingZeros8(mask)] = b.scaled[task][size]
	}
	b.run(int(b.tables.device[size][b.sigma[slice]]), int(task), b.tasks[task][size])
	b.join()
}

// run carries a decision out in seconds.
func (b *Batch) run(instance, task int, seconds float64) {
	end := 0.0
	if len(b.release) > 0 {
		end = b.release[task]
	}
	b.device.Run(instance, b.first+task, seconds, end)
	for m := b.tables.compute[instance]; m != 0; m &= m - 1 {
		end = max(end, b.released[bits.TrailingZeros8(m)])
	}
	end += seconds
	for m := b.tables.compute[instance]; m != 0; m &= m - 1 {
		b.released[bits.TrailingZeros8(m)] = end
	}
}
