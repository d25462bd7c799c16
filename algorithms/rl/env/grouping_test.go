package env

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// drawnWindow draws 1 to 12 programs anew from the classes.
func drawnWindow(t *rapid.T) []task.Program {
	spec := fmt.Sprintf("corun/drawn?w=%d&seed=%d", rapid.IntRange(1, WindowSize).Draw(t, "w"), rapid.Uint32().Draw(t, "seed"))
	in, err := datasets.InstanceOf[corun.Window](datasets.MustParse(spec), mig.MustLookup("A100"), rapid.IntRange(0, 3).Draw(t, "category"))
	if err != nil {
		t.Fatal(err)
	}
	return in.Jobs
}

// chooseGroup draws a candidate and an allowed setup, and returns what was observed.
func chooseGroup(t *rapid.T, of Choices) (choice int, observation []float32) {
	s := of.Shape()
	observation, mask := make([]float32, s.Observation), make([]bool, s.Actions)
	of.Choose(rapid.IntRange(0, of.Candidates()-1).Draw(t, "candidate"))
	of.Observe(observation, mask)
	var allowed []int
	for a, ok := range mask {
		if ok {
			allowed = append(allowed, a)
		}
	}
	return rapid.SampledFrom(allowed).Draw(t, "choice"), observation
}

// Table VI has 29 advantages. The paper's agent sees nothing but the 12 counters of Table III.
func TestGroupingHasThePapersActions(t *testing.T) {
	paper, own := NewGrouping(false), NewGrouping(true)
	if s := paper.Shape(); s != (Shape{Observation: (4 + 2 + 2) * 12, Actions: 29}) {
		t.Errorf("the paper's agent: %+v", s)
	}
	if s := own.Shape(); s != (Shape{Observation: (4+2+2)*12 + 29, Actions: 29}) {
		t.Errorf("ours: %+v", s)
	}
}

// The candidates are all sets of two to Cmax jobs with the longest one.
func TestGroupingCandidates(t *testing.T) {
	in, err := datasets.InstanceOf[corun.Window](datasets.MustParse("corun/queues"), mig.MustLookup("A100"), 0)
	if err != nil {
		t.Fatal(err)
	}
	for cmax, want := range map[int]int{2: 11, 3: 11 + 55, 4: 11 + 55 + 165} {
		var g Grouping
		g.Load(in.Jobs, cmax)
		if g.Candidates() != want {
			t.Errorf("Cmax %d: %d candidates, want %d", cmax, g.Candidates(), want)
		}
	}
}

// Whatever is chosen, every job is in one group, of an allowed size, and the longest job
// left is in each.
func TestGroupingPlansEveryJobOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawnWindow(t)
		w := corun.Window{Jobs: jobs, Concurrency: rapid.IntRange(1, 4).Draw(t, "cmax")}
		var g Grouping
		g.Load(jobs, w.Concurrency)
		var plan corun.Plan
		left := map[int]bool{}
		for i := range jobs {
			left[i] = true
		}
		for !g.Done() {
			choice, _ := chooseGroup(t, &g)
			group := g.Group(choice)
			longest := mig.Seconds(0)
			for i := range left {
				longest = max(longest, jobs[i].Solo)
			}
			if !slices.ContainsFunc(group.Jobs, func(j int) bool { return jobs[j].Solo == longest }) {
				t.Fatalf("%v is without the longest job", group.Jobs)
			}
			for _, j := range group.Jobs {
				delete(left, j)
			}
			plan = append(plan, group)
		}
		if v := corun.Check(w, append(plan, g.Rest()...)); v != nil {
			t.Fatal(v)
		}
	})
}

// A window is a set: the order of its jobs changes neither what is seen nor the groups.
func TestGroupingIgnoresTheOrderOfJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawnWindow(t)
		order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range jobs {
				if !yield(i) {
					return
				}
			}
		})).Draw(t, "order")
		other := make([]task.Program, len(jobs))
		for i, from := range order {
			other[i] = jobs[from]
		}
		a, b := NewGrouping(true), NewGrouping(true)
		a.Load(jobs, 4)
		b.Load(other, 4)
		for !a.Done() {
			choice, seen := chooseGroup(t, &a)
			b.Choose(a.chosen)
			s := a.Shape()
			again := make([]float32, s.Observation)
			b.Observe(again, make([]bool, s.Actions))
			for i := range seen {
				// The mean of the times may be rounded otherwise.
				if math.Abs(float64(seen[i]-again[i])) > 1e-5 {
					t.Fatalf("input %d is %v, and %v in another order", i, seen[i], again[i])
				}
			}
			one, two := a.Group(choice), b.Group(choice)
			for i := range one.Jobs {
				if one.Jobs[i] != order[two.Jobs[i]] {
					t.Fatalf("jobs %v, and in the order %v jobs %v", one.Jobs, order, two.Jobs)
				}
			}
		}
	})
}

