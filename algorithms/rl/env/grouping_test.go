package env

import (
	"fmt"
	"math"
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

// chooseSetup draws an allowed setup, and returns what was observed.
func chooseSetup(t *rapid.T, observe func([]float32, []bool)) (choice int, observation []float32) {
	s := GroupingShape()
	observation, mask := make([]float32, s.Observation), make([]bool, s.Actions)
	observe(observation, mask)
	var allowed []int
	for a, ok := range mask {
		if ok {
			allowed = append(allowed, a)
		}
	}
	return rapid.SampledFrom(allowed).Draw(t, "choice"), observation
}

// Table VI has 29 advantages.
func TestGroupingHasThePapersActions(t *testing.T) {
	if s := GroupingShape(); s != (Shape{Observation: 12*5 + 29*2, Actions: 29}) {
		t.Errorf("%+v", s)
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
			choice, _ := chooseSetup(t, g.Observe)
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
		var a, b Grouping
		a.Load(jobs, 4)
		b.Load(other, 4)
		for !a.Done() {
			choice, seen := chooseSetup(t, a.Observe)
			s := GroupingShape()
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
	short := task.Program{Solo: 10, Serial: 0.5, Compute: 0.05, Parallelism: 0.1, Memory: 0.4}
	var g Grouping
	g.Load([]task.Program{short, long}, 4)
	s := GroupingShape()
	x, mask := make([]float32, s.Observation), make([]bool, s.Actions)
	g.Observe(x, mask)
	want := []float64{1.5, 0.8, 0.2, 0.9, 1, 0.5, 0.05, 0.4, 0.05, 0.1, 0}
	for i, v := range want {
		if math.Abs(float64(x[i])-v) > 1e-6 {
			t.Errorf("input %d is %v, want %v", i, x[i], v)
		}
	}
	// With 10 % of the multiprocessors the long job would be at an eighth of its pace, and
	// with 90 % it has a use for 8/9 of them. The short one has a use for half of its 10 %
	// by multiprocessors; beside the other, for 0.4 of the bandwidth.
	first := x[WindowSize*profileSize:]
	for i, v := range []float64{2 - 1.5, 1.5*8/9 + 0.5*0.5} {
		if math.Abs(float64(first[i])-v) > 1e-6 {
			t.Errorf("number %d about [(0.1)+(0.9),1m] is %v, want %v", i, first[i], v)
		}
	}
	for a, ok := range mask {
		if ok != (a < 7) {
			t.Errorf("action %d allowed: %t; two jobs have the first 7", a, ok)
		}
	}
	if group := g.Group(0); group.Setup.String() != "[(0.1)+(0.9),1m]" || !slices.Equal(group.Jobs, []int{0, 1}) {
		t.Errorf("%v on %s", group.Jobs, &group.Setup)
	}
	if !g.Done() || g.Rest() != nil {
		t.Error("jobs are left")
	}
}

// Without intermediate rewards an episode's sum is what the referee measures, and the
// intermediate ones are those that are seen before.
func TestCorunRewards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawnWindow(t)
		if len(jobs) < 2 {
			return
		}
		source := func(_ *rand.Rand, buf []task.Program) []task.Program { return append(buf[:0], jobs...) }
		w := corun.Window{Jobs: jobs, Concurrency: 4, Model: corun.Model{Kappa: 0.25, Delta: 0.3}}
		const weight = 0.5
		final, both := NewCorun(w.Model, 0, source), NewCorun(w.Model, weight, source)
		final.Reset(nil)
		both.Reset(nil)
		var g Grouping
		g.Load(jobs, 4)
		var plan corun.Plan
		sum := 0.0
		for done := false; !done; {
			choice, seen := chooseSetup(t, final.Observe)
			plan = append(plan, g.Group(choice))
			var reward float32
			reward, done = final.Step(choice)
			sum += float64(reward)
			more, _ := both.Step(choice)
			fits := weight * float64(seen[WindowSize*profileSize+choice*prospectSize+1])
			if math.Abs(float64(more-reward)-fits) > 1e-5 {
				t.Fatalf("intermediate rewards of %v, want %v", more-reward, fits)
			}
		}
		r, err := corun.Measure(w, append(plan, g.Rest()...))
		if err != nil {
			t.Fatal(err)
		}
		if want := float64(len(jobs)) * (1 - 1/r.Throughput()); math.Abs(sum-want) > 1e-4 {
			t.Fatalf("rewards of %v, want %v", sum, want)
		}
	})
}

func TestCorunAllocatesNothing(t *testing.T) {
	in, err := datasets.InstanceOf[corun.Window](datasets.MustParse("corun/Q1"), mig.MustLookup("A100"), 0)
	if err != nil {
		t.Fatal(err)
	}
	c := NewCorun(in.Model, 0.05, func(_ *rand.Rand, buf []task.Program) []task.Program { return append(buf[:0], in.Jobs...) })
	s := c.Shape()
	x, mask := make([]float32, s.Observation), make([]bool, s.Actions)
	c.Reset(nil)
	if n := testing.AllocsPerRun(10, func() {
		c.Reset(nil)
		for done := false; !done; {
			c.Observe(x, mask)
			_, done = c.Step(slices.Index(mask, true))
		}
	}); n > 0 {
		t.Errorf("an episode allocates %v times", n)
	}
}
