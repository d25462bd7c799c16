package bounds

import (
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// occupied returns the area term of [Prove] in seconds. It is, over the non-empty sets S of sizes
// on which the tasks run,
//
//	min_S [ sum_i min_{s in S} s t_i(s) + sum_{s in S, none at start} s create(s)
//	      + min_U sum_{s in S minus U} s destroy(s) ] / (K * GPUs)
//
// where K is #slices_G and U is the set of sizes that one configuration on each GPU holds
// together. Creating and destroying cost nothing under [mig.Free]. The term is at least [Area].
//
// PROVEN for every reconfiguration model, start partition, busy-until and release times. Take a schedule with makespan
// M, and let S be the sizes of the instances on which its tasks run.
//
// Let an instance be present from the start of its create (or time 0 if it exists at the start) to the end of its
// destroy (or forever). Instances present at the same time on a GPU share no memory slice. Profiles with double
// memory or media extensions cover the slice on which a standard profile of the same size could begin instead. So the
// instances present at an instant are part of a configuration of standard profiles, and their sizes add up to at most
// K on each GPU. Integrated over [0, M] and the GPUs: the sum, over the instances, of size times the time present
// within [0, M] is at most K * GPUs * M. That time contains the following, of which no two overlap for one instance:
//
//   - Its tasks, which run one at a time while it exists: task i counts s t_i(s) for the s in S on which it runs.
//   - A create for every s in S of which no instance exists at the start: some task runs on size s, and the create of
//     that instance ends before the task starts. It counts s create(s), once for each size.
//   - A destroy for every s in S of which no instance is present just before M: a task ran on an instance of size s,
//     whose destroy ended by M. It counts s destroy(s). The instances present just before M, even if half destroyed,
//     belong to one configuration on each GPU, so their sizes lie in some U.
//
// So the bracket holds for this S, which the minimum includes. Slices that must idle, as beside 3 slices, are charged
// by the slice weights.
func occupied(p *algo.Problem) mig.Seconds {
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
	// destroys[m-1] is the least s destroy(s), in slice-seconds, of the sizes that m GPUs together do
	// not hold at the end. The last entry is 0 and also applies to more GPUs.
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

// destroys computes the field of [support]: the cost of the sizes that the best choice of
// one configuration for each of m GPUs leaves out, for each m until none is left out.
func destroys(g *mig.GPU, sizes []mig.Slices) []float64 {
	var out []float64
	for held := []int{0}; ; {
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
		if held = next; slices.Contains(held, 1<<len(sizes)-1) {
			return out
		}
	}
}
