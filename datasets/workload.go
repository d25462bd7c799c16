package datasets

import (
	"embed"
	"fmt"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/strictcsv"
)

// A scalingClass has a weight for each instance size, by ascending size. It is in proportion to the share of the tasks
// that scale well up to that size and no further (p_s of FAR 6.3).
type scalingClass struct {
	name        string
	sevenSlices []int // the weights for sevenSizes, as the papers print them
	// fourSlices has the weights for fourSizes, the sizes of A30. The papers give no percentages
	// for A30; these are our reading of their descriptions.
	fourSlices []int
}

// scalingClasses are the scaling classes of FAR 6.3 and DRL 5.1.3. The DRL paper uses MIXEDSCALING under the name
// MIXSCALINGUNIFORM, and adds MIXSCALINGEXTREME. EXAMPLESCALING is the class of the ten tasks of FAR Fig. 11 and DRL
// Fig. 8.
var scalingClasses = []scalingClass{
	{"POORSCALING", []int{50, 50, 0, 0, 0}, []int{50, 50, 0}},
	{"MIXEDSCALING", []int{20, 20, 20, 20, 20}, []int{1, 1, 1}},
	{"GOODSCALING", []int{0, 0, 0, 50, 50}, []int{0, 50, 50}},
	{"MIXSCALINGEXTREME", []int{45, 5, 0, 5, 45}, []int{50, 0, 50}},
	{"EXAMPLESCALING", []int{10, 10, 20, 30, 30}, []int{10, 30, 60}},
}

// weights returns the weight of each size of a GPU. It returns an error for a GPU whose sizes differ
// from the papers' GPUs.
func (s *scalingClass) weights(g *mig.GPU) ([]int, error) {
	switch {
	case slices.Equal(g.Sizes(), sevenSizes):
		return s.sevenSlices, nil
	case slices.Equal(g.Sizes(), fourSizes):
		return s.fourSlices, nil
	}
	return nil, fmt.Errorf("the papers' workloads are for GPUs with the sizes %v or %v; %s has %v",
		sevenSizes, fourSizes, g, g.Sizes())
}

var (
	sevenSizes = []mig.Slices{1, 2, 3, 4, 7}
	fourSizes  = []mig.Slices{1, 2, 4}
)

// A workload is a row of workloads.csv: a family of synthetic datasets with its default parameters. The file has the
// workloads of FAR 6.3 and of DRL 5.1.3 and 6.7. Both papers' workloads include MIXSCALINGEXTREME, so that they can be
// compared.
type workload struct {
	// Name is the canonical name, and Alias is another name; "" if there is none.
	Name    string `csv:"name"`
	Alias   string `csv:"alias"`
	Scaling string `csv:"scaling"` // the name of a [scalingClass]
	// Shortest and Longest are t_min and t_max; t(1) lies between them.
	Shortest    mig.Seconds `csv:"shortest_s"`
	Longest     mig.Seconds `csv:"longest_s"`
	Tasks       int         `csv:"tasks"` // the default number of tasks in a batch
	MemoryBound int         `csv:"psup"`  // the default of psup, in percent
	peak                    // rejects tasks; the zero peak rejects none
	Source      string      `csv:"source"`
}

//go:embed workloads.csv
var workloadsFile embed.FS

// The named columns may be empty.
var workloads = strictcsv.Embedded[workload](workloadsFile, "workloads.csv", "alias", "at", "near", "share")

var _ = registerAll(workloads, workload.family)

func (w workload) family() Family {
	f := Family{
		Name: w.Name, Source: w.Source,
		Doc: fmt.Sprintf("synthetic, p_s = %v %%, t(1) in %g..%g s", w.class().sevenSlices, float64(w.Shortest),
			float64(w.Longest)),
		Params: w.params(), New: w.dataset,
	}
	if w.Alias != "" {
		f.Aliases = []string{w.Alias}
	}
	if w.picks() {
		f.Doc += fmt.Sprintf(", kept if most efficient on %d slices, and at least %g times as efficient on %d",
			w.At, w.Share, w.Near)
	}
	return f
}

// class returns the scaling class.
func (w *workload) class() *scalingClass {
	return &scalingClasses[slices.IndexFunc(scalingClasses, func(c scalingClass) bool { return c.name == w.Scaling })]
}

// countClasses divides n tasks among classes in proportion to the weights, and sets counts. It assigns the whole parts
// first, and then one task at a time to the class that is furthest below its exact share. The first class wins ties
// (FAR footnote 8).
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
