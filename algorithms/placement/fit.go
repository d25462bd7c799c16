package placement

import (
	"math/bits"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// index is the parameter of the four schemes of MFI VI for a GPU with enough free slices on which no start of the
// profile is free. The paper leaves this case open for the schemes that it compares. Of the two that its section V-A
// shows as examples it says that such a request "still fails", which is strict.
var index = algo.Param{
	Name: "index", Default: "feasible", Values: []string{"feasible", "strict"},
	Doc: "feasible passes over a GPU on which no start is free; strict chooses by free slices alone and then rejects",
}

// sliceIndex is [index] of the two schemes that assign profiles "to the first available index" (MFI VI). Read word by
// word that is the first free slice, whether or not the profile may start there.
var sliceIndex = algo.Param{
	Name: index.Name, Default: index.Default, Values: append(slices.Clone(index.Values), bySlice),
	Doc: index.Doc + "; slice is strict and takes the first free slice, or rejects if the profile cannot start there",
}

const bySlice = "slice"

// A startOrder lists a profile's starts on a GPU in the order in which they are tried.
type startOrder func(*mig.Profile) []mig.Slices

// fit returns the rule of a scheme of MFI VI. The GPU with the least value of prefer comes first.
func fit(prefer func(free int) int, order func(*mig.GPU) startOrder) func(algo.Args, *mig.GPU) rule {
	return func(args algo.Args, g *mig.GPU) rule {
		strict, starts := args[index.Name] != index.Default, order(g)
		return func(p *mig.Profile, occupied mig.Mask) (choice, bool) {
			free := freeSlices(g, occupied)
			if free < int(p.Length) || len(p.Starts) == 0 {
				return choice{}, false
			}
			start, ok := firstFree(p, starts(p), occupied)
			return choice{cost{prefer(free)}, start}, ok || strict
		}
	}
}

// firstFit returns the rule that takes the first GPU and its first start.
func firstFit(args algo.Args, g *mig.GPU) rule {
	scheme := fit(func(int) int { return 0 }, firstIndex)(args, g)
	if args[index.Name] != bySlice {
		return scheme
	}
	return func(p *mig.Profile, occupied mig.Mask) (choice, bool) {
		c, ok := scheme(p, occupied)
		if c.start != mig.Slices(bits.TrailingZeros8(uint8(^occupied))) {
			c.start = nowhere
		}
		return c, ok
	}
}

// bestFit is the scheme that takes the GPU with the least number of free slices, times the sign, and the best index.
func bestFit(sign int) func(algo.Args, *mig.GPU) rule {
	return fit(func(free int) int { return sign * free }, bestIndex)
}

func firstIndex(*mig.GPU) startOrder { return func(p *mig.Profile) []mig.Slices { return p.Starts } }
