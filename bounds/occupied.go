package bounds

import (
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// occupied returns the area term of [Prove] in seconds. It is, over the
// non-empty sets S of sizes on which the tasks run,
//
//	min_S max_w [ sum_i m_i + sum_{s in S} min_i (w_s t_i(s) - m_i)
//	            + sum_{s in S, none at start} w_s create(s)
//	            + min_U sum_{s in S minus U} w_s destroy(s) ] / (K * GPUs)
//
// where m_i = min_{s in S} w_s t_i(s), K is #slices_G, U is the set of sizes that one
// configuration on each GPU holds together, and w is one of a few weightings of S with
//
//	(a) w_s >= s, and
//	(b) in every configuration, the w of the instances with sizes in S add up to at most K.
//
// w_s = s satisfies both. Larger weights charge for slices that must idle: if all tasks run
// on 3 slices, at most two run at once, so each is charged 7/2.
//
// Creating and destroying cost nothing under [mig.Free].
//
// PROVEN for [mig.Sequential], [mig.Parallel] and [mig.Free], any start partition,
// busy-until and release times. Take a schedule with makespan M, and let S be the
// sizes of the instances on which its tasks run.
//
// Let an instance be present from the start of its create (or time 0 if it exists at the
// start) to the end of its destroy (or forever). Instances present at the same time on a
// GPU share no memory slice, whether they exist, are being created or are being destroyed.
// Profiles with double memory or media extensions cover the slice on which a standard
// profile of the same size could begin instead. So the instances present at an instant are
// part of a maximal configuration of standard profiles, and by (b) the w of those with
// sizes in S add up to at most K on each GPU. Integrated over [0, M] and the GPUs: the sum,
// over the instances with sizes in S, of w times the time present within [0, M] is at most
// K * GPUs * M. That time contains the following, of which no two overlap for one instance:
//
//   - Its tasks, which run one at a time while it exists: task i counts w_s t_i(s) for the
//     s in S on which it runs, at least m_i. On each s in S some task runs, a different one
//     for each s, and that task counts at least min_i (w_s t_i(s) - m_i) more.
//   - A create for every s in S of which no instance exists at the start: some task runs
//     on size s, and the create of that instance ends before the task starts. It counts
//     w_s create(s), once for each size, however many instances or GPUs there are.
//   - A destroy for every s in S of which no instance is present just before M: a task ran
//     on an instance of size s, whose destroy ended by M. It counts w_s destroy(s). The
//     instances present just before M, even if half destroyed, belong to one configuration
//     on each GPU, so their sizes lie in some U.
//
// So the bracket holds for this S and every weighting, in particular the largest, and the
// minimum includes the schedule's own S. Two slices need no argument: compute slice 3,
// which idles with 3 slices at 0, and the eighth memory slice of the 7-slice models. (b) is
// checked on the configurations themselves, with K = 7.
//
// The best w would need a linear program for each S. Instead, starting from w_s = s, each
// size's weight in turn is raised as far as (b) allows, in every order of S. This loses
// little and is done once for each model. As w_s >= s, the term is at least [Area].
func occupied(p *algo.Problem) mig.Seconds {
	var existing [mig.MaxSize + 1]bool
	for _, e := range p.Start {
		existing[e.Instance.Size()] = true
	}
	least := math.Inf(1)
	for _, weightings := range supports(p.GPU) {
		var most float64
		for i := range weightings {
			w := &weightings[i]
			area := w.work(p.Tasks)
			if p.Model != mig.Free {
				for j, c := range w.creates {
					if !existing[w.weights[j].size] {
						area += c
					}
				}
				area += w.destroys[min(p.GPUs(), len(w.destroys))-1]
			}
			most = max(most, area)
		}
		least = min(least, most)
	}
	return mig.Seconds(least / capacity(p))
}

// A weighting is a vector w over a set S of sizes, with the costs that follow from it, in
// slice-seconds.
type weighting struct {
	weights []weight
	// creates[j] is w_s create(s) for the size of weights[j].
	creates []float64
	// destroys[m-1] is the least w_s destroy(s) of the sizes that m GPUs together do not hold
	// at the end. The last entry is 0 and also applies to more GPUs.
	destroys []float64
}

// work returns what the tasks count at least if each of the sizes is used. It is +Inf if a
// task fits none of the sizes, or if no task fits one of them.
func (w *weighting) work(tasks task.Batch) float64 {
	var charges, extra [mig.MaxSize]float64
	for j := range w.weights {
		extra[j] = math.Inf(1)
	}
	var sum float64
	for i := range tasks {
		least := math.Inf(1)
		for j, x := range w.weights {
			charges[j] = float64(x.slices * float64(tasks[i].On(x.size)))
			least = min(least, charges[j])
		}
		if math.IsInf(least, 1) {
			return least
		}
		sum += least
		for j := range w.weights {
			extra[j] = min(extra[j], charges[j]-least)
		}
	}
	for j := range w.weights {
		sum += extra[j]
	}
	return sum
}

// supports returns the weightings of every set S of a model's sizes.
var supports = mig.Derived(func(g *mig.GPU) [][]weighting {
	counts := sizeCounts(g)
	var out [][]weighting
	for _, set := range subsets(g) {
		var vectors [][]weight
		orders(set, func(order []mig.Slices) {
			vectors = addMaximal(vectors, raise(g, counts, set, order))
		})
		var weightings []weighting
		for _, v := range vectors {
			w := weighting{weights: v, destroys: destroys(g, counts, v)}
			for _, x := range v {
				w.creates = append(w.creates, float64(x.slices*float64(g.Profile(x.size).Create)))
			}
			weightings = append(weightings, w)
		}
		out = append(out, weightings)
	}
	return out
})

// sizeCount is how many instances of each size a configuration holds.
type sizeCount [mig.MaxSize + 1]int

func sizeCounts(g *mig.GPU) []sizeCount {
	var out []sizeCount
	for _, p := range g.Partitions() {
		var c sizeCount
		for _, in := range p {
			c[in.Size()]++
		}
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// raise starts from w_s = s and raises one weight of the set after the other, in the given
// order, as far as every configuration allows.
func raise(g *mig.GPU, counts []sizeCount, set, order []mig.Slices) []weight {
	var w [mig.MaxSize + 1]float64
	for _, s := range set {
		w[s] = float64(s)
	}
	for _, s := range order {
		most := math.Inf(1)
		for _, c := range counts {
			if c[s] == 0 {
				continue
			}
			rest := float64(g.ComputeSlices)
			for _, o := range set {
				if o != s {
					rest -= float64(float64(c[o]) * w[o])
				}
			}
			most = min(most, rest/float64(c[s]))
		}
		w[s] = max(w[s], most)
	}
	var out []weight
	for _, s := range set {
		out = append(out, weight{s, w[s]})
	}
	return out
}

// addMaximal adds a vector, and keeps only vectors that no other equals or exceeds in every
// component.
func addMaximal(vectors [][]weight, v []weight) [][]weight {
	below := func(a, b []weight) bool {
		for i := range a {
			// Different orders round the same weight differently.
			if a[i].slices > b[i].slices+1e-9 {
				return false
			}
		}
		return true
	}
	if slices.ContainsFunc(vectors, func(o []weight) bool { return below(v, o) }) {
		return vectors
	}
	vectors = slices.DeleteFunc(vectors, func(o []weight) bool { return below(o, v) })
	return append(vectors, v)
}

// destroys computes the field of [weighting]: the cost of the sizes that the best choice of
// one configuration for each of m GPUs leaves out, for each m until none is left out.
func destroys(g *mig.GPU, counts []sizeCount, weights []weight) []float64 {
	all := 1<<len(weights) - 1
	held := []int{0}
	var out []float64
	for {
		var next []int
		least := math.Inf(1)
		for _, h := range held {
			for _, c := range counts {
				u := h
				for j, w := range weights {
					if c[w.size] > 0 {
						u |= 1 << j
					}
				}
				if slices.Contains(next, u) {
					continue
				}
				next = append(next, u)
				var cost float64
				for j, w := range weights {
					if (all&^u)>>j&1 != 0 {
						cost += float64(w.slices * float64(g.Profile(w.size).Destroy))
					}
				}
				least = min(least, cost)
			}
		}
		out = append(out, least)
		if slices.Contains(next, all) {
			return out
		}
		held = next
	}
}

// orders calls visit with every order of the set. The slice is reused.
func orders(set []mig.Slices, visit func([]mig.Slices)) {
	order := slices.Clone(set)
	var place func(int)
	place = func(k int) {
		if k == len(order) {
			visit(order)
			return
		}
		for i := k; i < len(order); i++ {
			order[k], order[i] = order[i], order[k]
			place(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	place(0)
}
