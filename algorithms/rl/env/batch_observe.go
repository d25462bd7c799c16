package env

import (
	"math"
	"math/bits"
	"slices"
)

// Shape implements [Env].
func (b *Batch) Shape() Shape {
	return Shape{
		Observation: b.header() + b.options.Tasks*b.row(),
		Actions:     b.firstExecution() + b.options.Tasks*int(b.options.GPU.ComputeSlices),
	}
}

// Bounds implements [Scheduler]. The remaining times have no upper bound, because a reconfiguration may take longer
// than the longest task.
func (b *Batch) Bounds() []Range {
	k := int(b.options.GPU.ComputeSlices)
	rows := b.options.Tasks * b.row()
	partition := 1
	if b.options.Encoding == OneHot {
		partition = len(b.tables.partitions)
	}
	return []Range{{partition, 0, 1}, {k, 0, math.Inf(1)}, {b.header() - partition - k, 0, 1}, {rows, -1, 1}}
}

// header returns the number of values before the rows of the classes.
func (b *Batch) header() int {
	n := 1 + int(b.options.GPU.ComputeSlices)
	if b.options.Encoding == OneHot {
		n += len(b.tables.partitions) - 1
	}
	if b.options.Direct {
		n++
	}
	return n
}

// row returns the number of values of a class.
func (b *Batch) row() int {
	n := len(b.sizes)
	if b.options.Encoding == OneHot {
		n *= b.highestLevel()
	}
	if b.options.Levels > 0 {
		n++
	}
	return n
}

// highestLevel returns the largest level that a task's time can have.
func (b *Batch) highestLevel() int {
	if b.options.Released {
		return b.options.Levels + 1
	}
	return b.options.Levels
}

// divisors returns the numbers by which an observation divides times in units, counts of tasks and the number of the
// partition.
func (b *Batch) divisors() (time, count, partition float64) {
	if b.options.Released {
		d := float64(max(b.options.Levels+1, b.options.Tasks, len(b.options.GPU.Partitions())))
		return d, d, d
	}
	return float64(max(1, b.options.Levels)), float64(b.options.Tasks), float64(len(b.tables.partitions))
}

// encode appends to rows the row of a class with the given times in units. Its count of tasks is 0.
func (b *Batch) encode(times *Times) {
	divisor, _, _ := b.divisors()
	for _, s := range b.sizes {
		t := times[s]
		switch {
		case b.options.Encoding == Float && math.IsInf(t, 1):
			b.rows = append(b.rows, -1)
		case b.options.Encoding == Float:
			b.rows = append(b.rows, float32(t/divisor))
		default:
			for level := 1; level <= b.highestLevel(); level++ {
				var x float32
				switch {
				case math.IsInf(t, 1):
					x = -1
				case level == int(t):
					x = 1
				}
				b.rows = append(b.rows, x)
			}
		}
	}
	if b.options.Levels > 0 {
		b.rows = append(b.rows, 0)
	}
}

// Observe implements [Env]. An observation has, with the number of values first:
//
//	1        the partition's number over the number of partitions
//	K        the remaining time of each canonical slice
//	1        with Direct: 1 while no other reconfiguration is allowed, else 0
//	N rows   the classes of the batch, then zeros; a row has
//	           the time on each size, ascending, or -1 if it is infinite
//	           unless time is continuous, the number of tasks over N
//
// Times are fractions of the largest time. In one-hot encoding, the partition has a value for each partition, and a
// time has a value for each level, all of them -1 if it is infinite. As released, all numbers have one divisor instead
// ([BatchOptions.Released]). The paper prints N·M·K inputs for one-hot batches, but a task has a time for each size
// (4.1), not for each of K slices. The remaining times stay single values because, once the GPU has been reconfigured,
// they are not whole levels.
//
// Advance is allowed while a slice is busy, or while the batch has room for a task that is still to arrive. An
// execution is allowed on an idle instance where the time is finite. A reconfiguration is allowed to another partition
// on which a task of the batch fits. With Direct, it may not directly follow another one. Without Direct, the slices
// that it changes must be idle, and a second one is not allowed before a task has been executed: the paper forbids only
// two in a row, which lets a greedy policy alternate between reconfiguring and advancing forever.
//
// Some action is always allowed: a second reconfiguration is forbidden only while a task of the batch fits the
// partition. Episodes end: with Direct, each Advance frees a slice or reaches an arrival, and between two executions
// each reconfiguration but the first needs an Advance before it; without Direct, there is only one.
func (b *Batch) Observe(observation []float32, mask []bool) {
	b.observe(observation)
	b.allow(mask)
	if b.options.Penalty > 0 {
		b.allowed = append(b.allowed[:0], mask...)
		for i := range mask {
			mask[i] = true
		}
	}
}

func (b *Batch) observe(out []float32) {
	time, count, partition := b.divisors()
	if b.options.Encoding == OneHot {
		clear(out[:len(b.tables.partitions)])
		out[b.partition] = 1
		out = out[len(b.tables.partitions):]
	} else {
		out[0] = float32(float64(b.partition) / partition)
		out = out[1:]
	}
	k := int(b.options.GPU.ComputeSlices)
	for s := range k {
		out[s] = float32(b.remaining[s] / time)
	}
	out = out[k:]
	if b.options.Direct {
		out[0] = 0
		if b.reconfigured {
			out[0] = 1
		}
		out = out[1:]
	}
	row := b.row()
	for _, c := range b.batch {
		copy(out[:row], b.rows[int(c)*row:])
		if b.options.Levels > 0 {
			out[row-1] = float32(float64(b.classes[c].count) / count)
		}
		out = out[row:]
	}
	clear(out)
}

// allow sets the mask of the allowed actions; see [Batch.Observe].
func (b *Batch) allow(mask []bool) {
	busy := b.busySlices()
	mask[0] = busy != 0 || b.awaitsTask()
	first := b.firstExecution()
	b.allowReconfigurations(mask[1:first], busy)
	b.allowExecutions(mask[first:], busy)
}

func (b *Batch) allowExecutions(mask []bool, busy uint8) {
	p := &b.tables.partitions[b.partition]
	var idle uint8 // set of instances
	for m, set := range p.instances {
		if set&busy == 0 {
			idle |= 1 << m
		}
	}
	clear(mask)
	k := int(b.options.GPU.ComputeSlices)
	for j, c := range b.batch {
		allowed := idle
		for missing := p.sizes &^ b.classes[c].fits; missing != 0; missing &= missing - 1 {
			allowed &^= p.ofSize[bits.TrailingZeros8(missing)]
		}
		for m := range p.instances {
			mask[j*k+m] = allowed>>m&1 == 1
		}
	}
}

func (b *Batch) allowReconfigurations(mask []bool, busy uint8) {
	clear(mask)
	if b.reconfigured {
		return
	}
	if b.options.Direct {
		busy = 0 // Busy slices may be changed; the reconfiguration waits for them.
	}
	var fits uint8 // sizes on which some task of the batch fits
	for _, c := range b.batch {
		fits |= b.classes[c].fits
	}
	for c := range mask {
		mask[c] = c != b.partition && b.tables.partitions[c].sizes&fits != 0 &&
			reachable(b.tables.ways[b.partition][c], busy)
	}
}

// reachable reports whether one of the ways leaves all busy slices as they are.
func reachable(ways []way, busy uint8) bool {
	return slices.ContainsFunc(ways, func(w way) bool { return w.changed&busy == 0 })
}
