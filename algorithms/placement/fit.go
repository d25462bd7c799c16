package placement

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
)

// index is the parameter of the four schemes of MFI VI that says what happens on a
// GPU with enough free slices on which no start of the profile is free. The paper
// leaves this open. Its text ("still fails because the available indexes on the
// selected GPU are incompatible", V-A) suggests strict, but only a mixture of both
// gives its gain of 10 %.
var index = algo.Param{
	Name: "index", Default: "feasible", Values: []string{"feasible", "strict"},
	Doc: "feasible passes over a GPU on which no start is free; strict chooses by free slices alone and then rejects",
}

// fitRule is the rule of the schemes of MFI VI. The GPU with the least value of prefer
// comes first, and starts lists a profile's starts in the order in which they are tried.
func fitRule(g *mig.GPU, args algo.Args, prefer func(free int) int, starts func(*mig.Profile) []mig.Slices) rule {
	strict := args[index.Name] == "strict"
	return func(p *mig.Profile, occupied mig.Mask) (choice, bool) {
		free := freeSlices(g, occupied)
		if free < int(p.Length) {
			return choice{}, false
		}
		for _, start := range starts(p) {
			if window(p, start)&occupied == 0 {
				return choice{cost{prefer(free)}, start}, true
			}
		}
		return choice{cost{prefer(free)}, nowhere}, strict
	}
}

func firstIndex(p *mig.Profile) []mig.Slices { return p.Starts }
