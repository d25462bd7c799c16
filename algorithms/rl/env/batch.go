package env

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"miglab/harness/mig"
)

// Batch is the MDP of the DRL paper (4.1 to 4.3, 6.2 to 6.5). The agent executes a task on an instance of the MIG
// partition, changes the partition, or lets time advance. Where the paper is ambiguous, this is our reading.
//
// Partitions. The agent sees only canonical partitions, one for each class of equivalent ones, numbered as in
// [mig.GPU.Classes]. A permutation sigma (Fig. 5) gives slices other names to make a partition canonical. Of the
// permutations that Definition 1 allows, Batch takes the one that puts free slices first, so that equivalent states
// become one. A reconfiguration may lead to any real partition of the canonical one's class. Batch takes the one that
// is complete first; of equals the one that changes the fewest slices, then the first in order. For example, in Fig. 5
// the partition 1-1-1-1-3 becomes 1-1-2-3 while the first two slices are busy.
//
// Time. A level is the largest finite time of the episode's tasks, divided by M. A task's time is rounded to the
// nearest level, at least 1. Other times are fractions of levels. In continuous time, the unit is the largest time
// itself instead of a level. All times are multiples of 2^-30 units, so that sums are exact and equal instants stay
// equal.
//
// Classes. Tasks with the same times in levels form one class. Classes are sorted by Num (DRL 4.1), which has the time
// on the smallest instance as its first digit and infinity as the highest digit. Within a class, the first
// task to arrive is executed first. In continuous time each task is its own class.
//
// Actions. 0 is Advance, 1 to C reconfigure to a canonical partition, and action C+1+jK+m executes a task of class j of
// the batch on the m-th instance of the canonical partition; K is the number of compute slices. The mask says which
// actions are allowed; see [Batch.Observe].
//
// Reward. The time that passes, negated, as a fraction of the largest time or, as released, in levels. The
// last execution also pays for the time until all slices are idle: only Advance could follow, and with a
// discount of 1 the return is the same.
//
// Arrivals. A task joins the batch once it is released and fewer than N tasks are in the batch. If a slice is idle,
// Advance ends when the next task joins, even if no slice becomes free before. On an idle GPU, it waits for the next
// arrival.
//
// In addition, a [Device] carries out every execution in seconds, so that the makespan does not depend on
// levels. Reset creates on it the instances with which the MDP begins. Load takes the device as it is; if
// it is empty, the makespan includes creating the first instance and the MDP does not.
//
// The device starts each task as early as possible and carries out only the reconfigurations that tasks need. The
// reward includes needless waiting and reconfiguring, and the makespan does not. In continuous time, under
// [mig.Parallel] and with the same instances at the start, the negated return in seconds is never below the makespan.
// They are equal if tasks and reconfigurations begin as soon as their slices are free and each created instance runs a
// task, unless work that was running at the start ends later.
type Batch struct {
	options BatchOptions
	source  Source
	tables  *batchTables
	device  *Device
	sizes   []mig.Slices

	// The episode.
	tasks       []Times
	release     []float64 // seconds, by task; empty if all have arrived
	firstNumber int       // the number of task 0 on the device
	unit        float64   // seconds
	unitReward  float64   // the negated reward of a unit of time
	create      [mig.MaxSize + 1]float64
	destroy     [mig.MaxSize + 1]float64
	arrival     []float64 // units, by task
	queue       []int32   // tasks in order of arrival
	scaled      []Times   // units, by task
	order       []int32   // tasks by class, those of a class in order of arrival
	class       []int32   // by task
	classes     []batchClass
	rows        []float32 // the features of each class

	// The state.
	partition    int        // canonical
	sigma        [8]int8    // the real slice, by canonical slice
	remaining    [8]float64 // units, by canonical slice
	clock        float64    // units since the episode began
	joined       int        // tasks of the queue that have been in the batch
	waiting      int        // tasks in the batch
	batch        []int32    // its classes, ascending
	reconfigured bool       // no other reconfiguration is allowed yet
	allowed      []bool     // with Penalty: the actions that were allowed in the last Observe
}

