package env

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/nearest"
)

// Encoding is the representation of task times in an observation (DRL 6.4).
type Encoding uint8

const (
	// Float writes a time as a fraction of the largest one.
	Float Encoding = iota
	// OneHot writes a time as a vector with a 1 at its level.
	OneHot
)

// UnmarshalText reads "float" or "one-hot". The error is a [*nearest.UnknownError].
func (e *Encoding) UnmarshalText(name []byte) error {
	names := []string{Float: "float", OneHot: "one-hot"}
	i := slices.Index(names, string(name))
	if i < 0 {
		return nearest.Unknown("encoding", string(name), names)
	}
	*e = Encoding(i)
	return nil
}

// BatchOptions choose a variant of the DRL paper's MDP. The zero values of all fields
// except GPU and Tasks are the paper's first model, in continuous time. Fields with a name in
// JSON are options of the library for Python.
type BatchOptions struct {
	GPU *mig.GPU `json:"-"`
	// Model is the cost model of [Batch.Makespan] and [Batch.Schedule]. In the MDP itself,
	// slices always reconfigure in parallel (DRL 4.2).
	Model mig.Reconfiguration `json:"-"`
	// Tasks is N, the number of tasks that the agent sees at once.
	Tasks int `json:"-"`
	// Levels is M, the number of levels of time, up to MaxLevels; 0 means continuous time.
	Levels int `json:"levels"`
	// Encoding is Float in continuous time.
	Encoding Encoding `json:"encoding"`
	// Direct makes every reconfiguration wait for its slices (DRL 6.5.2).
	Direct bool `json:"direct"`
	// Stream is the number of tasks of an episode that Reset draws. Those beyond the first
	// N replenish the batch in order of arrival (DRL 3, online). 0 means N, the offline
	// batch.
	Stream int `json:"stream"`
	// RandomStart makes Reset begin in a random canonical partition, whose instances are busy
	// with probability 1/2 for a random time up to the largest one. Without it, Reset begins
	// with the whole GPU as one idle instance.
	RandomStart bool `json:"random_start"`
	// Released follows the released code where it differs from the text. There are M+1 levels,
	// round(t/step)+1. Observations are plain numbers divided by the largest of M+1, N and the
	// number of partitions. Slices are renamed only as the partition requires. Rewards are
	// levels. At a random start each instance is busy for 0 to M levels.
	Released bool `json:"released"`
	// Reconfiguration is the time of reconfiguring a slice in the MDP; 0 means the times of the
	// GPU model. The released code of the online agent has 0.7 s.
	Reconfiguration mig.Seconds `json:"-"`
	// LevelRewards makes rewards levels, as Released does.
	LevelRewards bool `json:"-"`
	// Once forbids a second reconfiguration before a task has been executed with Direct, too.
	Once bool `json:"-"`
	// StartInLevels shows a slice that is busy for x seconds when Load begins on an unused
	// device as busy for x levels. In the released evaluation the environment draws levels,
	// which compute_makespan counts as seconds.
	StartInLevels bool `json:"-"`
	// Listed shows the tasks of the batch one by one in order of arrival, each as a class of its own, instead
	// of sorting and grouping them (DRL 4.1, "Canonical state representation").
	Listed bool `json:"-"`
	// Unmerged makes each of the useful partitions a state and an action of its own and keeps the slices under
	// their real names, instead of unifying equivalent partitions (DRL 4.1, "Equivalent configurations").
	Unmerged bool `json:"-"`
}

// MaxLevels is the largest M.
const MaxLevels = 1000

