package site

import (
	"fmt"

	"miglab/harness/algo"
)

type algorithmsView struct {
	Tracks     []string
	Algorithms []algorithmView
}

type algorithmView struct {
	algo.Spec
	Page    string
	Results []resultView
	// Example is the address of a schedule on the page of instances and Shown describes it; both may be empty.
	Example, Shown string
}

// A resultView is a row of a leaderboard that has an algorithm in it.
type resultView struct {
	rowView
	Where string
	// Of is how many algorithms the board of the dataset has.
	Of int
}

// viewAlgorithms collects what the boards say of each algorithm.
func viewAlgorithms(
	all []algo.Spec, boards []boardView, instances []Instance, pages map[string]string,
) algorithmsView {
	v := algorithmsView{Tracks: distinct(all, func(a algo.Spec) string { return a.Track })}
	for _, a := range all {
		out := algorithmView{Spec: a, Page: pages[a.Name]}
		for _, b := range boards {
			for _, r := range b.Rows {
				if r.Page == out.Page && b.Track == a.Track {
					n := len(matching(b.Rows, func(o rowView) bool { return o.Dataset == r.Dataset }))
					out.Results = append(out.Results, resultView{r, b.Where, n})
				}
			}
		}
		out.findExample(instances)
		v.Algorithms = append(v.Algorithms, out)
	}
	return v
}

// findExample sets the first instance that the algorithm has a plan of.
func (v *algorithmView) findExample(instances []Instance) {
	for _, in := range instances {
		for _, p := range in.Plans {
			if in.Track == v.Track && algorithmName(p.Algorithm) == v.Name {
				v.Shown = fmt.Sprintf("%s on %s, instance %d", p.Algorithm, in.Dataset, in.Number)
				v.Example = fmt.Sprintf("instances.html#dataset=%s&instance=%d&b=%s", in.Dataset, in.Number,
					p.Algorithm)
				return
			}
		}
	}
}