// A batchClass is a task class of the DRL paper (4.1).
type batchClass struct {
	next  int32 // the index in [Batch].order of the task to be executed next
	count int32 // the number of tasks of the class in the batch
	fits  uint8 // bit s set if the class runs on size s
}

// grid is the number of steps in a unit of time.
const grid = 1 << 30

var _ Scheduler = (*Batch)(nil)

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
		options: o, source: source, device: NewDevice(o.GPU, o.Model), tables: newBatchTables(o.GPU, o.Unmerged),
		sizes: o.GPU.Sizes(),
		tasks: make([]Times, 0, o.Stream), batch: make([]int32, 0, o.Tasks),
	}
	return b, nil
}

// Device implements [Scheduler].
func (b *Batch) Device() *Device { return b.device }

// Step implements [Env].
func (b *Batch) Step(action int) (reward float32, done bool) {
	if b.options.Penalty > 0 && !b.allowed[action] {
		return -b.options.Penalty, false
	}
	units := 0.0
	k, execution := int(b.options.GPU.ComputeSlices), action-b.firstExecution()
	switch {
	case action == 0:
		units = b.untilNextEvent()
		b.elapse(units)
		if b.options.Direct {
			b.reconfigured = false
		}
	case execution < 0:
		units = b.reconfigure(action - 1)
	default:
		b.execute(execution/k, execution%k)
		if b.waiting == 0 && b.joined == len(b.queue) {
			units, done = slices.Max(b.remaining[:]), true
			b.elapse(units)
		}
	}
	b.rename(b.tables.partitions[b.partition].form)
	return float32(-units * b.unitReward), done
}

// firstExecution is the first action that executes a task.
func (b *Batch) firstExecution() int { return 1 + len(b.tables.partitions) }

// untilNextEvent returns the time until the next instance completes, next_time in DRL 4.2, or
// until a task joins the batch.
func (b *Batch) untilNextEvent() float64 {
	next := math.Inf(1)
	idle := false
	for _, r := range b.remaining[:b.options.GPU.ComputeSlices] {
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
func (b *Batch) awaitsTask() bool { return b.joined < len(b.queue) && b.waiting < b.options.Tasks }

// elapse lets time pass.
func (b *Batch) elapse(units float64) {
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

// reconfigure changes the partition to a canonical one (DRL 4.2, with Direct 6.5.2) and returns the time that passes.
func (b *Batch) reconfigure(to int) float64 {
	var best way
	delay := math.Inf(1)
	for _, w := range b.tables.ways[b.partition][to] {
		allowed := b.options.Direct || w.changed&b.busySlices() == 0
		if d := b.completion(w); allowed && d < delay {
			best, delay = w, d
		}
	}
	for m := best.changed; m != 0; m &= m - 1 {
		s := bits.TrailingZeros8(m)
		b.remaining[s] += b.changeTime(best, s)
	}
	b.reconfigured = true
	if b.options.Direct {
		b.elapse(delay)
	} else {
		delay = 0
	}
	b.rename(best.form)
	return delay
}

// changeTime returns the time of destroying a slice's instance and creating the next one.
func (b *Batch) changeTime(w way, slice int) float64 {
	old := b.tables.partitions[b.partition].form
	return b.destroy[b.tables.forms[old][slice]] + b.create[b.tables.forms[w.form][slice]]
}

// completion returns the time after which a reconfiguration is complete, reconfig_delay in DRL 6.5.2.
func (b *Batch) completion(w way) float64 {
	delay := 0.0
	for m := w.changed; m != 0; m &= m - 1 {
		s := bits.TrailingZeros8(m)
		delay = max(delay, b.remaining[s]+b.changeTime(w, s))
	}
	return delay
}

// busySlices returns the set of canonical slices that are busy.
func (b *Batch) busySlices() (set uint8) {
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
	b.device.Run(int(b.tables.instance[size][b.sigma[slice]]), b.firstNumber+int(task), b.tasks[task][size], release)
	b.join()
}

// rename puts the slices into canonical order. form is the partition under the present names of the slices.
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
	if b.options.Released {
		return b.sigma[w.a] < b.sigma[w.b]
	}
	for i := range w.width {
		if x, y := b.remaining[w.a+i], b.remaining[w.b+i]; x != y {
			return x < y
		}
	}
	return true
}
