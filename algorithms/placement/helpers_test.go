package placement

import (
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// tableII are the distributions of MFI Table II.
var tableII = []string{"uniform", "skew-small", "skew-big", "bimodal"}

// reachable returns the masks that instances can make up, by brute force: 192 on the
// models with 8 memory slices.
func reachable(g *mig.GPU) []mig.Mask {
	seen := map[mig.Mask]bool{}
	var out []mig.Mask
	var visit func(mig.Mask)
	visit = func(m mig.Mask) {
		if seen[m] {
			return
		}
		seen[m] = true
		out = append(out, m)
		for _, p := range task.RequestProfiles(g) {
			for _, s := range p.Starts {
				if w := window(p, s); w&m == 0 {
					visit(m | w)
				}
			}
		}
	}
	visit(0)
	slices.Sort(out)
	return out
}
