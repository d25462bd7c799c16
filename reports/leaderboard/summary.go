package leaderboard

import (
	"cmp"
	"maps"
	"slices"

	"miglab/harness/spec"
	"miglab/harness/stats"
	"miglab/harness/store"
	"miglab/harness/track"
	"miglab/reports"
)

// A Lead summarizes an algorithm's standings on the boards of a track: one board for each dataset.
type Lead struct {
	// Algorithm is the best of the algorithm's listed variants, and Variants their number.
	Algorithm string
	Variants  int
	// Datasets counts the boards on which it has a rank, and First those on which the rank is 1, perhaps shared.
	Datasets, First int
	// Beats summarizes, over these boards, the percentage of the other algorithms that are certainly worse.
	Beats stats.Summary
	// Gap is the mean over the boards of the mean gap to the bound in percent; NaN if a board has no bound.
	Gap float64
}

// Leads returns the algorithms that have a rank on more than half of the boards, by descending mean of Beats and, where
// it is equal, by gap. Of the variants of an algorithm, it returns the first.
func Leads(standings []Standing) ([]Lead, error) {
	boards := 0
	beats, gaps, first := map[string][]float64{}, map[string][]float64{}, map[string]int{}
	for own := range ByDataset(standings) {
		_, ranked := datasetHeading(own)
		if !ranked {
			continue
		}
		boards++
		for _, s := range own {
			if !s.HasRank() || !s.HasValue() {
				continue
			}
			beats[s.Algorithm] = append(beats[s.Algorithm], 100*float64(len(s.Beats))/float64(max(1, len(own)-1)))
			gaps[s.Algorithm] = append(gaps[s.Algorithm], s.Gap)
			if s.Rank == 1 {
				first[s.Algorithm]++
			}
		}
	}
	var all []Lead
	for name, shares := range beats {
		if 2*len(shares) <= boards {
			continue
		}
		lead := Lead{Algorithm: name, Datasets: len(shares), First: first[name], Gap: stats.Mean(gaps[name])}
		var err error
		if lead.Beats, err = stats.Summarize(shares); err != nil {
			return nil, err
		}
		all = append(all, lead)
	}
	slices.SortFunc(all, func(a, b Lead) int {
		return cmp.Or(cmp.Compare(b.Beats.Mean, a.Beats.Mean), cmp.Compare(a.Gap, b.Gap),
			cmp.Compare(a.Algorithm, b.Algorithm))
	})
	var out []Lead
	at := map[string]int{}
	for _, lead := range all {
		name, _ := spec.Split(lead.Algorithm)
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name], out = i, append(out, lead)
		}
		out[i].Variants++
	}
	return out, nil
}

// Datasets returns the datasets with results under conditions: the track's contests if there are results of some, and
// otherwise all.
func Datasets(db *store.DB, c Conditions) ([]string, error) {
	all, err := db.Series(c.filter(c.Track.Name))
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(c.byDataset(all)))
	outside := func(dataset string) bool {
		named := func(contest track.Contest) bool { return slices.Contains(contest.Datasets, dataset) }
		return !slices.ContainsFunc(c.Track.Contests, named)
	}
	main := slices.DeleteFunc(slices.Clone(names), outside)
	if len(main) > 0 {
		return main, nil
	}
	return names, nil
}

// Summary is a table of the first algorithms of each track, at most top of a track. standings has a list for each
// track.
func Summary(standings [][]Standing, top int) (reports.Table, error) {
	t := reports.Table{
		Title: "The first algorithms of each track, over its datasets",
		Columns: reports.Left("track", "algorithm").Right("variants", "datasets", "first on", "beats [%]", "least", "most",
			"gap [%]"),
		Notes: []string{
			"beats [%]: share of the other algorithms on a dataset that are certainly worse; mean, least and most of the " +
				"datasets",
			"variants: of how many with other parameters the best one is shown, which favours it",
			"first on: datasets on which it has rank 1; gap [%]: mean distance from the bound",
			"Listed are algorithms with a rank on more than half of the datasets.",
		},
	}
	for _, own := range standings {
		leads, err := Leads(own)
		if err != nil {
			return t, err
		}
		for _, l := range leads[:min(top, len(leads))] {
			t.Row(own[0].Track, l.Algorithm, l.Variants, l.Datasets, l.First,
				reports.Cells(0, l.Beats.Mean, l.Beats.Min, l.Beats.Max), reports.Fixed(l.Gap, 2))
		}
	}
	return t, nil
}