// Batch is the MDP of the DRL paper (4.1 to 4.3, 6.2 to 6.5). The agent executes a task on an instance of
// the MIG partition, changes the partition, or lets time advance. Where the paper is ambiguous, this is
// our reading.
//
// Partitions. The agent sees only canonical partitions, numbered as in [mig.GPU.Classes], with slices
// renamed by sigma (Fig. 5). Of the sigmas that Definition 1 allows, ours puts free slices first, so that
// equivalent states become one. A reconfiguration may lead to any real partition of the canonical one's
// class: the one that is complete first; of equals the one that changes the fewest slices, then the first in
// order. So in Fig. 5, 1-1-1-1-3 becomes 1-1-2-3 while the first two slices are busy.
//
// Time. A level is the largest finite time of the episode's tasks, also those in the queue, divided by M.
// A task's time is rounded to the nearest level, at least 1. Other times are fractions of levels. All are
// multiples of 2^-30 levels, so that sums are exact and equal instants stay equal. In continuous time the
// unit is the largest time itself.
//
// Classes. Tasks with the same level vector form one class. Classes are sorted by Num, with the time on
// the smallest instance as the first digit and infinity as the highest digit. Within a class, the first
// task to arrive is executed first. In continuous time each task is its own class.
//
// Actions. 0 is Advance, 1 to C reconfigure, and action C+1+jK+m executes class j on the m-th instance of
// the canonical partition if its time there is finite. A reconfiguration never leads to the current
// partition, nor to one on which no task of the batch fits. With Direct, it may not directly follow
// another. Without, it is not allowed again before a task has been executed: the paper forbids only two in
// a row, which lets a greedy policy alternate between reconfiguring and advancing forever.
//
// There is always an allowed action: while a slice is busy, Advance; when all are idle, a task, or a
// reconfiguration to a partition on which one fits, which the last one has not led to. Episodes end. With
// Direct, each Advance frees a slice or reaches an arrival, and each reconfiguration between two executions
// but the first needs an Advance before it. Without, only one adds slices to be freed.
//
// Reward. The time that passes, negated, as a fraction of the largest time or, as released, in levels. The
// last execution also pays for the time until all slices are idle: only Advance could follow, and with a
// discount of 1 the return is the same.
//
// Arrivals. A task joins the batch once it is released and fewer than N tasks are in the batch. Advance
// stops there if a slice is idle. On an idle GPU, it waits for the next arrival.
//
// In addition, a [Device] carries out every execution in seconds, so that the makespan does not depend on
// levels. Reset creates on it the instances with which the MDP begins. Load takes the device as it is; if
// it is empty, the makespan includes creating the first instance and the MDP does not.
//
// The device starts each task as early as possible and carries out only the reconfigurations that tasks
// need, so the makespan leaves out needless waiting and reconfiguring, which the reward includes. In
// continuous time, under [mig.Parallel] and with the same instances at the start, the negated return in
// seconds is never below the makespan. They are equal if tasks and reconfigurations begin as soon as their
// slices are free and each created instance runs a task, unless work that was running at the start ends
// later.
type Batch struct {
	o      BatchOptions
	source Source
	tables *batchTables
	device *Device
	sizes  []mig.Slices

	// The episode.
	tasks   []Times
	release []float64 // seconds, by task; empty if all have arrived
	first   int       // the number of task 0 on the device
	unit    float64   // seconds
	reward  float64   // of a unit
	create  [mig.MaxSize + 1]float64
	destroy [mig.MaxSize + 1]float64
	arrival []float64 // units, by task
	queue   []int32   // tasks in order of arrival
	scaled  []Times   // units, by task
	order   []int32   // tasks by class, those of a class in order of arrival
	class   []int32   // by task
	classes []batchClass
	rows    []float32 // the features of each class

	// The state.
	partition    int        // canonical
	sigma        [8]int8    // the real slice, by canonical slice
	remaining    [8]float64 // units, by canonical slice
	clock        float64    // units since the episode began
	joined       int        // tasks of the queue that have been in the batch
	waiting      int        // tasks in the batch
	batch        []int32    // its classes, ascending
	reconfigured bool       // no other reconfiguration is allowed yet
}

// A batchClass is a task class of the DRL paper (4.1).
type batchClass struct {
	// next is the place, in the order, of the task to be executed next.
	next int32
	// count is the number of tasks of the class in the batch.
	count int32
	// fits has bit s set if the class runs on size s.
	fits uint8
}

// grid is the number of steps in a unit of time.
const grid = 1 << 30

var _ Env = (*Batch)(nil)

// NewBatch returns an environment for tasks of the source. The source may be nil if only
// Load is used. The error is about options with a name in JSON.
func NewBatch(o BatchOptions, source Source) (*Batch, error) {
	switch {
	case o.Levels < 0 || o.Levels > MaxLevels:
		return nil, fmt.Errorf("batch environment: M is %d; it is 1 to %d, or 0 for continuous time",
			o.Levels, MaxLevels)
	case o.Levels == 0 && o.Encoding == OneHot:
		return nil, fmt.Errorf("batch environment: one-hot encoding needs levels; M is 0")
	case o.Levels == 0 && o.Released:
		return nil, fmt.Errorf("batch environment: the released code has levels; M is 0")
	case o.Stream < 0:
		return nil, fmt.Errorf("batch environment: a stream has %d tasks; it has at least 1, or 0 stands for N",
			o.Stream)
	}
	if o.Stream == 0 {
		o.Stream = o.Tasks
	}
	b := &Batch{
		o: o, source: source, device: NewDevice(o.GPU, o.Model), tables: newBatchTables(o.GPU, o.Unmerged),
		sizes: o.GPU.Sizes(),
		tasks: make([]Times, 0, o.Stream), batch: make([]int32, 0, o.Tasks),
	}
	return b, nil
}

// Device returns the GPU on which decisions are carried out. Before [Batch.Load] it may be
// reset and given instances.
func (b *Batch) Device() *Device { return b.device }

// Makespan returns the end of the last task, in seconds.
func (b *Batch) Makespan() float64 { return b.device.Makespan() }

// Reset implements [Env].
func (b *Batch) Reset(rng *rand.Rand) {
	b.device.Reset()
	n := b.source(rng, b.tasks[:b.o.Stream])
	b.tasks, b.release, b.first = b.tasks[:n], b.release[:0], 0
	b.scale()
	b.remaining = [8]float64{}
	b.partition = b.tables.whole
	if b.o.RandomStart {
		b.partition = rng.IntN(len(b.tables.partitions))
		b.busyStart(rng)
	} else {
		b.device.Exists(b.deviceInstance(0), 0)
	}
	b.begin(0, b.tables.partitions[b.partition].form)
}

