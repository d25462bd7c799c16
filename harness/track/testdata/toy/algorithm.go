package toy

import "miglab/harness/algo"

var _ = algo.Register(algo.Spec{
	Name: "toy-pick", Version: 1, Cite: "a test", Summary: "the first or the smallest number",
	Params: []algo.Param{{
		Name: "rule", Default: "first", Values: []string{"first", "smallest", "none"},
		Doc: "which number",
	}},
	New: NewChooser(func(a algo.Args) (Chooser, error) { return pick(a["rule"]), nil }),
})

type pick string

// Choose implements [Chooser].
func (p pick) Choose(n Numbers) int {
	best := 0
	for i, v := range n {
		if p == "smallest" && v < n[best] {
			best = i
		}
	}
	if p == "none" {
		return -1
	}
	return best
}
