package bounds

import (
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// LBound returns l_bound in seconds as DRL 5.2 prints it:
//
//	min over S of ( sum_i min_{s in S} (s + Idle(s,S)) t_i(s) + sum_{s in S} s (create(s) + destroy(s)) ) / K
//
// over the non-empty sets S of sizes that the tasks may use. Idle(s,S) is the least sum of the sizes not in S in a
// configuration that holds s, of the useful configurations of DRL 4.1. The paper's p_opt is 100 (makespan/l_bound - 1).
//
// PUBLISHED, NOT A LOWER BOUND. Two of its steps do not hold; [Certified] corrects both:
//
//   - It charges the destroy of every used size, but instances that exist at the end need not be destroyed. One task
//     of 100, 100, 100, 100 and 1 s on 1, 2, 3, 4 and 7 slices of an A100 gives 1 + 0.24 + 0.22 = 1.46 s; creating 7
//     slices and running it takes 1.24 s.
//   - Idle charges every task for all the slices that idle with it, even if several tasks share them. With S = {2},
//     slice 6 idles with each of the three instances of 2-2-2-1 and is charged three times: 3+3+3 > 7. The minimum over
//     S keeps this fault small: with size 1 added to S no slice idles, for at most one create and destroy of that size,
//     0.36/7 s on A100.
//
// The formula is for one GPU that is empty at time 0. For several GPUs it is divided by their number. LBound ignores
// the reconfiguration model, start partition and release times. Its error is from [task.Batch.Validate].
func LBound(p algo.Problem) (mig.Seconds, error) {
	if err := p.Tasks.Validate(p.GPU); err != nil {
		return 0, err
	}
	least := math.Inf(1)
	for _, c := range published(p.GPU) {
		least = min(least, leastWork(p.Tasks, c.weights)+c.reconfiguration)
	}
	return mig.Seconds(least / capacity(&p)), nil
}

// A publishedCharge holds the charges of l_bound for one set S of sizes.
type publishedCharge struct {
	weights         []weight // s + Idle(s,S), by size
	reconfiguration float64  // the sum of s (create(s) + destroy(s)), in slice-seconds
}

// published returns the charges of all sets S for a GPU model.
var published = mig.Derived(func(g *mig.GPU) []publishedCharge {
	var out []publishedCharge
	for _, set := range subsets(g) {
		var c publishedCharge
		for _, s := range set {
			c.weights = append(c.weights, weight{s, float64(s + idleSlices(g, s, set))})
			profile := g.Profile(s)
			c.reconfiguration += float64(float64(s) * float64(profile.Create+profile.Destroy))
		}
		out = append(out, c)
	}
	return out
})

// idleSlices returns Idle(s,S): the least sum of the sizes not in the set in a configuration that holds size s.
func idleSlices(g *mig.GPU, s mig.Slices, set []mig.Slices) mig.Slices {
	least := g.ComputeSlices
	for _, c := range g.Useful() {
		holds, unused := false, mig.Slices(0)
		for _, in := range c {
			holds = holds || in.Size() == s
			if !slices.Contains(set, in.Size()) {
				unused += in.Size()
			}
		}
		if holds {
			least = min(least, unused)
		}
	}
	return least
}

var _ = register("l-bound", 1, false, "DRL 5.2",
	"l_bound as published, on which p_opt is defined; not a valid bound", quick(LBound))
