package corun

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

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
	var programs [corun.MaxSlots]*task.Program
	n := 0
	for i := range w.Jobs {
		if jobs>>i&1 == 1 {
			programs[n] = &w.Jobs[i]
			n++
		}
	}
	least := math.Inf(1)
	for _, s := range corun.Setups(f, n) {
		layout := s.Layout()
		var orders func(k int)
		orders = func(k int) {
			if k == n {
				var ends [corun.MaxSlots]float64
				least = min(least, w.Model.Ends(&layout, &programs, &ends))
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
	return least
}

// TestExhaustiveSearchIsAsGoodAsBruteForce takes 200 windows for the setups of exact and
// some for each other family.
func TestExhaustiveSearchIsAsGoodAsBruteForce(t *testing.T) {
	for _, f := range corun.Families() {
		windows := 40
		if f == corun.Hierarchical {
			windows = 200
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
