package placement

import (
	"miglab/harness/mig"
	"miglab/harness/sim"
)

// incrementRule returns the rule of MFI Algorithm 2 for a score of masks: it takes the placement that adds least to it.
func incrementRule(score *sim.Scores) rule {
	return func(p *mig.Profile, occupied mig.Mask) (best choice, ok bool) {
		for start, w := range (freeStarts{p, occupied}).all {
			increment := int(score[occupied|w] - score[occupied])
			if !ok || increment < best.cost[0] {
				best, ok = choice{cost{increment}, start}, true
			}
		}
		return best, ok
	}
}
