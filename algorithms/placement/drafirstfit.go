package placement

import (
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/spec"
)

var _ = algo.Register(algo.Spec{
	Name: "dra-first-fit", Version: 1,
	Cite: "kube-scheduler's structured allocator (kubernetes issue 138765) over the ResourceSlices of " +
		"NVIDIA/k8s-dra-driver-gpu, cmd/gpu-kubelet-plugin",
	Summary: "first GPU with a free start, starts in the order in which the driver lists them",
	Params: []algo.Param{{
		Name: "order", Default: "ascending", Values: []string{"ascending", "descending"},
		Doc: "of the starts of a profile: from the lowest or from the highest",
	}, {
		Name: "first", Type: spec.Numbers(0, 7), Doc: "memory slices whose starts come before the others, as in 4-0-6",
	}},
	New: newTabled("dra-first-fit", func(a algo.Args, g *mig.GPU) rule {
		order := firstIndex(g)
		if a["order"] == "descending" {
			order = lastIndex
		}
		if a["first"] != "" {
			list := spec.Floats(a["first"])
			slices.Reverse(list)
			order = listedFirst(list, order)
		}
		return func(p *mig.Profile, occupied mig.Mask) (choice, bool) {
			start, ok := firstFree(p, order(p), occupied)
			return choice{start: start}, ok
		}
	}),
})

// This command searches for a driver's order, and prints how many requests it accepts on other streams:
//
//	go test ./algorithms/placement -run OrderForDRA -orders -v

// listedFirst returns an order that puts the starts of a list, in reverse, before the others, which keep their order.
func listedFirst(list []float64, order startOrder) startOrder {
	return func(p *mig.Profile) []mig.Slices {
		starts := slices.Clone(order(p))
		slices.SortStableFunc(starts, func(a, b mig.Slices) int {
			return slices.Index(list, float64(b)) - slices.Index(list, float64(a))
		})
		return starts
	}
}

func lastIndex(p *mig.Profile) []mig.Slices {
	starts := slices.Clone(p.Starts)
	slices.Reverse(starts)
	return starts
}