// busyStart creates the partition's instances, some of them busy.
func (b *Batch) busyStart(rng *rand.Rand) {
	p := &b.tables.partitions[b.partition]
	for m := range p.instances {
		units := b.busyFor(rng)
		b.device.Exists(b.deviceInstance(m), units*b.unit)
		for s := p.instances[m]; s != 0; s &= s - 1 {
			b.remaining[bits.TrailingZeros8(s)] = units
		}
	}
}

// busyFor draws the time for which an instance is busy at a random start, in units.
func (b *Batch) busyFor(rng *rand.Rand) float64 {
	switch {
	case b.o.Released:
		return float64(rng.IntN(b.o.Levels + 1))
	case rng.IntN(2) > 0:
		return 0
	case b.o.Levels > 0:
		return float64(1 + rng.IntN(b.o.Levels))
	}
	return float64(1+rng.IntN(grid)) / grid
}

// deviceInstance returns the device's number of the partition's m-th instance. Slices are
// not renamed yet.
func (b *Batch) deviceInstance(m int) int {
	p := &b.tables.partitions[b.partition]
	first := bits.TrailingZeros8(p.instances[m])
	return int(b.tables.instance[b.tables.forms[p.form][first]][first])
}

// Load begins an episode with the given tasks, any number of them, in order of arrival, as
// [task.Batch.Validate] accepts them. The device keeps its state and numbers the tasks first,
// first+1 and so on. A task may not start before its release, in seconds; nil means that all
// have arrived. The error is nil.
//
// The episode begins when the first slice is free and the first task has arrived. Its partition is the useful one, the
// first by class, that agrees with the device on the most slices. No useful partition has an instance of 3 slices at 0.
// Beside other instances the agent sees it as an instance of 4 that is busy for the same time.
func (b *Batch) Load(tasks []Times, first int, release []float64) error {
	b.tasks = append(b.tasks[:0], tasks...)
	b.release = append(b.release[:0], release...)
	b.first = first
	b.scale()
	b.adopt()
	return nil
}

// adopt begins the episode in the state of the device.
func (b *Batch) adopt() {
	k := int(b.o.GPU.ComputeSlices)
	var free [8]float64 // seconds
	for s := range k {
		_, free[s] = b.device.Here(s)
	}
	start := slices.Min(free[:k])
	if len(b.release) > 0 {
		start = max(start, slices.Min(b.release))
	}
	best, form := -1, 0
	for f := range b.tables.forms {
		score := 0
		for s := range k {
			if here, _ := b.device.Here(s); here == int(b.tables.instance[b.tables.forms[f][s]][s]) {
				score++
			}
		}
		if score > best {
			best, form = score, f
		}
	}
	for s := range k {
		busy := max(0, free[s]-start)
		if b.o.StartInLevels && !b.device.Used() {
			busy *= b.unit
		}
		b.remaining[s] = b.snap(busy)
	}
	b.begin(start, form)
}

// begin adds the first tasks to the batch. start is the episode's instant 0, in seconds.
// Slices are still the real ones.
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

// rename makes the state canonical. The form decides its partition.
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

// canonical reports whether two groups of slices are in canonical order: larger instances
// first, then slices that are free first; as released, slices that really come first.
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
		if b.o.Direct && !b.o.Once {
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
	if idle && b.awaitsTask() {
		next = min(next, b.arrival[b.queue[b.joined]]-b.clock)
	}
	return next
}

// awaitsTask reports whether a task will join the batch if time passes.
func (b *Batch) awaitsTask() bool { return b.joined < len(b.queue) && b.waiting < b.o.Tasks }

func (b *Batch) pass(units float64) {
	for s := range b.remaining {
		b.remaining[s] = max(0, b.remaining[s]-units)
	}
	b.clock += units
	b.join()
}

// join adds the tasks that have arrived to the batch while it has room.
func (b *Batch) join() {
	for b.awaitsTask() {
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

// cost returns the time of destroying a slice's instance and creating the next one.
func (b *Batch) cost(w way, slice int) float64 {
	old := b.tables.partitions[b.partition].form
	return b.destroy[b.tables.forms[old][slice]] + b.create[b.tables.forms[w.form][slice]]
}

// delay returns the time after which a reconfiguration is complete, reconfig_delay in DRL 6.5.2.
func (b *Batch) delay(w way) float64 {
	delay := 0.0
	for m := w.changed; m != 0; m &= m - 1 {
		s := bits.TrailingZeros8(m)
		delay = max(delay, b.remaining[s]+b.cost(w, s))
	}
	return delay
}

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
	release := 0.0
	if len(b.release) > 0 {
		release = b.release[task]
	}
	b.device.Run(int(b.tables.instance[size][b.sigma[slice]]), b.first+int(task), b.tasks[task][size], release)
	b.join()
}
