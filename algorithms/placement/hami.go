package placement

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
)

var _ = algo.Register(algo.Spec{
	Name: "hami-binpack", Version: 1,
	Cite:    "modelled on HAMi's policy binpack",
	Summary: "GPU with the fewest free slices, then the longest free run and the most placements left",
	New:     newTabled("hami-binpack", hami(1)),
})

var _ = algo.Register(algo.Spec{
	Name: "hami-spread", Version: 1,
	Cite:    "modelled on HAMi's policy spread",
	Summary: "GPU with the most free slices, then the longest free run and the most placements left",
	New:     newTabled("hami-spread", hami(-1)),
})

// hami returns a rule that takes the GPU with the fewest free slices times the sign. On a tie it takes the placement
// that leaves the longest run of free slices, then the one that leaves the most placements of all profiles. HAMi's PR
// 2855 also plans several slices for one container together, as hami-2855 does.
func hami(sign int) func(algo.Args, *mig.GPU) rule {
	return func(_ algo.Args, g *mig.GPU) rule {
		return func(p *mig.Profile, occupied mig.Mask) (best choice, ok bool) {
			for start, w := range (freeStarts{p, occupied}).all {
				left := occupied | w
				c := cost{sign * freeSlices(g, occupied), -longestRun(g, left), -placements(g, left)}
				if !ok || c.compare(&best.cost) < 0 {
					best, ok = choice{c, start}, true
				}
			}
			return best, ok
		}
	}
}

func longestRun(g *mig.GPU, occupied mig.Mask) int {
	longest, run := 0, 0
	for i := range g.MemorySlices {
		run++
		if occupied>>i&1 != 0 {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// placements returns the number of free placements of all profiles.
func placements(g *mig.GPU, occupied mig.Mask) int {
	n := 0
	for _, p := range task.RequestProfiles(g) {
		for range (freeStarts{p, occupied}).all {
			n++
		}
	}
	return n
}
