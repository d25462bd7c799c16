package algorithms

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// leastTopDown tries all nodes for all tasks and returns the least end by the clock.
func leastTopDown(p algo.Problem, holds []remnant) float64 {
	plan := newAssignment(p, holds)
	least := math.Inf(1)
	var place func(i int32)
	place = func(i int32) {
		if int(i) == len(p.Tasks) {
			least = min(least, plan.time())
			return
		}
		for node := range int32(p.GPUs() * len(plan.tree.nodes)) {
			if !math.IsInf(plan.seconds(i, node), 1) {
				plan.put(i, node)
				place(i + 1)
				plan.take(i)
			}
		}
	}
	place(0)
	return least
}

// TestSubsetsAreOptimalWithoutAChannel: the model is exact if operations do not exclude
// each other.
func TestSubsetsAreOptimalWithoutAChannel(t *testing.T) {
	for i := range uint64(300) {
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
		holds := remnants(p)
		want := leastTopDown(p, holds)
		s := newSearch(t.Context(), p, holds)
		for k := range p.Tasks {
			s.tasks = append(s.tasks, int32(k))
		}
		s.replace(0, 0)
		if math.Abs(s.best-want) > 1e-6*want {
			t.Errorf("seed %d, %s, %v: %v s, the best of all assignments ends at %v s", i, p.GPU, p.Model, s.best, want)
		}
	}
}

// TestSubsetsAreOptimalBesideFixedTasks keeps one of three tasks where it is.
func TestSubsetsAreOptimalBesideFixedTasks(t *testing.T) {
	for i := range uint64(200) {
		rng := rand.New(rand.NewPCG(i, 22))
		p := algotest.RandomProblem(rng, 3)
		p.Model = mig.Parallel
		if i%2 == 0 {
			algotest.AddStart(&p, rng)
		}
		s := newSearch(t.Context(), p, remnants(p))
		plan := s.plan
		stays := plan.node[0]
		s.tasks = []int32{1, 2}
		s.replace(0, 0)
		got := s.now
		least := math.Inf(1)
		n := int32(len(plan.tree.nodes))
		for a := range n {
			for b := range n {
				if math.IsInf(plan.seconds(1, a)+plan.seconds(2, b), 1) {
					continue
				}
				plan.take(1)
				plan.take(2)
				plan.put(1, a)
				plan.put(2, b)
				least = min(least, plan.time())
			}
		}
		if plan.node[0] != stays {
			t.Fatalf("seed %d: task 0 went from node %d to %d", i, stays, plan.node[0])
		}
		if math.Abs(got-least) > 1e-6*least {
			t.Errorf("seed %d, %s: %v s, the best nodes of two tasks give %v s", i, p.GPU, got, least)
		}
	}
}

func TestTreeDPOfFewTasksIsNextToTheBestAssignment(t *testing.T) {
	worst, sum := 0.0, 0.0
	const cases = 150
	for i := range uint64(cases) {
		rng := rand.New(rand.NewPCG(i, 23))
		p := algotest.RandomProblem(rng, 1+rng.IntN(3))
		want := leastTopDown(p, remnants(p))
		s, err := algo.MustParse("treedp").Schedule(context.Background(), p)
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

func TestStreamBeginsOnWhatIsThere(t *testing.T) {
	p := algo.Problem{GPU: mig.MustLookup("A100")}
	rng := rand.New(rand.NewPCG(1, 25))
	for len(p.Tasks) < 24 {
		q := algotest.RandomProblem(rng, 24)
		if q.GPU == p.GPU {
			p.Tasks = q.Tasks
		}
	}
	s, err := algo.MustParse("lns-stream").ScheduleStream(context.Background(), p, []int{6, 6, 6, 6})
	if err != nil {
		t.Fatal(err)
	}
	if v := schedule.Check(p, s); len(v) > 0 {
		t.Fatal(v)
	}
	// A batch after the first has a task that begins before the batch before it has ended.
	overlaps := 0
	for b := 1; b < 4; b++ {
		begins, ends := mig.Seconds(math.Inf(1)), mig.Seconds(0)
		for _, pl := range s.Placements {
			if pl.Task/6 == b {
				begins = min(begins, pl.Start)
			}
			if pl.Task/6 == b-1 {
				ends = max(ends, pl.End)
			}
		}
		if begins < ends {
			overlaps++
		}
	}
	if overlaps == 0 {
		t.Error("no batch overlaps the one before it")
	}
}

func TestTreeDPSaysHowManyTasksItTakes(t *testing.T) {
	p := algotest.RandomProblem(rand.New(rand.NewPCG(1, 26)), maxTreeDP+1)
	_, err := algo.MustParse("treedp").Schedule(context.Background(), p)
	if want := `treedp is infeasible: task "t0018" is one of 19; treedp takes at most 18, lns any number`; err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}
