package plan

import (
	"context"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/portable"
)

// AnnealSteps is the number of annealing steps of [ImprovePairs] for each iteration and GPU. A step is much cheaper
// than an iteration: it moves one or two tasks, and an iteration places seven by dynamic programming.
const AnnealSteps = 500

// annealTargets are the shares of the makespan that [forest.anneal] tries to stay below.
var annealTargets = []float64{0.995, 0.985, 0.97, 0.955}

// An annealer looks for a plan that ends before a target by simulated annealing (Kirkpatrick, Gelatt and Vecchi,
// Science 1983). A step moves a task to another node of any GPU, or swaps two tasks. The cost is the sum of
// (end - target)^2 over all compute slices that end after the target. A node may not become busy for longer than the
// target: otherwise the search ends with one pair of long tasks too many on a node, which no single step can repair.
type annealer struct {
	*forest
	target float64
	cost   []float64 // by GPU
	// best is the makespan of the best plan, in seconds, and bestNode its node of each task.
	best     float64
	bestNode []int32
}

// anneal searches all GPUs at once for one target after the other. Problems with release times keep their plan.
func (f *forest) anneal(ctx context.Context, steps int) error {
	if f.plan.p.Release != nil || len(f.plan.node) == 0 {
		return nil
	}
	for _, share := range annealTargets {
		now := f.plan.time()
		a := &annealer{
			forest: f, target: share * now, cost: make([]float64, f.plan.p.GPUs()),
			best: now, bestNode: slices.Clone(f.plan.node),
		}
		if err := a.run(ctx, steps/len(annealTargets)); err != nil {
			return err
		}
	}
	return nil
}

// run takes a number of steps and ends with the best plan. The temperature falls from hot to cold, as shares of the
// makespan; it is squared like the cost.
func (a *annealer) run(ctx context.Context, steps int) error {
	const hot, cold = 3e-2, 1e-3
	a.shorten()
	for g := range a.cost {
		a.cost[g] = a.measure(g)
	}
	for k := range steps {
		if k%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		temperature := a.best * hot * portable.Pow(cold/hot, float64(k)/float64(steps))
		a.step(temperature * temperature)
	}
	for i, node := range a.bestNode {
		a.plan.move(int32(i), node)
	}
	a.plan.time()
	return nil
}

// shorten moves tasks from nodes that are busy for longer than the target to whole GPUs, if they end in time there.
func (a *annealer) shorten() {
	for i, node := range a.plan.node {
		root := int32(a.rng.IntN(a.plan.p.GPUs()) * len(a.plan.tree.Nodes))
		if a.busy(node) > a.target && a.fits(int32(i), root) {
			a.plan.move(int32(i), root)
		}
	}
}

// fits reports whether a task alone takes at most the target on a node.
func (a *annealer) fits(task, node int32) bool { return a.plan.seconds(task, node) <= a.target }

// busy returns the sum of the durations of a node's tasks.
func (a *annealer) busy(node int32) float64 {
	g, v := a.plan.tree.Locate(node)
	return a.plan.loads[g].seconds[v]
}

// allows reports whether the tasks of a node take at most the target, or no longer than before.
func (a *annealer) allows(node int32, before float64) bool {
	busy := a.busy(node)
	return busy <= a.target || busy <= before
}

// swap moves task i from a node to another, and task j back if it is not negative.
func (a *annealer) swap(i, j, from, to int32) {
	a.plan.move(i, to)
	if j >= 0 {
		a.plan.move(j, from)
	}
}

// step tries a move or a swap and undoes it unless it is accepted.
func (a *annealer) step(temperature float64) {
	p := a.plan
	i, j := a.rng.Int32N(int32(len(p.node))), int32(-1)
	from, to := p.node[i], a.rng.Int32N(int32(p.tree.Count()))
	if a.rng.IntN(2) == 0 {
		j = a.rng.Int32N(int32(len(p.node)))
		to = p.node[j]
	}
	if from == to || !a.fits(i, to) || j >= 0 && !a.fits(j, from) {
		return
	}
	busyFrom, busyTo := a.busy(from), a.busy(to)
	a.swap(i, j, from, to)
	if !a.allows(from, busyFrom) || !a.allows(to, busyTo) {
		a.swap(i, j, to, from)
		return
	}
	g, _ := p.tree.Locate(from)
	h, _ := p.tree.Locate(to)
	endG, endH := p.ends[g], p.ends[h]
	before, after := a.cost[g], a.measure(g)
	costG, costH := after, after
	if g != h {
		costH = a.measure(h)
		before += a.cost[h]
		after += costH
	}
	if after > before && a.rng.Float64() >= portable.Exp((before-after)/temperature) {
		p.ends[g], p.ends[h] = endG, endH
		a.swap(i, j, to, from)
		return
	}
	a.cost[g], a.cost[h] = costG, costH
	if p.ends[g] < a.best && p.ends[h] < a.best {
		last := slices.Max(p.ends)
		if last < a.best {
			a.best = last
			copy(a.bestNode, p.node)
		}
	}
}

// measure times the plan of a GPU and returns its cost.
func (a *annealer) measure(g int) float64 {
	p := a.plan
	p.timeOne(g)
	var ends [mig.MaxMemorySlices]float64
	p.timer.clocks[g].raiseEnds(ends[:])
	cost := 0.0
	for _, end := range ends {
		late := max(0, end-a.target)
		cost += float64(late * late)
	}
	return cost
}
