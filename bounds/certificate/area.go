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
// Take the set of sizes on which the tasks of a schedule run. Size times time, summed over the
// instances, is at most the slices times the makespan. The sum includes the tasks; for each size a
// create, unless an instance of the size exists at the start; and for each size a destroy, unless it
// is in the partition at the end. The bound is that of the cheapest set of sizes.
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
		least = min(least, areaOf(p, used))
	}
	return mig.Seconds(least / float64(int(p.GPU.ComputeSlices)*p.GPUs()))
}

// areaOf returns the least size times time if the tasks run on the used sizes.
func areaOf(p *schedule.Problem, used []mig.Slices) float64 {
	var sum float64
	for i := range p.Tasks {
		sum += p.Tasks[i].Work(used)
	}
	if p.Model == mig.Free {
		return sum
	}
	for _, s := range used {
		if !slices.ContainsFunc(p.Start, func(e schedule.Existing) bool { return e.Instance.Size() == s }) {
			sum += float64(s) * float64(p.GPU.Profile(s).Create)
		}
	}
	least := math.Inf(1)
	for _, gone := range endings(p.GPU, used, p.GPUs()) {
		var takes float64
		for _, s := range gone {
			takes += float64(s) * float64(p.GPU.Profile(s).Destroy)
		}
		least = min(least, takes)
	}
	return sum + least
}

// endings returns, for all choices of the partitions in which the GPUs end, the used sizes that are in none of them.
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

// earliestEnds returns when each task ends at the earliest, by size: after its release, on an
// instance that is created at once or exists at the start.
func earliestEnds(p *schedule.Problem) []map[mig.Slices]mig.Seconds {
	out := make([]map[mig.Slices]mig.Seconds, len(p.Tasks))
	for i := range p.Tasks {
		out[i] = map[mig.Slices]mig.Seconds{}
		for _, s := range p.GPU.Sizes() {
			begin := p.Model.Cost(p.GPU.Profile(s).Create)
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
