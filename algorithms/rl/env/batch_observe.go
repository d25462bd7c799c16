package env

import (
	"math"
	"math/bits"
)

// Shape implements [Env].
//
// An observation holds the partition (one value, or one-hot one for each), the
// remaining time of each canonical slice, with Direct a bit that is 1 while
// no other reconfiguration is allowed, and for each of the N classes its time on each
// size, ascending (one value, or one-hot one for each level), and, unless time is
// continuous, the number of its tasks. Padding is zeros.
//
// Times are fractions of the largest one, counts fractions of N, and the partition's
// number a fraction of the number of partitions; as released, all are plain numbers over
// one divisor. An infinite time is -1, or all -1 in one-hot. The paper prints N·M·K inputs
// for one-hot batches, but a task has a time for each of #S_G sizes (4.1), not for K
// slices. The remaining times stay single values because, once the GPU has been reconfigured, they are not whole
// levels.
func (b *Batch) Shape() Shape {
	n := b.header() + b.o.Tasks*b.row()
	return Shape{Observation: n, Actions: 1 + len(b.tables.partitions) + b.o.Tasks*int(b.o.GPU.ComputeSlices)}
}

// Bounds returns bounds of an observation. The remaining times have no upper bound, because a reconfiguration may take
// longer than the longest task.
func (b *Batch) Bounds() []Range {
	k := int(b.o.GPU.ComputeSlices)
	rows := b.o.Tasks * b.row()
	partition := 1
	if b.o.Encoding == OneHot {
		partition = len(b.tables.partitions)
	}
	return []Range{{partition, 0, 1}, {k, 0, math.Inf(1)}, {b.header() - partition - k, 0, 1}, {rows, -1, 1}}
}

// header returns the number of values before the classes.
func (b *Batch) header() int {
	n := 1 + int(b.o.GPU.ComputeSlices)
	if b.o.Encoding == OneHot {
		n += len(b.tables.partitions) - 1
	}
	if b.o.Direct {
		n++
	}
	return n
}

func (b *Batch) row() int {
	n := len(b.sizes) * b.values()
	if b.o.Levels > 0 {
		n++
	}
	return n
}

// values returns the number of values of one time of a task.
func (b *Batch) values() int {
	if b.o.Encoding == Float {
		return 1
	}
	return b.highest()
}

func (b *Batch) highest() int {
	if b.o.Released {
		return b.o.Levels + 1
	}
	return b.o.Levels
}

func (b *Batch) divisors() (time, count, partition float64) {
	if b.o.Released {
		d := float64(max(b.o.Levels+1, b.o.Tasks, len(b.o.GPU.Partitions())))
		return d, d, d
	}
	return float64(max(1, b.o.Levels)), float64(b.o.Tasks), float64(len(b.tables.partitions))
}

// encode appends the row of a class. The count stays zero.
func (b *Batch) encode(times *Times) {
	divisor, _, _ := b.divisors()
	for _, s := range b.sizes {
		t := times[s]
		switch {
		case b.o.Encoding == Float && math.IsInf(t, 1):
			b.rows = append(b.rows, -1)
		case b.o.Encoding == Float:
			b.rows = append(b.rows, float32(t/divisor))
		default:
			for level := 1; level <= b.highest(); level++ {
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
	if b.o.Levels > 0 {
		b.rows = append(b.rows, 0)
	}
}

// Observe implements [Env].
func (b *Batch) Observe(observation []float32, mask []bool) {
	b.observe(observation)
	b.allow(mask)
}

func (b *Batch) observe(out []float32) {
	time, count, partition := b.divisors()
	if b.o.Encoding == OneHot {
		clear(out[:len(b.tables.partitions)])
		out[b.partition] = 1
		out = out[len(b.tables.partitions):]
	} else {
		out[0] = float32(float64(b.partition) / partition)
		out = out[1:]
	}
	k := int(b.o.GPU.ComputeSlices)
	for s := range k {
		out[s] = float32(b.remaining[s] / time)
	}
	out = out[k:]
	if b.o.Direct {
		out[0] = 0
		if b.reconfigured {
			out[0] = 1
		}
		out = out[1:]
	}
	row := b.row()
	for _, c := range b.batch {
		copy(out[:row], b.rows[int(c)*row:])
		if b.o.Levels > 0 {
			out[row-1] = float32(float64(b.classes[c].count) / count)
		}
		out = out[row:]
	}
	clear(out)
}

// ordinals expands a set of instances to a mask.
var ordinals = func() (t [1 << 7][7]bool) {
	for set := range t {
		for m := range t[set] {
			t[set][m] = set>>m&1 == 1
		}
	}
	return t
}()

func (b *Batch) allow(mask []bool) {
	p := &b.tables.partitions[b.partition]
	k := int(b.o.GPU.ComputeSlices)
	busy := b.busy()
	var free uint8 // set of instances
	for m, slices := range p.instances {
		if slices&busy == 0 {
			free |= 1 << m
		}
	}
	mask[0] = busy != 0 || b.awaitsTask()
	reconfigure := mask[1 : 1+len(b.tables.partitions)]
	execute := mask[1+len(b.tables.partitions):]
	var fits uint8 // sizes on which some task fits
	for _, c := range b.batch {
		class := &b.classes[c]
		fits |= class.fits
		allowed := free
		for missing := p.sizes &^ class.fits; missing != 0; missing &= missing - 1 {
			allowed &^= p.ofSize[bits.TrailingZeros8(missing)]
		}
		copy(execute[:k], ordinals[allowed][:k])
		execute = execute[k:]
	}
	clear(execute)
	if b.reconfigured {
		clear(reconfigure)
		return
	}
	if b.o.Direct {
		busy = 0
	}
	for c := range reconfigure {
		reconfigure[c] = c != b.partition && b.tables.partitions[c].sizes&fits != 0 &&
			reachable(b.tables.ways[b.partition][c], busy)
	}
}

func reachable(ways []way, busy uint8) bool {
	for _, w := range ways {
		if w.changed&busy == 0 {
			return true
		}
	}
	return false
}
