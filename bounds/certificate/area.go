package certificate

import (
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

var inf = mig.Seconds(math.Inf(1))

// areaBound returns the time of the slices that the schedule needs, divided by their number.
//
// Take the set of sizes on which the tasks of a schedule run. Weigh each size by at least
// its slices, so that the weights of no partition add up to more than the slices of the
// GPU. Then weight times time, summed over the instances, is at most the slices times the
// makespan. The sum includes the tasks; for each size a create, unless an instance of the
// size exists at the start; and for each size a destroy, unless it is in the partition at
// the end. Since each size is used, some task runs on it even if another size is cheaper.
// The bound is that of the cheapest set of sizes, with the best weights that result from
// raising the sizes' weights in some order.
func areaBound(p *schedule.Problem) mig.Seconds {
	sizes := p.GPU.Sizes()
	least := math.Inf(1)
	for bits := 1; bits < 1<<len(sizes); bits++ {
		var used []mig.Slices
		for i, s := range sizes {
			if bits>>i&1 != 0 {
				used = append(used, s)
			}
		}
		destroyed := endings(p.GPU, used, p.GPUs())
		var most float64
		for _, order := range orders(used) {
			most = max(most, areaOf(p, used, destroyed, raised(p.GPU, used, order)))
		}
		least = min(least, most)
	}
	return mig.Seconds(least / float64(int(p.GPU.ComputeSlices)*p.GPUs()))
}

func orders(sizes []mig.Slices) [][]mig.Slices {
	if len(sizes) == 0 {
		return [][]mig.Slices{nil}
	}
	var out [][]mig.Slices
	for i, s := range sizes {
		for _, rest := range orders(slices.Delete(slices.Clone(sizes), i, i+1)) {
			out = append(out, append([]mig.Slices{s}, rest...))
		}
	}
	return out
}

type weighting [mig.MaxSize + 1]float64

// raised returns the weights of the used sizes after raising them in the given order as far
// as the partitions allow.
func raised(g *mig.GPU, used, order []mig.Slices) weighting {
	var w weighting
	for _, s := range used {
		w[s] = float64(s)
	}
	for _, s := range order {
		most := math.Inf(1)
		for _, part := range g.Partitions() {
			count, others := 0, 0.0
			for _, in := range part {
				if in.Size() == s {
					count++
				} else {
					others += w[in.Size()]
				}
			}
			if count > 0 {
				most = min(most, (float64(g.ComputeSlices)-others)/float64(count))
			}
		}
		w[s] = max(w[s], most)
	}
	return w
}

// areaOf returns the least weight times time if the tasks run on the used sizes and one of
// the lists of sizes is destroyed.
func areaOf(p *schedule.Problem, used []mig.Slices, destroyed [][]mig.Slices, w weighting) float64 {
	var sum float64
	var more weighting // the least extra cost of running some task on a size
	for _, s := range used {
		more[s] = math.Inf(1)
	}
	for i := range p.Tasks {
		least := math.Inf(1)
		for _, s := range used {
			least = min(least, w[s]*float64(p.Tasks[i].On(s)))
		}
		if math.IsInf(least, 1) {
			return least // the task fits none of the sizes
		}
		sum += least
		for _, s := range used {
			more[s] = min(more[s], w[s]*float64(p.Tasks[i].On(s))-least)
		}
	}
	for _, s := range used {
		sum += more[s]
	}
	if p.Model == mig.Free {
		return sum
	}
	for _, s := range used {
		if !slices.ContainsFunc(p.Start, func(e schedule.Existing) bool { return e.Instance.Size() == s }) {
			sum += w[s] * float64(p.GPU.Profile(s).Create)
		}
	}
	least := math.Inf(1)
	for _, gone := range destroyed {
		var takes float64
		for _, s := range gone {
			takes += w[s] * float64(p.GPU.Profile(s).Destroy)
		}
		least = min(least, takes)
	}
	return sum + least
}

// endings returns, for all choices of the partitions in which the GPUs end, the used sizes
// that are in none of them.
func endings(g *mig.GPU, used []mig.Slices, gpus int) [][]mig.Slices {
	lists := [][]mig.Slices{used}
	for range min(gpus, len(used)) { // as many GPUs as sizes can end with all of them
		var next [][]mig.Slices
		for _, list := range lists {
			for _, part := range g.Partitions() {
				gone := slices.DeleteFunc(slices.Clone(list), func(s mig.Slices) bool {
					return slices.ContainsFunc(part, func(in mig.Instance) bool { return in.Size() == s })
				})
				if !slices.ContainsFunc(next, func(l []mig.Slices) bool { return slices.Equal(l, gone) }) {
					next = append(next, gone)
				}
			}
		}
		lists = next
	}
	return lists
}

// ends returns when each task ends at the earliest, by size: after its release, on an
// instance that is created at once or exists at the start.
func ends(p *schedule.Problem) []map[mig.Slices]mig.Seconds {
	out := make([]map[mig.Slices]mig.Seconds, len(p.Tasks))
	for i := range p.Tasks {
		out[i] = map[mig.Slices]mig.Seconds{}
		for _, s := range p.GPU.Sizes() {
			begin := cost(p, p.GPU.Profile(s).Create)
			for _, e := range p.Start {
				if e.Instance.Size() == s {
					begin = min(begin, e.BusyUntil)
				}
			}
			out[i][s] = max(begin, p.ReleaseOf(i)) + p.Tasks[i].On(s)
		}
	}
	return out
}
