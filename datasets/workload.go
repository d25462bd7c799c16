package datasets

import (
	"fmt"
	"slices"

	"miglab/harness/mig"
)

// A scaling class says how many tasks out of the sum of its numbers scale well up to each
// instance size and no further: the p_s of FAR 6.3, by ascending size.
type scaling struct {
	name string
	// sevenSlices is what the papers print, for sevenSizes.
	sevenSlices []int
	// fourSlices is for fourSizes, those of A30. The papers give no percentages for it;
	// these are our reading of their descriptions.
	fourSlices []int
}

// The scaling classes of FAR 6.3 and DRL 5.1.3. The DRL paper calls mixedScaling
// MIXSCALINGUNIFORM, and mixScalingExtreme is its own.
var (
	poorScaling       = scaling{"POORSCALING", []int{50, 50, 0, 0, 0}, []int{50, 50, 0}}
	mixedScaling      = scaling{"MIXEDSCALING", []int{20, 20, 20, 20, 20}, []int{1, 1, 1}}
	goodScaling       = scaling{"GOODSCALING", []int{0, 0, 0, 50, 50}, []int{0, 50, 50}}
	mixScalingExtreme = scaling{"MIXSCALINGEXTREME", []int{45, 5, 0, 5, 45}, []int{50, 0, 50}}
	// exampleScaling is that of the ten tasks of FAR Fig. 11 and DRL Fig. 8.
	exampleScaling = scaling{"EXAMPLESCALING", []int{10, 10, 20, 30, 30}, []int{10, 30, 60}}
)

// weights returns the p_s for a GPU, one for each of its sizes. The error is about a GPU with other
// sizes than those of the papers.
func (s *scaling) weights(g *mig.GPU) ([]int, error) {
	switch {
	case slices.Equal(g.Sizes(), sevenSizes):
		return s.sevenSlices, nil
	case slices.Equal(g.Sizes(), fourSizes):
		return s.fourSlices, nil
	}
	return nil, fmt.Errorf("the papers' workloads are for GPUs with the sizes %v or %v; %s has %v",
		sevenSizes, fourSizes, g, g.Sizes())
}

var sevenSizes, fourSizes = []mig.Slices{1, 2, 3, 4, 7}, []mig.Slices{1, 2, 4}

// A workload is a synthetic dataset with its default parameters.
type workload struct {
	// name is canonical; aliases name the same dataset.
	name    string
	aliases []string
	scaling scaling
	// shortest and longest are the t_min and t_max between which t(1) lies.
	shortest, longest mig.Seconds
	// tasks is the default number of tasks in a batch.
	tasks int
	// memoryBound is the default of psup, in percent.
	memoryBound int
	// only is the condition under which tasks are kept; nil keeps all.
	only   *peaked
	source string
}

// workloads are those of FAR 6.3, with its example, and of DRL 5.1.3. mixScalingExtreme is
// there under both, so that the two papers can be compared.
var workloads = append(farWorkloads(), drlWorkloads()...)

var _ = registerAll(workloads, (*workload).family)

func farWorkloads() []*workload {
	var out []*workload
	for _, s := range []scaling{poorScaling, mixedScaling, goodScaling, mixScalingExtreme, exampleScaling} {
		for _, times := range []struct {
			name              string
			shortest, longest mig.Seconds
		}{{"WIDETIMES", 1, 100}, {"NARROWTIMES", 90, 100}} {
			w := &workload{
				name: "far/" + s.name + "+" + times.name, scaling: s, shortest: times.shortest, longest: times.longest,
				tasks: 15, memoryBound: 0, source: "FAR 6.3",
			}
			if s.name == mixedScaling.name {
				w.aliases = []string{"far/MIXSCALINGUNIFORM+" + times.name}
			}
			if s.name == mixScalingExtreme.name {
				w.source = "FAR 6.3, with the percentages of DRL 5.1.3"
			}
			if s.name == exampleScaling.name {
				w.tasks, w.memoryBound, w.source = 10, 50, "FAR Fig. 11"
			}
			out = append(out, w)
		}
	}
	return out
}

func drlWorkloads() []*workload {
	drl := func(name string, s scaling, memoryBound int, shortest mig.Seconds) *workload {
		return &workload{
			name: "drl/" + name, aliases: []string{name}, scaling: s, shortest: shortest, longest: 100,
			tasks: 14, memoryBound: memoryBound, source: "DRL 5.1.3",
		}
	}
	all := []*workload{
		drl("POORSCALING", poorScaling, 25, 90),
		drl("GOODSCALING", goodScaling, 75, 90),
		drl("MIXSCALINGUNIFORM", mixedScaling, 50, 90),
		drl("MIXSCALINGEXTREME", mixScalingExtreme, 50, 90),
		drl("WIDETIMES", mixedScaling, 50, 1),
	}
	for _, a := range adversarial {
		w := drl(a.name, mixedScaling, 50, 90)
		w.only, w.source = &a, "DRL 6.7, drawn from MIXSCALINGUNIFORM"
		all = append(all, w)
	}
	return all
}

func (w *workload) family() Family {
	kept := ""
	if w.only != nil {
		kept = fmt.Sprintf(", kept if %v", w.only)
	}
	return Family{
		Name: w.name, Aliases: w.aliases, Source: w.source,
		Doc: fmt.Sprintf("synthetic, p_s = %v %%, t(1) in %g..%g s%s",
			w.scaling.sevenSlices, float64(w.shortest), float64(w.longest), kept),
		Params: w.params(), New: w.dataset,
	}
}

// countClasses divides n tasks among classes in proportion to the weights: the whole parts
// first, and then one more to the class that is furthest below its exact share until there are
// n. The first class wins ties (FAR footnote 8).
func countClasses(counts []int, n int, weights []int) {
	total, placed := 0, 0
	for _, w := range weights {
		total += w
	}
	for i, w := range weights {
		counts[i] = n * w / total
		placed += counts[i]
	}
	for ; placed < n; placed++ {
		furthest := 0
		for i, w := range weights {
			if n*w-total*counts[i] > n*weights[furthest]-total*counts[furthest] {
				furthest = i
			}
		}
		counts[furthest]++
	}
}
