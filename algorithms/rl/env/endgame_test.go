package env

import (
	"math"
	"math/rand/v2"
	"testing"

	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// endgameStates begins episodes that have n tasks left on a GPU at work. The returned
// function goes back to the last state.
func endgameStates(t *testing.T, o *Own, seed uint64, n int) (again func()) {
	t.Helper()
	begin := func() {
		rng := rand.New(rand.NewPCG(seed, 3))
		observation, mask := make([]float32, o.Shape().Observation), make([]bool, o.Shape().Actions)
		last := o.last
		o.last = 0
		for o.Reset(rng); len(o.tasks) < n; o.Reset(rng) {
		}
		for len(o.tasks) > n {
			o.Observe(observation, mask)
			o.Step(choose(rng, mask))
		}
		o.last = last
	}
	begin()
	return begin
}

// finish carries out the endgame and returns the makespan.
func finish(o *Own) float64 {
	for done := false; !done; {
		_, done = o.Step(o.nextPlanned())
	}
	return o.device.Makespan()
}

// The endgame is as good as the best of all assignments of the tasks to nodes, if
// instances are only split.
func TestEndgameIsOptimal(t *testing.T) {
	for _, name := range []string{"A30", "A100"} {
		g := mig.MustLookup(name)
		for seed := range uint64(deep.N(5, 25)) {
			o := NewOwn(g, mig.Parallel, 7, randomTasks(g), 0.5).Endgame(3)
			again := endgameStates(t, o, seed, 3)
			got := finish(o)
			best := math.Inf(1)
			nodes := len(o.layout.nodes)
			for code := range nodes * nodes * nodes {
				again()
				fits := true
				for j, rest := 0, code; j < 3; j, rest = j+1, rest/nodes {
					v := rest % nodes
					fits = fits && !math.IsInf(o.tasks[j].Times[o.layout.nodes[v].size], 1)
					o.planned = append(o.planned, plannedTask{o.tasks[j].index, o.layout.real[o.view.renaming][v]})
				}
				if fits {
					best = min(best, finish(o))
				}
			}
			if math.Abs(got/best-1) > 1e-6 {
				t.Errorf("%s, seed %d: the makespan is %v, the least %v", name, seed, got, best)
			}
		}
	}
}

// Tasks for the whole GPU alone leave no choice and no slice idle, and without reconfiguration they
// end exactly at the horizon, which rounding exceeds.
func TestEndgameOfTasksForTheWholeGPU(t *testing.T) {
	g := mig.MustLookup("A30")
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 4))
		o := NewOwn(g, mig.Free, maxEndgame, nil, 0).Endgame(maxEndgame)
		tasks, sum := make([]Times, maxEndgame), 0.0
		for j := range tasks {
			for size := range tasks[j] {
				tasks[j][size] = math.Inf(1)
			}
			tasks[j][g.ComputeSlices] = math.Exp(8*rng.Float64() - 3)
			sum += tasks[j][g.ComputeSlices]
		}
		if err := o.Load(tasks, 0, nil); err != nil {
			t.Fatal(err)
		}
		if got := finish(o); math.Abs(got/sum-1) > 1e-12 {
			t.Errorf("seed %d: the makespan is %v, want %v", seed, got, sum)
		}
	}
}

// In the endgame one action at a time is allowed, and the referee accepts the result. The
// rewards of an episode without the endgame's decisions have the same sum.
func TestEndgameInTheEnvironment(t *testing.T) {
	for _, g := range []*mig.GPU{mig.MustLookup("A30"), mig.MustLookup("A100")} {
		for _, model := range []mig.Reconfiguration{mig.Sequential, mig.Parallel} {
			source := func(rng *rand.Rand, tasks []Times) int {
				for {
					if n := randomTasks(g)(rng, tasks); n > 8 {
						return n
					}
				}
			}
			o := NewOwn(g, model, 12, source, 0.5).Endgame(8)
			shape := o.Shape()
			observation, mask := make([]float32, shape.Observation), make([]bool, shape.Actions)
			for seed := range uint64(50) {
				rng := rand.New(rand.NewPCG(seed, 7))
				o.Reset(rng)
				p := problemOf(g, model, append([]Times(nil), o.drawn[:len(o.tasks)]...))
				p.Start = existing(o.device)
				var actions []int
				sum := float32(0)
				for done := false; !done; {
					o.Observe(observation, mask)
					allowed := 0
					for _, a := range mask {
						if a {
							allowed++
						}
					}
					if left := len(o.tasks); left <= 8 && allowed != 1 || left > 8 && allowed == 1 {
						t.Fatalf("%d actions are allowed with %d tasks left", allowed, left)
					}
					a := choose(rng, mask)
					if len(o.tasks) > 8 {
						actions = append(actions, a)
					}
					var r float32
					r, done = o.Step(a)
					sum += r
				}
				if v := schedule.Check(p, o.device.Schedule()); len(v) > 0 {
					t.Fatalf("%s, %s: %v", g, model, v)
				}
				makespan := o.device.Makespan()

				o.Reset(rand.New(rand.NewPCG(seed, 7)))
				u := Undecided{o}
				again := float32(0)
				for i, a := range actions {
					r, done := u.Step(a)
					again += r
					if done != (i == len(actions)-1) {
						t.Fatalf("after %d of %d decisions the episode is done: %v", i+1, len(actions), done)
					}
				}
				if o.device.Makespan() != makespan || math.Abs(float64(again-sum)) > 1e-4 {
					t.Fatalf("makespan %v and return %v, with the endgame's decisions %v and %v", o.device.Makespan(), again, makespan, sum)
				}
			}
		}
	}
}

// BenchmarkEndgame is the time of one plan for eight tasks: the longest decision of our
// agent.
func BenchmarkEndgame(b *testing.B) {
	g := mig.MustLookup("A100")
	o := NewOwn(g, mig.Sequential, 8, nil, 0).Endgame(8)
	tasks := make([]Times, 8)
	for i := range tasks {
		for _, s := range g.Sizes() {
			tasks[i][s] = float64(10+3*i) / float64(s)
		}
	}
	if err := o.Load(tasks, 0, nil); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		o.plan()
	}
}
