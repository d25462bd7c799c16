package placement

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
)

// tie is the parameter that says which of several equally good placements is taken.
var tie = algo.Param{
	Name: "tie", Default: "lowest", Values: []string{"lowest", "most-used", "least-used"},
	Doc: "equally good: lowest GPU and then start, or first the GPU with the most or fewest used slices",
}

// incrementRule is the rule of MFI Algorithm 2 for any score of masks: it takes the
// placement that adds least to the score.
func incrementRule(args algo.Args, score *sim.Scores) rule {
	sign := map[string]int{"lowest": 0, "most-used": -1, "least-used": 1}[args[tie.Name]]
	return func(p *mig.Profile, occupied mig.Mask) (best choice, ok bool) {
		used := sign * int(occupied.Count())
		for start, w := range (freeStarts{p, occupied}).all {
			if c := (cost{int(score[occupied|w] - score[occupied]), used}); !ok || c[0] < best.cost[0] {
				best, ok = choice{c, start}, true
			}
		}
		return best, ok
	}
}
