package far

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"miglab/harness/mig"
	"miglab/harness/store"
	figures "miglab/paper-figures"
)

// sliceWork is what a schedule puts on the slices of a GPU.
type sliceWork struct {
	// work are the seconds of work of each compute slice.
	work []float64
	// movable are the instances from which tasks can be moved or swapped, each as the set of its slices.
	movable []mig.Mask
}

func workOf(d *figures.Data, s store.Series, instance int) sliceWork {
	p, plan := d.Schedule(s, instance)
	l := sliceWork{work: make([]float64, p.GPU.ComputeSlices)}
	for _, pl := range plan.Placements {
		var slicesOf mig.Mask
		for c := range pl.Instance.Size() {
			l.work[pl.Instance.Start+c] += float64(pl.End - pl.Start)
			slicesOf |= 1 << (pl.Instance.Start + c)
		}
		if len(pl.Instance.Profile.Starts) > 1 && !slices.Contains(l.movable, slicesOf) {
			l.movable = append(l.movable, slicesOf)
		}
	}
	return l
}

// after returns the work of a schedule and another one after it, of which only the second one can be changed.
func (s sliceWork) after(first sliceWork) sliceWork {
	return sliceWork{floats.AddTo(make([]float64, len(s.work)), first.work, s.work), s.movable}
}

// least returns, for 0, 1, 2 ... moves and swaps, seconds before which no schedule ends after so many. Each
// goes between two instances of one size and relieves one of them. The others keep at least their work.
func (s sliceWork) least() []float64 {
	full := func(relieved mig.Mask) float64 {
		most := 0.0
		for c, w := range s.work {
			if relieved>>c&1 == 0 {
				most = max(most, w)
			}
		}
		return most
	}
	relieved := []mig.Mask{0}
	out := []float64{full(0)}
	for range s.movable {
		var next []mig.Mask
		var seen [math.MaxUint8 + 1]bool
		least := math.Inf(1)
		for _, r := range relieved {
			for _, m := range s.movable {
				if both := r | m; !seen[both] {
					seen[both] = true
					next, least = append(next, both), min(least, full(both))
				}
			}
		}
		relieved, out = next, append(out, least)
	}
	return out
}

// gains returns by how many percent seconds exceed what 0, 1, 2 ... operations leave. No task changes its size,
// so the slices keep their total work, and no schedule ends before it is spread evenly.
func (s sliceWork) gains(seconds float64) []float64 {
	out := s.least()
	for k, least := range out {
		out[k] = (seconds/max(least, figures.Mean(s.work)) - 1) * 100
	}
	return out
}

// mostGained is the most that executions can gain on average with a mean number of operations. gains are those
// of an execution with 0, 1, 2 ... of them. They go where they bring most; a part of one brings its share.
func mostGained(gains [][]float64, operations float64) float64 {
	var total float64
	var each []float64 // what one more operation brings
	for _, g := range gains {
		total += g[0]
		for k := 0; k < len(g)-1; {
			best, steps := math.Inf(-1), 0
			for j := k + 1; j < len(g); j++ {
				if slope := (g[j] - g[k]) / float64(j-k); slope >= best {
					best, steps = slope, j-k
				}
			}
			each = append(each, slices.Repeat([]float64{best}, steps)...)
			k += steps
		}
	}
	slices.SortFunc(each, func(a, b float64) int { return cmp.Compare(b, a) })
	count := min(len(each), int(math.Ceil(operations*float64(len(gains)))))
	return (total + floats.Sum(each[:count])) / float64(len(gains))
}
