package corun

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"miglab/harness/deep"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// brute returns the least total time of all divisions of the jobs into groups, all setups
// of a family and all orders of the jobs in their slots.
func brute(w *corun.Window, f corun.Family) float64 {
	times := map[uint]float64{}
	group := func(jobs uint) float64 {
		t, ok := times[jobs]
		if !ok {
			t = bruteGroup(w, f, jobs)
			times[jobs] = t
		}
		return t
	}
	var divide func(job int, groups []uint) float64
	divide = func(job int, groups []uint) float64 {
		if job == len(w.Jobs) {
			sum := 0.0
			for _, g := range groups {
				sum += group(g)
			}
			return sum
		}
		least := divide(job+1, append(groups, 1<<job))
		for i := range groups {
			if bits.OnesCount(groups[i]) < w.Concurrency {
				groups[i] |= 1 << job
				least = min(least, divide(job+1, groups))
				groups[i] &^= 1 << job
			}
		}
		return least
	}
	return divide(0, nil)
}

// bruteGroup returns the least time of some jobs in one group, +Inf if there is no setup.
func bruteGroup(w *corun.Window, f corun.Family, jobs uint) float64 {
	least := math.Inf(1)
	ways(w, f, jobs, func(seconds, _ float64) { least = min(least, seconds) })
	return least
}

// ways visits all setups and orders of some jobs with the time of the last to end and the
// sum of the slowdowns.
func ways(w *corun.Window, f corun.Family, jobs uint, visit func(seconds, slowdown float64)) {
	var programs [corun.MaxSlots]*task.Program
	n := 0
	for i := range w.Jobs {
		if jobs>>i&1 == 1 {
			programs[n] = &w.Jobs[i]
			n++
		}
	}
	for _, s := range corun.Setups(f, n) {
		layout := s.Layout()
		var orders func(k int)
		orders = func(k int) {
			if k == n {
				var ends [corun.MaxSlots]float64
				seconds, slowdown := w.Model.Ends(&layout, &programs, &ends), 0.0
				for i := range n {
					slowdown += ends[i] / float64(programs[i].Solo)
				}
				visit(seconds, slowdown)
				return
			}
			for i := k; i < n; i++ {
				programs[k], programs[i] = programs[i], programs[k]
				orders(k + 1)
				programs[k], programs[i] = programs[i], programs[k]
			}
		}
		orders(0)
	}
}

// TestExhaustiveSearchIsAsGoodAsBruteForce takes most windows for the setups of exact and of
// Table VII, and some for each other family.
func TestExhaustiveSearchIsAsGoodAsBruteForce(t *testing.T) {
	for _, f := range []corun.Family{
		corun.DefaultShared, corun.DefaultPrivate, corun.DefaultWhole, corun.DefaultThree, corun.MIGShared, corun.MIGPrivate,
		corun.MPSOnly, corun.Lockstep, corun.Hierarchical, corun.Agent, corun.Every,
	} {
		windows := deep.N(5, 40)
		if f == corun.Hierarchical || f == corun.Every {
			windows = deep.N(16, 200)
		}
		for i := range windows {
			w := randomWindow(rand.New(rand.NewPCG(uint64(i), 6)), 6)
			plan, err := exhaustive(f).Plan(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			r, err := corun.Measure(w, plan)
			if err != nil {
				t.Fatal(err)
			}
			if want := brute(&w, f); math.Abs(float64(r.Makespan)/want-1) > 1e-9 {
				t.Errorf("%s, window %d, %d jobs: %v s, brute force %v s", f, i, len(w.Jobs), r.Makespan, want)
			}
		}
	}
}

// TestGroupsRunInTheLeastSlowdownOfTheFastestWays holds for Table VII, where isolated
// instances leave slack.
func TestGroupsRunInTheLeastSlowdownOfTheFastestWays(t *testing.T) {
	slack := 0
	for i := range 100 {
		w := randomWindow(rand.New(rand.NewPCG(uint64(i), 4)), 4)
		s := newSearch(&w, corun.Hierarchical)
		g := jobGroup{jobs: make([]int, len(w.Jobs))}
		for j := range g.jobs {
			g.jobs[j] = j
		}
		g.seconds = s.fastest(g.jobs, math.Inf(1))
		r, err := corun.Measure(corun.Window{Jobs: w.Jobs, Concurrency: len(w.Jobs), Model: w.Model}, s.plan([]jobGroup{g}))
		if err != nil {
			t.Fatal(err)
		}
		least, most := math.Inf(1), 0.0
		ways(&w, corun.Hierarchical, 1<<len(w.Jobs)-1, func(seconds, slowdown float64) {
			if seconds <= g.seconds*(1+rounding) {
				least, most = min(least, slowdown), max(most, slowdown)
			}
		})
		if got := r.MeanSlowdown() * float64(len(w.Jobs)); math.Abs(got/least-1) > 1e-9 || math.Abs(float64(r.Makespan)/g.seconds-1) > 1e-9 {
			t.Errorf("window %d: %v s and slowdowns of %v in sum, want %v s and %v", i, r.Makespan, got, g.seconds, least)
		}
		if most > least*1.1 {
			slack++
		}
	}
	if slack < 5 {
		t.Errorf("in %d windows the fastest ways differ in slowdown; too few to tell", slack)
	}
}

// TestGreedy looks for the pair that saves the most among all that are left, each time.
func TestGreedy(t *testing.T) {
	for i := range 50 {
		w := randomWindow(rand.New(rand.NewPCG(uint64(i), 9)), 9)
		left := uint(1)<<len(w.Jobs) - 1
		want := 0.0
		for left != 0 {
			best, saves := left&-left, 0.0
			for a := range w.Jobs {
				for b := range a {
					pair := uint(1)<<a | 1<<b
					apart := bruteGroup(&w, corun.Hierarchical, 1<<a) + bruteGroup(&w, corun.Hierarchical, 1<<b)
					if s := apart - bruteGroup(&w, corun.Hierarchical, pair); pair&^left == 0 && s > saves && w.Concurrency > 1 {
						best, saves = pair, s
					}
				}
			}
			want += bruteGroup(&w, corun.Hierarchical, best)
			left &^= best
		}
		if got := float64(measure(t, "greedy", w).Makespan); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("window %d: %v s, want %v s", i, got, want)
		}
	}
}
