package placement

import (
	"slices"
	"strconv"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/spec"
)

var _ = algo.Register(algo.Spec{
	Name: "dra-first-fit", Version: 1, Track: algo.TrackPlacement,
	Cite: "kube-scheduler's structured allocator (kubernetes issue 138765) over the ResourceSlices of " +
		"NVIDIA/k8s-dra-driver-gpu, cmd/gpu-kubelet-plugin",
	Summary: "first GPU with a free start, starts in the order in which the driver lists them",
	Params: []algo.Param{{
		Name: "order", Default: "ascending", Values: []string{"ascending", "descending", "best-index"},
		Doc: "of the starts of a profile: from the lowest, from the highest, or those first that restrict others least",
	}, {
		Name: "first", Type: sliceLists, Doc: "memory slices whose starts come before the others, as in 4-0-6",
	}},
	New: func(a algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		return fixedTable("dra-first-fit", a, s.GPU, func() rule {
			order := firstIndex(s.GPU)
			switch a["order"] {
			case "descending":
				order = lastIndex
			case "best-index":
				order = bestIndex(s.GPU)
			}
			if a["first"] != "" {
				order = listedFirst(strings.Split(a["first"], "-"), order)
			}
			return func(p *mig.Profile, occupied mig.Mask) (choice, bool) {
				for _, start := range order(p) {
					if window(p, start)&occupied == 0 && slices.Contains(p.Starts, start) {
						return choice{start: start}, true
					}
				}
				return choice{}, false
			}
		}), nil
	},
})

// sliceLists are lists of memory slices.
var sliceLists = spec.Type{
	Want: "memory slices from 0 to 7, joined by dashes",
	Read: func(value string) (string, error) {
		for _, slice := range strings.Split(value, "-") {
			if len(slice) != 1 || slice < "0" || slice > "7" {
				return "", spec.ErrValue
			}
		}
		return value, nil
	},
}

// listedFirst returns the starts in a list before the others, which keep their order.
func listedFirst(list []string, order startOrder) startOrder {
	place := func(start mig.Slices) int {
		if i := slices.Index(list, strconv.Itoa(int(start))); i >= 0 {
			return i
		}
		return len(list)
	}
	return func(p *mig.Profile) []mig.Slices {
		starts := slices.Clone(order(p))
		slices.SortStableFunc(starts, func(a, b mig.Slices) int { return place(a) - place(b) })
		return starts
	}
}

func lastIndex(p *mig.Profile) []mig.Slices {
	starts := slices.Clone(p.Starts)
	slices.Reverse(starts)
	return starts
}