// One window of two jobs, by hand.
func TestGroupingByHand(t *testing.T) {
	long := task.Program{Solo: 30, Serial: 0.1, Compute: 0.8, Parallelism: 1, Memory: 0.2}
	short := task.Program{Solo: 10, Serial: 0.5, Compute: 0.05, Parallelism: 0.1, Memory: 0.04}
	g := NewGrouping(true)
	g.Load([]task.Program{short, long}, 4)
	s := g.Shape()
	x, mask := make([]float32, s.Observation), make([]bool, s.Actions)
	g.Observe(x, mask)
	// The short job has less compute work, so its slot is the smaller one.
	want := []float64{
		0.5, 0.04, logScale(0.5), logScale(0.1), 0.125, logScale(0.04), 0.8, 0.2, 0.5 * 0.05, 0.05, 0.1, logScale(0.05),
		1.5, 0.2, logScale(1.5), 1, 0.125, logScale(0.2), 0.2 / 0.9, math.Sqrt(0.2), 1.5 * 0.9, 0.8, 1, logScale(0.9), 0,
	}
	for i, v := range want {
		if math.Abs(float64(x[i])-v) > 1e-6 {
			t.Errorf("input %d is %v, want %v", i, x[i], v)
		}
	}
	// On [(0.1)+(0.9),1m] the short job runs as alone but for interference, and ends first. The
	// intermediate rewards: it uses half of its multiprocessors, the long one 8/9.
	saved, pair := x[8*counters], []int8{1, 0}
	ends := 1.5*long.Relative(0.9, 1) + 0.25*0.5*short.Relative(0.1, 1)
	if math.Abs(float64(saved)-(2-ends)) > 0.01 {
		t.Errorf("%v is saved on [(0.1)+(0.9),1m], want about %v", saved, 2-ends)
	}
	if got, want := g.intermediateRewards(&actions()[0], pair), 0.5*0.5+1.5*8/9; math.Abs(got-want) > 1e-6 {
		t.Errorf("intermediate rewards of %v, want %v", got, want)
	}
	for a, ok := range mask {
		if ok != (a < 6) {
			t.Errorf("action %d allowed: %t; two jobs have the first 6", a, ok)
		}
	}
	if group := g.Group(0); group.Setup.String() != "[(0.1)+(0.9),1m]" || !slices.Equal(group.Jobs, []int{0, 1}) {
		t.Errorf("%v on %s", group.Jobs, &group.Setup)
	}
	if !g.Done() || g.Rest() != nil {
		t.Error("jobs are left")
	}
}

// Without intermediate rewards an episode's sum is what the referee measures, with losses cut off,
// less the usual saving. The intermediate rewards are those that are seen before.
func TestCorunRewards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawnWindow(t)
		if len(jobs) < 2 {
			return
		}
		source := func(_ *rand.Rand, buf []task.Program) []task.Program { return append(buf[:0], jobs...) }
		w := corun.Window{Jobs: jobs, Concurrency: 4, Model: corun.Model{Kappa: 0.25, Delta: 0.3}}
		const weight = 0.5
		final, both := NewCorun(w.Model, 0, true, source), NewCorun(w.Model, weight, true, source)
		seed := rapid.Uint64().Draw(t, "seed")
		final.Reset(rand.New(rand.NewPCG(seed, 0)))
		both.Reset(rand.New(rand.NewPCG(seed, 0)))
		var g Grouping
		g.Load(jobs, 4)
		var plan corun.Plan
		sum := 0.0
		for done := false; !done; {
			choice, _ := chooseGroup(t, final)
			g.Choose(slices.Index(g.candidates, final.candidates[final.chosen]))
			both.Choose(final.chosen)
			group, _ := g.members()
			rewards := weight * g.intermediateRewards(&actions()[choice], group)
			plan = append(plan, g.Group(choice))
			var reward float32
			reward, done = final.Step(choice)
			sum += float64(reward)
			more, _ := both.Step(choice)
			if math.Abs(float64(more-reward)-rewards) > 1e-5 {
				t.Fatalf("intermediate rewards of %v, want %v", more-reward, rewards)
			}
		}
		plan = append(plan, g.Rest()...)
		r, err := corun.Measure(w, plan)
		if err != nil {
			t.Fatal(err)
		}
		mean, want := g.mean, 0.0
		for i, group := range plan {
			solo := 0.0
			for _, j := range group.Jobs {
				solo += float64(jobs[j].Solo) / mean
			}
			want += max(solo-float64(r.Groups[i])/mean, -largestLoss) - usualSaving*solo
		}
		if math.Abs(sum-want) > 1e-4 {
			t.Fatalf("rewards of %v, want %v", sum, want)
		}
	})
}

