package bounds

import (
	"context"
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/heap"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// certified is [Certified] with [EnergyAtLeast] beside it.
type certified struct{ function }

func (certified) EnergyAtLeast(ctx context.Context, p algo.Problem) (mig.Joules, error) {
	return EnergyAtLeast(ctx, p)
}

// maxParts is the number of parts after which [EnergyAtLeast] divides no further. The bound is always valid.
const maxParts = 2000

// EnergyAtLeast returns a lower bound, in joules, on the energy of every schedule that the referee accepts. The model
// must have a [mig.Power]. It returns the same errors as [Certified].
//
// PROVEN. Let n GPUs have the idle power I and the floors f(s) ([mig.GPU.Floor]), and let task i run on size s_i for
// t_i(s_i). A schedule of makespan M draws at least n I M + sum_i f(s_i) t_i(s_i) ([schedule.EnergyAtLeast]).
//
// Several limits on M hold. [Certified] gives M >= C. Let h be the shortest create, or 0 if an instance exists at time
// 0; no task runs before h. Let w(s) be weights of the sizes that add up to at most 1 in every partition ([facets]).
// The tasks that run on a GPU at an instant weigh at most 1, so that n (M - h) >= sum_i w(s_i) t_i(s_i). For every L
// <= M, the share l of the second limit and the share 1-l of M >= L give
//
//	E >= (1-l) n I L + l n I h + sum_i min over s of (l I w(s) + f(s)) t_i(s)
//
// The minimum is over the sizes that the schedule can use: a task on size s ends no earlier than e_i(s), its release
// or the create of the size, whichever is later, plus t_i(s). If M lies from one value of e up to the next, only sizes
// with e_i(s) up to the lower one remain, and L is that value or C. The least bound of these intervals holds for every
// M.
//
// In batches of at most [MaxSearched] tasks, schedules are divided by the size that a task runs on, for one task after
// the other. Every part has its own C. The least bound of the parts holds for every schedule.
//
// Where an instance exists at time 0, a task need not wait for a create, and the times e are not used. Where tasks can
// be stopped, the parts of a task may run on several sizes. All of this holds for the parts, except the times e, which
// are then not used. Schedules are not divided either.
//
// A bound of b joules claims that no schedule draws less than (1 - 2e-9) b. PROVEN: C is proven up to 1e-9 (package
// certificate). All other terms are sums, products and minima of numbers that are not negative, so that each rounding
// changes them by a factor of at most 1 + 2^-53; for up to 10^6 tasks that is less than 1e-9 in all. A rounded e moves
// the border between two intervals by as little, and with it L. No certificate verifies the bound again.
func EnergyAtLeast(ctx context.Context, p algo.Problem) (mig.Joules, error) {
	least, err := boundEnergy(ctx, p)
	if err != nil || len(p.Tasks) > MaxSearched || p.Restart > 0 {
		return least, err
	}
	// The part with the least bound is divided next. The search ends when each of its tasks fits one size only, because
	// no other part has a lower bound.
	parts := []task.Batch{p.Tasks}
	open := heap.Heap[mig.Joules]{{Key: least}}
	for {
		x := open.Pop()
		part := parts[x.ID]
		i := slices.IndexFunc(part, func(t task.Task) bool { return len(fitting(p.GPU, &t)) > 1 })
		if i < 0 || len(parts) > maxParts {
			return max(least, x.Key), nil
		}
		for _, size := range fitting(p.GPU, &part[i]) {
			divided := p
			divided.Tasks = slices.Clone(part)
			divided.Tasks[i] = task.Task{Name: part[i].Name}
			divided.Tasks[i].Set(size, part[i].On(size))
			bound, err := boundEnergy(ctx, divided)
			if err != nil {
				return 0, err
			}
			open.Push(heap.Item[mig.Joules]{Key: max(bound, x.Key), ID: int32(len(parts))})
			parts = append(parts, divided.Tasks)
		}
	}
}

// fitting returns the sizes that a task fits.
func fitting(g *mig.GPU, t *task.Task) (out []mig.Slices) {
	for _, size := range g.Sizes() {
		if t.Fits(size) {
			out = append(out, size)
		}
	}
	return out
}

// An energyBound computes the bound of [EnergyAtLeast] without dividing schedules.
type energyBound struct {
	problem *algo.Problem
	// ends has e by task and size index, and floors has f by size index. idle is n I, and head is h.
	ends   [][]mig.Seconds
	floors []float64
	idle   float64
	head   mig.Seconds
}

func boundEnergy(ctx context.Context, p algo.Problem) (mig.Joules, error) {
	certain, err := Certified(ctx, p)
	if err != nil {
		return 0, err
	}
	b := energyBound{
		problem: &p, ends: newSliceWeights(&p).ends, idle: float64(p.GPUs()) * float64(p.GPU.Power.Idle),
		head: mig.Seconds(math.Inf(1)),
	}
	for _, size := range p.GPU.Sizes() {
		b.floors = append(b.floors, float64(p.GPU.Floor(size)))
		b.head = min(b.head, p.Model.Cost(p.GPU.Profile(size).Create))
	}
	if len(p.Start) > 0 {
		b.head = 0
	}
	inf := mig.Seconds(math.Inf(1))
	if areaOnly(&p) {
		return mig.Joules(b.interval(certain, inf)), nil
	}
	starts := append(slices.Concat(b.ends...), certain)
	starts = slices.DeleteFunc(starts, func(e mig.Seconds) bool { return e < certain || e == inf })
	slices.Sort(starts)
	least := math.Inf(1)
	for _, from := range slices.Compact(starts) {
		if float64(b.idle*float64(from))+b.busy(0, nil, inf) >= least {
			break // later intervals draw at least as much
		}
		least = min(least, b.interval(from, from))
	}
	return mig.Joules(least), nil
}

// shares is the number of steps between the shares l that are tried.
const shares = 8

// interval returns the bound for makespans of at least from, with sizes on which tasks can end by the given time.
func (b *energyBound) interval(from, by mig.Seconds) float64 {
	best := float64(b.idle*float64(from)) + b.busy(0, nil, by)
	for _, weights := range sizeFacets(b.problem.GPU) {
		for k := 1; k <= shares; k++ {
			l := float64(float64(k) / shares)
			sum := float64((1-l)*b.idle*float64(from)) + float64(l*b.idle*float64(b.head))
			best = max(best, sum+b.busy(l, weights, by))
		}
	}
	return best
}

// busy returns the sum of the bound, +Inf if a task cannot end by the given time. weights are not used if l is 0.
func (b *energyBound) busy(l float64, weights []float64, by mig.Seconds) float64 {
	sum := 0.0
	charges := slices.Clone(b.floors)
	for s := range charges {
		if l > 0 {
			charges[s] += float64(l * float64(b.problem.GPU.Power.Idle) * weights[s])
		}
	}
	for i, ends := range b.ends {
		least := math.Inf(1)
		for s, size := range b.problem.GPU.Sizes() {
			takes := b.problem.Tasks[i].On(size)
			if ends[s] <= by && !math.IsInf(float64(takes), 1) {
				least = min(least, float64(charges[s]*float64(takes)))
			}
		}
		sum += least
	}
	return sum
}

// sizeFacets are the [facets] as weights by size index, without those that an earlier one dominates.
var sizeFacets = mig.Derived(func(g *mig.GPU) (out [][]float64) {
	for _, w := range facets(g) {
		var bySize []float64
		for _, size := range g.Sizes() {
			bySize = append(bySize, w[slices.Index(task.RequestProfiles(g), g.Profile(size))])
		}
		if !slices.ContainsFunc(out, func(o []float64) bool { return dominates(o, bySize) }) {
			out = append(out, bySize)
		}
	}
	return out
})
