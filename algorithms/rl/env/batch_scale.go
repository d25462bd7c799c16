package env

import (
	"cmp"
	"math"
	"slices"
)

// scale converts the episode's times to units and groups its tasks into classes.
func (b *Batch) scale() {
	largest := 0.0
	for i := range b.tasks {
		for _, s := range b.sizes {
			if t := b.tasks[i][s]; !math.IsInf(t, 1) {
				largest = max(largest, t)
			}
		}
	}
	divisions := float64(max(1, b.options.Levels))
	b.unit, b.unitReward = largest/divisions, 1/divisions
	if b.options.Released {
		b.unitReward = 1
	}
	for _, s := range b.sizes {
		p := b.options.GPU.Profile(s)
		create, destroy := p.Create, p.Destroy
		if b.options.Reconfiguration > 0 {
			create, destroy = b.options.Reconfiguration, 0
		}
		b.create[s], b.destroy[s] = b.snap(float64(create)), b.snap(float64(destroy))
	}
	n := len(b.tasks)
	b.scaled = slices.Grow(b.scaled[:0], n)[:n]
	b.arrival = slices.Grow(b.arrival[:0], n)[:n]
	b.queue = b.queue[:0]
	for i := range b.tasks {
		for _, s := range b.sizes {
			b.scaled[i][s] = b.quantise(b.tasks[i][s])
		}
		b.arrival[i] = 0
		b.queue = append(b.queue, int32(i))
	}
	if len(b.release) > 0 {
		slices.SortStableFunc(b.queue, func(x, y int32) int { return cmp.Compare(b.release[x], b.release[y]) })
	}
	b.classify()
}

// quantise returns a task's time in units.
func (b *Batch) quantise(seconds float64) float64 {
	switch {
	case math.IsInf(seconds, 1):
		return seconds
	case b.options.Levels == 0:
		return max(1.0/grid, b.snap(seconds))
	case b.options.Released:
		return math.RoundToEven(seconds/b.unit) + 1
	}
	return max(1, math.RoundToEven(seconds/b.unit))
}

// snap returns a time in units, on the grid.
func (b *Batch) snap(seconds float64) float64 { return math.RoundToEven(seconds/b.unit*grid) / grid }

// classify sorts the tasks into classes, the highest Num first (DRL 4.1), unless they are only listed.
func (b *Batch) classify() {
	b.order = append(b.order[:0], b.queue...)
	if !b.options.Listed {
		slices.SortStableFunc(b.order, func(x, y int32) int { return b.compare(y, x) })
	}
	n := len(b.tasks)
	b.class = slices.Grow(b.class[:0], n)[:n]
	b.classes, b.rows = b.classes[:0], b.rows[:0]
	for at, t := range b.order {
		if at == 0 || b.options.Levels == 0 || b.options.Listed || b.compare(b.order[at-1], t) != 0 {
			class := batchClass{next: int32(at)}
			for _, s := range b.sizes {
				if !math.IsInf(b.scaled[t][s], 1) {
					class.fits |= 1 << s
				}
			}
			b.classes = append(b.classes, class)
			b.encode(&b.scaled[t])
		}
		b.class[t] = int32(len(b.classes) - 1)
	}
}

// compare compares two tasks by Num (DRL 4.1): their times by ascending size.
func (b *Batch) compare(x, y int32) int { return slices.Compare(b.scaled[x][:], b.scaled[y][:]) }
