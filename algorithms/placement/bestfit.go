package placement

import (
	"cmp"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
)

var _ = algo.Register(algo.Spec{
	Name: "bf-bi", Version: 1,
	Cite:    "MFI VI, Best Fit Best Index",
	Summary: "GPU with the fewest free slices, start that restricts other profiles least",
	Params:  []algo.Param{index},
	New:     newTabled("bf-bi", bestFit(1)),
})

// bestIndex returns the starts of each profile in the order of the best index policy, which prefers starts "that do not
// restrict the placement of profiles with fewer scheduling options" (MFI VI). The paper has 1g at 6, not 0.
//
// A start restricts a profile, its own too, by the share of its starts that become impossible on an empty GPU. The
// start with the least sum over all profiles comes first; on a tie, the highest start. On the 7-slice models 1g tries
// 6, 5, 4, 3, 2, 1, 0; 1g with double memory 6, 4, 2, 0; 2g 4, 2, 0; 3g 4, 0.
func bestIndex(g *mig.GPU) startOrder {
	const scale = 840 // divisible by every possible number of starts
	// The key is a profile's size and memory, because GPUs with fixed instances have profiles of their own.
	order := map[profileKey][]mig.Slices{}
	for _, p := range task.RequestProfiles(g) {
		restricts := map[mig.Slices]int{}
		for _, start := range p.Starts {
			for _, q := range task.RequestProfiles(g) {
				for _, s := range q.Starts {
					if window(q, s)&window(p, start) != 0 {
						restricts[start] += scale / len(q.Starts)
					}
				}
			}
		}
		starts := slices.Clone(p.Starts)
		slices.SortFunc(starts, func(a, b mig.Slices) int { return cmp.Or(restricts[a]-restricts[b], int(b-a)) })
		order[profileKey{p.Size, p.MemoryGB}] = starts
	}
	return func(p *mig.Profile) []mig.Slices { return order[profileKey{p.Size, p.MemoryGB}] }
}

type profileKey struct {
	size     mig.Slices
	memoryGB int
}