// No plan that the agent's actions can form is faster than the ceiling, and the ceiling is such a
// plan.
func TestCeiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := corun.Window{Jobs: drawnWindow(t), Concurrency: rapid.IntRange(1, 4).Draw(t, "cmax"), Model: corun.Model{Kappa: 0.25, Delta: 0.3}}
		best, err := corun.Measure(w, Ceiling(&w, corun.Agent))
		if err != nil {
			t.Fatal(err)
		}
		var g Grouping
		g.Load(w.Jobs, w.Concurrency)
		var plan corun.Plan
		for !g.Done() {
			choice, _ := chooseGroup(t, &g)
			plan = append(plan, g.Group(choice))
		}
		other, err := corun.Measure(w, append(plan, g.Rest()...))
		if err != nil {
			t.Fatal(err)
		}
		if best.Makespan > other.Makespan*(1+1e-9) {
			t.Fatalf("%v s at best, and %v s is possible", best.Makespan, other.Makespan)
		}
		more, err := corun.Measure(w, Ceiling(&w, corun.Hierarchical))
		if err != nil {
			t.Fatal(err)
		}
		if more.Makespan > best.Makespan*(1+1e-9) {
			t.Fatalf("%v s with 85 setups, and %v s with 29 of them", more.Makespan, best.Makespan)
		}
	})
}

// The plan of the ceiling is one that the actions form, decision by decision.
func TestCeilingIsReached(t *testing.T) {
	w, err := datasets.InstanceOf[corun.Window](datasets.MustParse("corun/queues"), mig.MustLookup("A100"), 0)
	if err != nil {
		t.Fatal(err)
	}
	var g Grouping
	g.Load(w.Jobs, w.Concurrency)
	for _, want := range Ceiling(&w, corun.Agent) {
		if len(want.Jobs) == 1 {
			if rest := g.Rest(); len(rest) != 1 || !slices.Equal(rest[0].Jobs, want.Jobs) {
				t.Errorf("%v is left, want %v", rest, want.Jobs)
			}
			continue
		}
		found := false
		for k := range g.Candidates() {
			g.Choose(k)
			for choice := range actions() {
				after := g
				after.left, after.candidates = slices.Clone(g.left), slices.Clone(g.candidates)
				if actions()[choice].layout.Slots != bits.OnesCount16(g.candidates[k]) {
					continue
				}
				if got := after.Group(choice); slices.Equal(got.Jobs, want.Jobs) && got.Setup.String() == want.Setup.String() && !found {
					found = true
					g.Group(choice)
					break
				}
			}
			if found {
				break
			}
		}
		if !found {
			t.Fatalf("no action forms %v on %v", want.Jobs, &want.Setup)
		}
	}
}

// A program whose parallel part is empty, or less than that by rounding, has counters from 0 to 1.
func TestCountersOfSerialPrograms(t *testing.T) {
	for _, p := range []task.Program{
		{Serial: 1, Parallelism: 1},
		{Serial: 1 - 1e-10, Parallelism: 1},
		{Serial: 1 + 1e-10, Parallelism: 1},
		{Serial: 1 + 1e-10, Parallelism: 0.5, Memory: 1e-12},
	} {
		p.Name, p.Class, p.Solo = "serial", task.Unscalable, 10
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		for i, v := range deriveCounters(&p, 10) {
			if !(v >= 0 && v <= 1) {
				t.Errorf("%+v: counter %d is %v", p, i, v)
			}
		}
	}
}
