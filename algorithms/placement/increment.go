package placement

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
)

// tie is the parameter for the choice between equally good placements.
var tie = algo.Param{
	Name: "tie", Default: "lowest", Values: []string{"lowest", "most-used", "least-used"},
	Doc: "equally good: lowest GPU and then start, or first the GPU with the most or fewest used slices",
}

// tieSigns maps a value of tie to the sign of the used slices in a cost: 1 prefers few, and 0 ignores them.
var tieSigns = map[string]int{"lowest": 0, "most-used": -1, "least-used": 1}

// incrementRule returns the rule of MFI Algorithm 2 for a score of masks: it takes the placement that adds least to it.
func incrementRule(args algo.Args, score *sim.Scores) rule {
	sign := tieSigns[args[tie.Name]]
	return func(p *mig.Profile, occupied mig.Mask) (best choice, ok bool) {
		used := sign * int(occupied.Count())
		for start, w := range (freeStarts{p, occupied}).all {
			increment := int(score[occupied|w] - score[occupied])
			if !ok || increment < best.cost[0] {
				best, ok = choice{cost{increment, used}, start}, true
			}
		}
		return best, ok
	}
}
