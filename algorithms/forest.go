package algorithms

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
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

// newForest searches from two beginnings, FAR's plan and [forest.dealAlike], anneals the result that ends earlier, and
// searches it again. Each of the three searches has the given iterations for each pair.
func newForest(ctx context.Context, p algo.Problem, iterations int) (*forest, error) {
	s := newSearch(ctx, p, remnants(p))
	best := &forest{plan: s.plan, rng: s.rng}
	other := &forest{plan: newAssignment(p, best.plan.holds), rng: s.rng}
	other.dealAlike(ctx, best.plan)
	for _, f := range []*forest{best, other} {
		if err := f.improve(ctx, iterations, lnsBlur); err != nil {
			return nil, err
		}
	}
	if other.plan.time() < best.plan.time() {
		best = other
	}
	if err := best.anneal(ctx, annealSteps*p.GPUs()*iterations); err != nil {
		return nil, err
	}
	if err := best.improve(ctx, iterations, lnsBlur/5); err != nil {
		return nil, err
	}
	return best, nil
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
// GPUs go to the GPU with the least work. FAR then plans each GPU by itself.
func (f *forest) dealAlike(ctx context.Context, from *assignment) {
	p, n := from.p, int32(len(from.tree.nodes))
	bySize := make([][]timedTask, mig.MaxSize+1)
	for i, node := range from.node {
		size := from.tree.nodes[node%n].Size()
		bySize[size] = append(bySize[size], timedTask{from.seconds(int32(i), node), int32(i)})
	}
	own, work := make([][]int32, p.GPUs()), make([]float64, p.GPUs())
	for size, list := range bySize {
		slices.SortStableFunc(list, func(a, b timedTask) int { return cmp.Compare(b.time, a.time) })
		for k, t := range list {
			g := k * p.GPUs() / len(list)
			if mig.Slices(size) == p.GPU.ComputeSlices {
				g = slices.Index(work, slices.Min(work))
			}
			own[g] = append(own[g], t.task)
			work[g] += float64(float64(size) * t.time)
		}
	}
	for g, tasks := range own {
		for j, node := range newSearch(ctx, f.problem(tasks, 1), f.plan.holds[g:g+1]).bestNode {
			f.plan.put(tasks[j], int32(g)*n+node)
		}
	}
}

// improve runs [search.improve] on the pairs of each round, and divides the iterations of a pair between the rounds.
func (f *forest) improve(ctx context.Context, iterations int, blur float64) error {
	order := numbered[int](f.plan.p.GPUs())
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

// placeEach runs [search.improve] on each GPU, after [search.placeAll] if the GPU has at most [maxTreeDP] tasks.
func (f *forest) placeEach(ctx context.Context) error {
	for g := range f.plan.p.GPUs() {
		err := f.search([]int{g}, func(s *search) error {
			if len(s.plan.node) <= maxTreeDP {
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
	n := int32(len(f.plan.tree.nodes))
	var tasks []int32
	for i, node := range f.plan.node {
		if slices.Contains(gpus, int(node/n)) {
			tasks = append(tasks, int32(i))
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	var holds []remnant
	for _, g := range gpus {
		holds = append(holds, f.plan.holds[g])
	}
	plan := newAssignment(f.problem(tasks, len(gpus)), holds)
	for j, i := range tasks {
		node := f.plan.node[i]
		plan.put(int32(j), int32(slices.Index(gpus, int(node/n)))*n+node%n)
	}
	s := newSearchFrom(plan)
	s.rng = f.rng
	if err := improve(s); err != nil {
		return err
	}
	for j, i := range tasks {
		f.plan.take(i)
		node := s.bestNode[j]
		f.plan.put(i, int32(gpus[node/n])*n+node%n)
	}
	return nil
}
