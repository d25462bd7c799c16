// Package suite compares algorithms on the frozen instances of a suite ([suite.Archive]): boards, and figures of how
// near the best known results an algorithm comes.
package suite

import (
	"fmt"
	"slices"

	"miglab/datasets/suite"
	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/reports"
)

// Classes counts the instances by track and class.
func Classes(a *suite.Archive) *reports.Table {
	t := &reports.Table{
		Title:   "Suite " + suite.Version,
		Columns: reports.Left("track").Right(suite.Classes...).Right("all", "closed (%)"),
	}
	for _, track := range append(Tracks(a), "all") {
		count := map[string]int{}
		for _, in := range a.Instances {
			if track == in.Track || track == "all" {
				count[in.Class]++
				count["all"]++
			}
		}
		row := []string{track}
		for _, class := range append(suite.Classes[:len(suite.Classes):len(suite.Classes)], "all") {
			row = append(row, fmt.Sprint(count[class]))
		}
		closed := 1 - float64(count[suite.Open])/float64(count["all"])
		t.Rows = append(t.Rows, append(row, fmt.Sprintf("%.0f", 100*closed)))
	}
	return t
}

// Tracks lists the tracks of the instances, in their order.
func Tracks(a *suite.Archive) (out []string) {
	for _, in := range a.Instances {
		if !slices.Contains(out, in.Track) {
			out = append(out, in.Track)
		}
	}
	return out
}

// Cells returns the cells of an algorithm on the instances of a track, in their order.
func Cells(a *suite.Archive, track, algorithm string) (own []run.Span, err error) {
	for i := range a.Instances {
		in := &a.Instances[i]
		if in.Track == track {
			if _, err := a.File(in.ID); err != nil { // another hash
				return nil, err
			}
			cell, err := in.Cell(algorithm)
			if err != nil {
				return nil, err
			}
			own = append(own, cell)
		}
	}
	return own, nil
}

// Table is the board of the suite: what to cite. A list of results belongs to each name.
func Table(names []string, results [][]suite.Result) *reports.Table {
	t := &reports.Table{
		Columns: reports.Left("algorithm", "track", "class").
			Right("instances", "solved", "from the bound (%)", "from the best known (%)", "as good as that"),
		Notes: []string{
			"Means over the solved instances; from the bound over those of which more is known than that no " +
				"result is below 0. Of a metric in percent, they are differences in percentage points.",
		},
	}
	mean := func(sum float64, n int) string {
		if n == 0 {
			return "–"
		}
		return fmt.Sprintf("%.4f", sum/float64(n))
	}
	for i, name := range names {
		for _, class := range append(suite.Classes[:len(suite.Classes):len(suite.Classes)], "all") {
			var instances, solved, equal, bounded int
			var best, bound float64 // sums
			for k := range results[i] {
				r := &results[i][k]
				if class != r.Class && class != "all" {
					continue
				}
				if instances++; !r.Solved {
					continue
				}
				solved++
				best += r.FromBest()
				if r.FromBest() <= 0 {
					equal++
				}
				if r.Known.Bound > 0 {
					bounded++
					bound += r.Gap(r.Value, r.Known.Bound)
				}
			}
			if instances > 0 {
				t.Rows = append(t.Rows, []string{
					name, results[i][0].Track, class, fmt.Sprint(instances), fmt.Sprint(solved), mean(bound, bounded),
					mean(best, solved), fmt.Sprint(equal),
				})
			}
		}
	}
	return t
}

// Ran returns the algorithms of the program that have results on all instances of a track, with these results.
// Algorithms that learned, and programs outside miglab, are left out, because they may have seen the suite.
func Ran(a *suite.Archive, db *store.DB) (names []string, results [][]suite.Result, err error) {
	for _, track := range Tracks(a) {
		all, err := db.Series(store.Filter{Track: track})
		if err != nil {
			return nil, nil, err
		}
		for _, spec := range algo.All(track) {
			lacks := func(in suite.Instance) bool {
				return in.Track == track && !slices.ContainsFunc(all, func(s store.Series) bool {
					return s.Algorithm == spec.Name && s.Dataset == in.Dataset && s.GPU == in.GPU
				})
			}
			if slices.ContainsFunc(a.Instances, lacks) {
				continue
			}
			if parsed, err := algo.Parse(spec.Name); err != nil || parsed.Weights() != "" || spec.Open != nil {
				continue
			}
			cells, err := Cells(a, track, spec.Name)
			if err != nil {
				return nil, nil, err
			}
			if own, err := a.Results(db, cells); err == nil { // else an instance has no result yet
				names, results = append(names, spec.Name), append(results, own)
			}
		}
	}
	return names, results, nil
}

// Tables returns the board of the algorithms that have results on all instances of a track, if there are some, and the
// contents of the suite.
func Tables(db *store.DB) ([]reports.Table, error) {
	frozen := suite.Frozen()
	names, results, err := Ran(frozen, db)
	if err != nil {
		return nil, err
	}
	contents := *Classes(frozen)
	contents.Title = "Instances of suite " + suite.Version + ", by track and class"
	if len(names) == 0 {
		return []reports.Table{contents}, nil
	}
	t := *Table(names, results)
	t.Title = "Suite " + suite.Version + ", closed division"
	return []reports.Table{t, contents}, nil
}
