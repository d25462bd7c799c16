// Package corun holds the schedulers of the co-run track: which jobs of a window run
// together, and on which partition of the GPU (hierarchical paper IV).
package corun

import (
	"math/bits"

	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// groups knows, for every set of jobs, the best way to run them together.
type groups struct {
	w corun.Window
	// setups and layouts are by number of jobs, from 1.
	setups  [][]corun.Setup
	layouts [][]corun.Layout
	// best is by set of jobs: bit i stands for job i.
	best map[uint32]choice
}

// choice is a way to run a set of jobs.
type choice struct {
	seconds float64
	setup   int
	// jobs are by slot.
	jobs [corun.MaxSlots]int8
}

// newGroups prepares the setups of a family for groups of up to w.Concurrency jobs.
func newGroups(w corun.Window, f corun.Family) *groups {
	g := &groups{w: w, best: map[uint32]choice{}}
	g.setups = make([][]corun.Setup, w.Concurrency+1)
	g.layouts = make([][]corun.Layout, w.Concurrency+1)
	for n := 1; n <= w.Concurrency; n++ {
		g.setups[n] = corun.Setups(f, n)
		for i := range g.setups[n] {
			g.layouts[n] = append(g.layouts[n], g.setups[n][i].Layout())
		}
	}
	return g
}

// of returns the best way to run a set of jobs together; false if there is none.
func (g *groups) of(set uint32) (choice, bool) {
	if c, ok := g.best[set]; ok {
		return c, c.setup >= 0
	}
	n := bits.OnesCount32(set)
	best := choice{setup: -1}
	var jobs [corun.MaxSlots]int8
	k := 0
	for s := set; s != 0; s &= s - 1 {
		jobs[k] = int8(bits.TrailingZeros32(s))
		k++
	}
	var programs [corun.MaxSlots]*task.Program
	var ends [corun.MaxSlots]float64
	permute(jobs[:n], 0, func() {
		for i, j := range jobs[:n] {
			programs[i] = &g.w.Jobs[j]
		}
		for i := range g.layouts[n] {
			if t := g.w.Model.Ends(&g.layouts[n][i], &programs, &ends); best.setup < 0 || t < best.seconds {
				best = choice{t, i, jobs}
			}
		}
	})
	g.best[set] = best
	return best, best.setup >= 0
}

// permute calls visit for every order of the elements from position k on.
func permute(jobs []int8, k int, visit func()) {
	if k == len(jobs) {
		visit()
		return
	}
	for i := k; i < len(jobs); i++ {
		jobs[k], jobs[i] = jobs[i], jobs[k]
		permute(jobs, k+1, visit)
		jobs[k], jobs[i] = jobs[i], jobs[k]
	}
}

// optimum covers the window by groups of the least total time, by dynamic programming
// over sets of jobs: the first job that is left is in some group.
func (g *groups) optimum() (seconds float64, sets []uint32) {
	n := len(g.w.Jobs)
	total := make([]float64, 1<<n)
	last := make([]uint32, 1<<n)
	for set := uint32(1); set < 1<<n; set++ {
		first := set & -set
		rest := set ^ first
		total[set] = -1
		for sub := rest; ; sub = (sub - 1) & rest {
			if bits.OnesCount32(sub) < g.w.Concurrency {
				if c, ok := g.of(sub | first); ok {
					if t := c.seconds + total[rest^sub]; total[set] < 0 || t < total[set] {
						total[set], last[set] = t, sub|first
					}
				}
			}
			if sub == 0 {
				break
			}
		}
	}
	for set := uint32(1)<<n - 1; set != 0; set ^= last[set] {
		sets = append(sets, last[set])
	}
	return total[1<<n-1], sets
}
