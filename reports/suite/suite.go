// Package suite compares algorithms on the frozen instances of a suite ([suite.Archive]): in a board, and in figures of
// their distances from the best known results. It runs no algorithm; it reads the results database.
package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"miglab/datasets/suite"
	"miglab/harness/algo"
	"miglab/harness/nearest"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/reports"
)

// Classes returns the number of instances of each track and class, and the share of closed ones.
func Classes(a *suite.Archive) *reports.Table {
	t := &reports.Table{
		Title:   "Suite " + suite.Version,
		Columns: reports.Left("track").Right(classRows()...).Right("closed (%)"),
	}
	const everyTrack = "all"
	for _, track := range append(Tracks(a), everyTrack) {
		count := map[string]int{}
		for _, in := range a.Instances {
			if track == in.Track || track == everyTrack {
				count[in.Class]++
				count[everyClass]++
			}
		}
		closed := 1 - float64(count[suite.Open])/float64(count[everyClass])
		counts := nearest.Names(classRows(), func(class string) string { return fmt.Sprint(count[class]) })
		t.Row(track, counts, fmt.Sprintf("%.0f", 100*closed))
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

// Cells returns the cells of an algorithm on the instances of a track, in their order. It refuses an instance that
// this program draws differently from the suite.
func Cells(a *suite.Archive, track, algorithm string) (cells []run.Span, err error) {
	for i := range a.Instances {
		in := &a.Instances[i]
		if in.Track != track {
			continue
		}
		if _, _, err := a.Files(in.ID); err != nil {
			return nil, err
		}
		cell, err := in.Cell(algorithm)
		if err != nil {
			return nil, err
		}
		cells = append(cells, cell)
	}
	return cells, nil
}

// everyClass stands for all classes of instances in tables.
const everyClass = "all"

// classRows returns the classes of instances, and everyClass.
func classRows() []string { return append(slices.Clone(suite.Classes), everyClass) }

// Table returns the board of the suite: a row for each algorithm and class of instances. results[i] has the results of
// names[i] on the instances of one track.
func Table(names []string, results [][]suite.Result) *reports.Table {
	t := &reports.Table{
		Columns: reports.Left("algorithm", "track", "class").
			Right("instances", "solved", "with a bound", "from the bound (%)", "from the best known (%)", "as good",
				"better"),
		Notes: []string{
			"from the bound: mean over the solved instances with a bound above 0; in percentage points for a metric in " +
				"percent, as is the next column",
			"from the best known: mean over the solved instances",
			"as good, better: instances on which the result is as good as the best known one, or better",
		},
	}
	for i, name := range names {
		if ids := betterThanKnown(results[i]); ids != nil {
			t.Notes = append(t.Notes, name+" is better than the best known result on "+strings.Join(ids, ", ")+".")
		}
		for _, class := range classRows() {
			ofClass := slices.DeleteFunc(slices.Clone(results[i]), func(r suite.Result) bool {
				return r.Class != class && class != everyClass
			})
			if len(ofClass) > 0 {
				t.Row(name, ofClass[0].Track, class, summary(ofClass))
			}
		}
	}
	return t
}

// betterThanKnown returns the instances on which results are better than the best known ones.
func betterThanKnown(results []suite.Result) (ids []string) {
	for i := range results {
		if results[i].FromBest() < 0 {
			ids = append(ids, results[i].ID)
		}
	}
	return ids
}

// summary returns the numbers of a row of [Table], from the number of instances on.
func summary(results []suite.Result) []string {
	var solved, equal, bounded int
	var fromBest, fromBound float64 // sums
	for i := range results {
		r := &results[i]
		if !r.Solved {
			continue
		}
		solved++
		fromBest += r.FromBest()
		if r.FromBest() == 0 {
			equal++
		}
		if r.Known.Bound > 0 {
			bounded++
			fromBound += r.Excess(r.Value, r.Known.Bound)
		}
	}
	return []string{
		fmt.Sprint(len(results)), fmt.Sprint(solved), fmt.Sprint(bounded),
		mean(fromBound, bounded), mean(fromBest, solved), fmt.Sprint(equal), fmt.Sprint(len(betterThanKnown(results))),
	}
}

// mean formats the mean of n numbers.
func mean(sum float64, n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%.4f", sum/float64(n))
}

// Ran returns the algorithms that have results on all instances of a track, with these results. It leaves out
// algorithms that learned, and programs outside miglab, because they may have seen the suite.
func Ran(a *suite.Archive, db *store.DB) (names []string, results [][]suite.Result, err error) {
	for _, track := range Tracks(a) {
		series, err := db.Series(store.Filter{Track: track})
		if err != nil {
			return nil, nil, err
		}
		for _, spec := range algo.All(track) {
			if !hasSeries(series, a, track, spec.Name) {
				continue
			}
			own, err := unlearnedResults(a, db, track, spec.Name)
			if err != nil {
				return nil, nil, err
			}
			if own != nil {
				names, results = append(names, spec.Name), append(results, own)
			}
		}
	}
	return names, results, nil
}

// hasSeries reports whether an algorithm has results on the datasets and GPUs of all instances of a track. It does not
// look for the instances.
func hasSeries(all []store.Series, a *suite.Archive, track, algorithm string) bool {
	for _, in := range a.Instances {
		if in.Track == track && !slices.ContainsFunc(all, func(s store.Series) bool {
			return s.Algorithm == algorithm && s.Dataset == in.Dataset && s.GPU == in.GPU
		}) {
			return false
		}
	}
	return true
}

// unlearnedResults returns the results of an algorithm on the instances of a track; nil if the algorithm learned, or
// has no result on one of them.
func unlearnedResults(a *suite.Archive, db *store.DB, track, algorithm string) ([]suite.Result, error) {
	parsed, err := algo.Parse(algorithm)
	if err != nil || parsed.Weights() != "" {
		return nil, err
	}
	cells, err := Cells(a, track, algorithm)
	if err != nil {
		return nil, err
	}
	results, err := a.Results(db, cells)
	if _, missing := errors.AsType[*suite.MissingError](err); missing {
		return nil, nil
	}
	return results, err
}

// Tables returns the board of the algorithms of [Ran], if there are some, and the numbers of instances.
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
