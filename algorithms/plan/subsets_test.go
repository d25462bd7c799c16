package plan

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/harness/algo"
	"miglab/harness/mig"
)

// drawnPlan puts each task on a random node that it fits.
func drawnPlan(rng *rand.Rand) Rule {
	return func(_ context.Context, p algo.Problem) [][]Task {
		tree := NewTree(p)
		lists := make([][]Task, tree.Count())
		for i := range p.Tasks {
			seconds, node := math.Inf(1), 0
			for math.IsInf(seconds, 1) {
				node = rng.IntN(tree.Count())
				seconds = float64(p.Tasks[i].On(tree.Nodes[node%len(tree.Nodes)].Size()))
			}
			lists[node] = append(lists[node], Task{seconds, int32(i)})
		}
		return lists
	}
}

// leastTopDown tries all nodes for the tasks from one on, which are not on any, and returns the
// least end by the clock.
func leastTopDown(plan *assignment, i int32) float64 {
	if int(i) == len(plan.node) {
		return plan.time()
	}
	least := math.Inf(1)
	for node := range int32(plan.tree.Count()) {
		if !math.IsInf(plan.seconds(i, node), 1) {
			plan.put(i, node)
			least = min(least, leastTopDown(plan, i+1))
			plan.take(i)
		}
	}
	return least
}

// TestSubsetsAreOptimalWithoutAChannel: the model is exact if operations do not exclude
// each other. In some problems the first of three tasks stays on a random node.
func TestSubsetsAreOptimalWithoutAChannel(t *testing.T) {
	for i := range uint64(500) {
		rng := rand.New(rand.NewPCG(i, 21))
		p := algotest.RandomProblem(rng, 1+rng.IntN(3))
		p.Model = mig.Parallel
		if i%5 == 0 {
			p.Model = mig.Free
		}
		if i%10 == 1 && len(p.Tasks) < 3 {
			p.Count = 2
		}
		if i%2 == 0 {
			algotest.AddStart(&p, rng)
		}
		if i%3 == 0 { // tasks far shorter than operations
			for k := range p.Tasks {
				for _, size := range p.GPU.Sizes() {
					p.Tasks[k].Set(size, p.Tasks[k].On(size)/1000)
				}
			}
		}
		first := int32(0)
		if len(p.Tasks) == 3 && p.Model == mig.Parallel && i >= 200 {
			first = 1
		}
		s := newSearch(p, Start(p), drawnPlan(rng)(t.Context(), p))
		stays, plan := s.plan.node[0], newAssignment(p, Start(p))
		if first == 1 {
			plan.put(0, stays)
		}
		want := leastTopDown(plan, first)
		for k := first; int(k) < len(p.Tasks); k++ {
			s.tasks = append(s.tasks, k)
		}
		s.replace(0, 0)
		if math.Abs(s.makespan-want) > 1e-6*want || first == 1 && s.plan.node[0] != stays {
			t.Errorf("seed %d, %s, %v: %v s, the best nodes of the tasks from %d on give %v s", i, p.GPU, p.Model, s.makespan, first, want)
		}
	}
}

func TestTreeDPOfFewTasksIsNextToTheBestAssignment(t *testing.T) {
	worst, sum := 0.0, 0.0
	const cases = 150
	for i := range uint64(cases) {
		rng := rand.New(rand.NewPCG(i, 23))
		p := algotest.RandomProblem(rng, 1+rng.IntN(3))
		want := leastTopDown(newAssignment(p, Start(p)), 0)
		s, _, err := Solve(context.Background(), p, Start(p), drawnPlan(rng))
		if err != nil {
			t.Fatal(err)
		}
		over := float64(s.Makespan())/want - 1
		worst, sum = max(worst, over), sum+over
	}
	if worst > 0.005 || sum/cases > 1e-4 {
		t.Errorf("treedp ends up to %.3g %% after the best assignment, %.3g %% on the mean", 100*worst, 100*sum/cases)
	}
}
