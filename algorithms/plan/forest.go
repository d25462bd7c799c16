package plan

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// forestRounds is the number of times that each search of a forest pairs its GPUs.
const forestRounds = 10

// A forest is the search of lns and treedp on several GPUs. In each round it divides the GPUs into pairs and searches
// each pair with its tasks alone, so that tasks move between the two. In every second round it pairs the GPU that ends
// last with the GPU that ends first, and so on; in the others the pairs are random. No pair ends later than before. An
// iteration takes the same time for any number of GPUs.
type forest struct {
	plan *assignment
	rng  *rand.Rand
}

// ImprovePairs is [Improve] for several GPUs. It searches from two beginnings, a rule's plan and one that deals tasks
// of similar durations to each GPU, anneals the result that ends earlier, and searches it again. Each of the three
// searches has the given iterations for each pair of GPUs.
func ImprovePairs(
	ctx context.Context, p algo.Problem, from State, first Rule, iterations int,
) (schedule.Schedule, State, error) {
	f, err := newForest(ctx, p, from, first, iterations)
	return f.plan.answer(ctx, err)
}

// SolvePairs is [Solve] for several GPUs with at most [MaxTasks] tasks each on average. [ImprovePairs] divides the
// tasks between the GPUs, and the tasks of each GPU are placed together. Then pairs of GPUs exchange tasks again.
func SolvePairs(ctx context.Context, p algo.Problem, from State, first Rule) (schedule.Schedule, State, error) {
	f, err := newForest(ctx, p, from, first, iterationsOnPairs)
	if err == nil {
		err = f.placeEach(ctx)
	}
	if err == nil {
		err = f.improve(ctx, iterationsOnPairs, polishBlur)
	}
	if err == nil {
		err = f.placeEach(ctx)
	}
	return f.plan.answer(ctx, err)
}

func newForest(ctx context.Context, p algo.Problem, from State, first Rule, iterations int) (*forest, error) {
	s := newSearch(p, from, first(ctx, p))
	best := &forest{plan: s.plan, rng: s.rng}
	other := &forest{plan: newAssignment(p, from), rng: s.rng}
	other.dealAlike(ctx, best.plan, first)
	for _, f := range []*forest{best, other} {
		if err := f.improve(ctx, iterations, lnsBlur); err != nil {
			return best, err
		}
	}
	if other.plan.time() < best.plan.time() {
		best = other
	}
	err := best.anneal(ctx, AnnealSteps*p.GPUs()*iterations)
	if err == nil {
		err = best.improve(ctx, iterations, lnsBlur/5)
	}
	return best, err
}

// problem returns the problem of some tasks on the given number of GPUs.
func (f *forest) problem(tasks []int32, gpus int) algo.Problem {
	p := f.plan.p
	sub := algo.Problem{GPU: p.GPU, Model: p.Model, Count: gpus}
	for _, i := range tasks {
		sub.Tasks = append(sub.Tasks, p.Tasks[i])
		if p.Release != nil {
			sub.Release = append(sub.Release, p.Release[i])
		}
	}
	return sub
}

// dealAlike gives each GPU tasks of similar durations, because a whole GPU waits for the last of the tasks that run
// beside each other. The tasks that the given plan runs on one size are sorted and dealt in blocks. The tasks on whole
// GPUs go to the GPU with the least work. The rule then plans each GPU by itself.
func (f *forest) dealAlike(ctx context.Context, from *assignment, first Rule) {
	p, n := from.p, int32(len(from.tree.Nodes))
	bySize := make([][]Task, mig.MaxSize+1)
	for i, node := range from.node {
		size := from.tree.Nodes[node%n].Size()
		bySize[size] = append(bySize[size], Task{from.seconds(int32(i), node), int32(i)})
	}
	own, work := make([][]int32, p.GPUs()), make([]float64, p.GPUs())
	for size, list := range bySize {
		slices.SortStableFunc(list, func(a, b Task) int { return cmp.Compare(b.Seconds, a.Seconds) })
		for k, t := range list {
			g := k * p.GPUs() / len(list)
			if mig.Slices(size) == p.GPU.ComputeSlices {
				g = slices.Index(work, slices.Min(work))
			}
			own[g] = append(own[g], t.Index)
			work[g] += float64(float64(size) * t.Seconds)
		}
	}
	for g, tasks := range own {
		sub := f.problem(tasks, 1)
		for j, node := range newSearch(sub, f.plan.timer.from[g:g+1], first(ctx, sub)).bestNode {
			f.plan.put(tasks[j], int32(g)*n+node)
		}
	}
}

// improve runs [search.improve] on the pairs of each round, and divides the iterations of a pair between the rounds.
func (f *forest) improve(ctx context.Context, iterations int, blur float64) error {
	var order []int
	for g := range f.plan.p.GPUs() {
		order = append(order, g)
	}
	for r := range forestRounds {
		if r%2 == 0 {
			f.plan.time()
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f.plan.ends[a], f.plan.ends[b]) })
		} else {
			f.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		most := (r+1)*iterations/forestRounds - r*iterations/forestRounds
		for i := range len(order) / 2 {
			pair := []int{order[i], order[len(order)-1-i]}
			if err := f.search(pair, func(s *search) error { return s.improve(ctx, most, blur) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// placeEach runs [search.improve] on each GPU, after [search.placeAll] if the GPU has at most [MaxTasks] tasks.
func (f *forest) placeEach(ctx context.Context) error {
	for g := range f.plan.p.GPUs() {
		err := f.search([]int{g}, func(s *search) error {
			if len(s.plan.node) <= MaxTasks {
				s.placeAll(ctx)
			}
			return s.improve(ctx, iterationsAfter, polishBlur)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// search improves the plan of some GPUs. The plan of the other GPUs stays.
func (f *forest) search(gpus []int, improve func(*search) error) error {
	n := int32(len(f.plan.tree.Nodes))
	var tasks []int32
	for i, node := range f.plan.node {
		if slices.Contains(gpus, int(node/n)) {
			tasks = append(tasks, int32(i))
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	var from State
	for _, g := range gpus {
		from = append(from, f.plan.timer.from[g])
	}
	lists := make([][]Task, int(n)*len(gpus))
	for j, i := range tasks {
		node := f.plan.node[i]
		own := int32(slices.Index(gpus, int(node/n)))*n + node%n
		lists[own] = append(lists[own], Task{Index: int32(j)})
	}
	s := newSearch(f.problem(tasks, len(gpus)), from, lists)
	s.rng = f.rng
	if err := improve(s); err != nil {
		return err
	}
	for j, i := range tasks {
		node := s.bestNode[j]
		f.plan.move(i, int32(gpus[node/n])*n+node%n)
	}
	return nil
}
