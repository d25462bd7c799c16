package algorithms

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"miglab/algorithms/algotest"
	"miglab/algorithms/plan"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// fullEnumeration is what the paper's FAR does with its family: phase 2 on every
// allocation, the earliest of the best.
func fullEnumeration(r *repartitioner) (int, float64) {
	best, makespan := -1, math.Inf(1)
	for k := range len(r.family.bound) {
		if m := r.makespan(k, math.Inf(1), nil); m < makespan {
			best, makespan = k, m
		}
	}
	return best, makespan
}

func TestPrunedSearchEqualsFullEnumeration(t *testing.T) {
	check := func(p algo.Problem) {
		t.Helper()
		f := newFamily(p)
		r := newRepartitioner(p, f)
		k, m := r.best(t.Context())
		if wantK, want := fullEnumeration(r); k != wantK || m != want {
			t.Errorf("%s, %d tasks, %v: allocation %d of %d (%v s), full enumeration %d (%v s)",
				p.GPU, len(p.Tasks), p.Model, k, len(f.bound), m, wantK, want)
		}
	}
	for i := range uint64(deep.N(500, 1500)) {
		rng := rand.New(rand.NewPCG(i, 1))
		p := algotest.RandomProblem(rng, 1+rng.IntN(40))
		p.Model = mig.Reconfiguration(i % 3)
		p.Count = 1 + int(i/3%3)
		check(p)
	}
	for i, n := range []int{100, 200, 500, 1000} {
		check(benchProblem(n, uint64(i)))
		check(algotest.RandomProblem(rand.New(rand.NewPCG(uint64(n), 2)), n))
	}
}

// TestClockAgreesWithAlgorithm1 compares phase 2's own times with the clock's. They are
// equal to the last bit, except under [mig.Sequential] if two operations of a GPU, at least
// one of them a destruction, become possible at the same instant. One of them has to wait.
// Algorithm 1 as released chooses it by the order in its heap, the clock by the order of
// creation, so that the makespans can differ by some operations.
func TestClockAgreesWithAlgorithm1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		p := algotest.RandomProblem(rng, rapid.IntRange(1, 60).Draw(t, "n"))
		p.Model = mig.Reconfiguration(rapid.IntRange(0, 2).Draw(t, "model"))
		p.Count = rapid.IntRange(1, 3).Draw(t, "gpus")
		r := newRepartitioner(p, newFamily(p))
		k := rapid.IntRange(0, len(r.family.bound)-1).Draw(t, "allocation")
		found := newTreePlan(r.tree)
		want := r.makespan(k, math.Inf(1), found)
		tm := plan.NewTimer(p, plan.Start(p))
		got := tm.Time(found.asFound())
		if p.Model == mig.Sequential && tied(tm.Schedule()) {
			return
		}
		if got != want {
			t.Fatalf("%s allocation %d: clock %v s, Algorithm 1 %v s", p.GPU, k, got, want)
		}
	})
}

// tied reports whether a destruction became possible at the instant of another one on the GPU, or at
// the end of one, when a creation may become possible. Each instance is created once.
func tied(s schedule.Schedule) bool {
	type use struct {
		gpu int
		in  mig.Instance
	}
	ends := map[use]mig.Seconds{}
	for _, pl := range s.Placements {
		u := use{pl.GPU, pl.Instance}
		ends[u] = max(ends[u], pl.End)
	}
	type instant struct {
		gpu int
		at  mig.Seconds
	}
	possible := map[instant]bool{}
	destroys := slices.DeleteFunc(slices.Clone(s.Operations), func(o schedule.Operation) bool { return o.Op != schedule.Destroy })
	for _, o := range destroys {
		at := instant{o.GPU, ends[use{o.GPU, o.Instance}]}
		if possible[at] {
			return true
		}
		possible[at] = true
	}
	return slices.ContainsFunc(destroys, func(o schedule.Operation) bool { return possible[instant{o.GPU, o.End}] })
}

// TestMoveAndSwapRulesAgainstBruteForce checks lines 12 and 18-19 of Algorithm 2.
func TestMoveAndSwapRulesAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := func(name string) []plan.Task {
			times := rapid.SliceOfN(rapid.Float64Range(0.1, 10), 0, 8).Draw(t, name)
			var l []plan.Task
			for i, d := range times {
				p := &treePlan{lists: [][]plan.Task{{{Seconds: d, Index: int32(i)}}, l}, order: []int32{0, 1}}
				p.transfer(0, 1, int32(i))
				l = p.lists[1]
			}
			return l
		}
		a, b := list("critical"), list("other")
		margin := rapid.Float64Range(0.1, 20).Draw(t, "margin")
		off := math.Inf(1)
		for _, x := range a {
			if x.Seconds < margin-leastGain {
				off = min(off, math.Abs(x.Seconds-margin/2))
			}
		}
		if i := closestBelow(a, margin); (i < 0) != math.IsInf(off, 1) || i >= 0 && math.Abs(a[i].Seconds-margin/2) != off {
			t.Fatalf("closestBelow(%v, %v) = %d, best distance %v", a, margin, i, off)
		}
		off = math.Inf(1)
		for _, x := range a {
			for _, y := range b {
				if d := x.Seconds - y.Seconds; d > 0 && d < margin {
					off = min(off, math.Abs(d-margin/2))
				}
			}
		}
		i, j := closestSwap(a, b, margin)
		if (i < 0) != math.IsInf(off, 1) || i >= 0 && math.Abs(a[i].Seconds-b[j].Seconds-margin/2) > off+1e-12 {
			t.Fatalf("closestSwap(%v, %v, %v) = %d, %d; best distance %v", a, b, margin, i, j, off)
		}
	})
}

// A destroy that runs past the best makespan so far does not end the search: an
// instance that no task follows need not be destroyed. In these batches the last
// task takes milliseconds, less than a destroy.
func TestFARPlacesTasksShorterThanADestroy(t *testing.T) {
	spec := datasets.MustParse("drl/RODINIA")
	g := mig.MustLookup("A100")
	for _, index := range []int{565, 566, 567, 568, 569, 665, 666, 667, 668, 669} {
		in, err := datasets.InstanceOf[task.Batches](spec, g, index)
		if err != nil {
			t.Fatal(err)
		}
		p := algo.Problem{GPU: g, Tasks: in.Tasks}
		s, err := algo.MustParse("far").Schedule(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if v := schedule.Check(p, s); len(v) > 0 {
			t.Errorf("instance %d: %v", index, v)
		}
	}
}
