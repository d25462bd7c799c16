package bounds

import (
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// areaTerm returns the area term of [Prove] in seconds, which package certificate defines and proves. It is at least
// [Area]. It does not charge slices that must idle, such as the fourth beside a 3-slice instance; slice weights do.
func areaTerm(p *algo.Problem) mig.Seconds {
	least := math.Inf(1)
	for _, s := range supports(p.GPU) {
		area := leastWork(p.Tasks, s.weights)
		if p.Model != mig.Free {
			for _, w := range s.weights {
				if !slices.ContainsFunc(p.Start, func(e schedule.Existing) bool {
					return e.Instance.Size() == w.size
				}) {
					area += float64(w.slices * float64(p.GPU.Profile(w.size).Create))
				}
			}
			area += s.destroys[min(p.GPUs(), len(s.destroys))-1]
		}
		least = min(least, area)
	}
	return mig.Seconds(least / capacity(p))
}

// A support is a set of sizes on which tasks run.
type support struct {
	weights []weight
	// destroys[m-1] is the least sum of s destroy(s), in slice-seconds, over the sizes that m GPUs together do not
	// hold at the end. The last entry is 0 and also applies to more GPUs.
	destroys []float64
}

var supports = mig.Derived(func(g *mig.GPU) []support {
	var out []support
	for _, set := range subsets(g) {
		out = append(out, support{sizeWeights(set), destroys(g, set)})
	}
	return out
})

// sizeWeights charges a task for the slices of its instance.
func sizeWeights(sizes []mig.Slices) []weight {
	var out []weight
	for _, s := range sizes {
		out = append(out, weight{s, float64(s)})
	}
	return out
}

// destroys returns the field of [support]. For m = 1, 2, ... GPUs it chooses one partition for each GPU so that
// destroying the sizes that no partition has costs least. It ends with the first m whose partitions have all sizes.
func destroys(g *mig.GPU, sizes []mig.Slices) []float64 {
	var out []float64
	held := []int{0} // the sets of sizes that the partitions of m GPUs can have, as bit masks
	for {
		var next []int
		least := math.Inf(1)
		for _, h := range held {
			for _, part := range g.Partitions() {
				u, cost := h, 0.0
				for j, s := range sizes {
					if slices.ContainsFunc(part, func(in mig.Instance) bool { return in.Size() == s }) {
						u |= 1 << j
					}
					if u>>j&1 == 0 {
						cost += float64(float64(s) * float64(g.Profile(s).Destroy))
					}
				}
				if !slices.Contains(next, u) {
					next, least = append(next, u), min(least, cost)
				}
			}
		}
		out = append(out, least)
		held = next
		if slices.Contains(held, 1<<len(sizes)-1) {
			return out
		}
	}
}
