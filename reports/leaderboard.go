package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"miglab/harness/stats"
)

// An Entry is what an algorithm did on one instance of a dataset.
type Entry struct {
	Track, Dataset, Algorithm string
	Version                   int
	// Content says what the dataset's name stood for when the entry was made: entries
	// of different content are of different instances.
	Content string
	// Instance counts from 0.
	Instance int
	// Value is the board's metric; NaN where there is no valid answer.
	Value float64
	// Bound is a proven bound on the metric; read only where the metric is bounded.
	Bound float64
	// Micros is the decision time in microseconds; NaN where it is not known.
	Micros float64
}

// A Metric is what a leaderboard ranks by.
type Metric struct {
	// Name carries the unit, for example makespan_s.
	Name string
	// Higher says that a higher value is better.
	Higher bool
	// Bounded says that entries have bounds; the board then ranks by the gap to them.
	Bounded bool
}

// A Standing is an algorithm's place on a dataset.
type Standing struct {
	Track, Dataset string
	// Rank counts from 1; algorithms with the same mean share one. Those that left an
	// instance without a valid answer come last.
	Rank      int
	Algorithm string
	Version   int
	// Instances is how many the algorithms of the dataset have in common.
	Instances int
	// Failed is on how many of them the algorithm has no valid answer.
	Failed int
	// Metric is the name of what Value summarises; the zero value if any failed.
	Metric string
	Value  stats.Summary
	// Wins is on how many instances no other algorithm is better.
	Wins int
	// Gap is the mean of value over bound, less one, in percent; NaN if any failed or
	// the metric has no bound.
	Gap float64
	// Micros is the mean decision time in microseconds; NaN where it is not known.
	Micros float64
}

// Leaderboard ranks algorithms on each dataset by their mean gap to the bound, or
// where there is none by their mean, over the instances that all of them were run on. Of several versions of an
// algorithm the latest counts.
func Leaderboard(entries []Entry, metric Metric) ([]Standing, error) {
	type dataset struct{ track, name string }
	boards := map[dataset]map[string][]Entry{}
	for _, e := range entries {
		d := dataset{e.Track, e.Dataset}
		if boards[d] == nil {
			boards[d] = map[string][]Entry{}
		}
		own := boards[d][e.Algorithm]
		switch {
		case len(own) == 0 || own[0].Version < e.Version:
			own = []Entry{e}
		case own[0].Version == e.Version:
			own = append(own, e)
		}
		boards[d][e.Algorithm] = own
	}
	var out []Standing
	for d, board := range boards {
		standings, err := rank(board, metric)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		out = append(out, standings...)
	}
	slices.SortFunc(out, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(a.Track, b.Track), cmp.Compare(a.Dataset, b.Dataset), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Algorithm, b.Algorithm))
	})
	return out, nil
}

// rank orders the algorithms of one dataset.
func rank(board map[string][]Entry, metric Metric) ([]Standing, error) {
	better := func(a, b float64) bool { return a < b != metric.Higher && a != b }
	type instance struct {
		content string
		number  int
	}
	of := func(e Entry) instance { return instance{e.Content, e.Instance} }
	runs := map[instance]int{} // how many algorithms were run on it
	for _, own := range board {
		for _, e := range own {
			runs[of(e)]++
		}
	}
	best := map[instance]float64{}
	for _, own := range board {
		for _, e := range own {
			if v, ok := best[of(e)]; !math.IsNaN(e.Value) && (!ok || better(e.Value, v)) {
				best[of(e)] = e.Value
			}
		}
	}
	var out []Standing
	for name, own := range board {
		slices.SortFunc(own, func(a, b Entry) int {
			return cmp.Or(cmp.Compare(a.Content, b.Content), cmp.Compare(a.Instance, b.Instance))
		})
		s := Standing{Track: own[0].Track, Dataset: own[0].Dataset, Algorithm: name, Version: own[0].Version, Metric: metric.Name}
		var values, gaps, micros []float64
		for _, e := range own {
			if runs[of(e)] < len(board) {
				continue
			}
			s.Instances++
			if math.IsNaN(e.Value) {
				s.Failed++
				continue
			}
			values = append(values, e.Value)
			if metric.Bounded {
				gaps = append(gaps, (e.Value/e.Bound-1)*100)
			}
			if !math.IsNaN(e.Micros) {
				micros = append(micros, e.Micros)
			}
			if e.Value == best[of(e)] {
				s.Wins++
			}
		}
		if s.Instances == 0 {
			continue
		}
		s.Gap, s.Micros = math.NaN(), math.NaN()
		if len(micros) > 0 {
			m, err := stats.Summarize(micros)
			if err != nil {
				return nil, err
			}
			s.Micros = m.Mean
		}
		if s.Failed == 0 {
			var err error
			if s.Value, err = stats.Summarize(values); err != nil {
				return nil, err
			}
			if metric.Bounded {
				g, err := stats.Summarize(gaps)
				if err != nil {
					return nil, err
				}
				s.Gap = g.Mean
			}
		}
		out = append(out, s)
	}
	// Means that differ by what sums round to are the same.
	worth := func(s Standing) float64 {
		if s.Failed > 0 {
			return math.Inf(1)
		}
		switch {
		case metric.Bounded:
			return math.Round(s.Gap * 1e9)
		case metric.Higher:
			return math.Round(-s.Value.Mean * 1e9)
		}
		return math.Round(s.Value.Mean * 1e9)
	}
	slices.SortFunc(out, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(worth(a), worth(b)), cmp.Compare(a.Algorithm, b.Algorithm))
	})
	for i := range out {
		out[i].Rank = i + 1
		if i > 0 && worth(out[i]) == worth(out[i-1]) {
			out[i].Rank = out[i-1].Rank
		}
	}
	return out, nil
}

// LeaderboardTable lists standings in the columns of the leaderboard CSV.
func LeaderboardTable(standings []Standing) Table {
	t := Table{Columns: []Column{
		{Name: "track"},
		{Name: "dataset"},
		{Name: "rank", Right: true},
		{Name: "algorithm"},
		{Name: "version", Right: true},
		{Name: "instances", Right: true},
		{Name: "metric"},
		{Name: "mean", Right: true},
		{Name: "ci_low", Right: true},
		{Name: "ci_high", Right: true},
		{Name: "median", Right: true},
		{Name: "wins", Right: true},
		{Name: "gap_percent", Right: true},
		{Name: "decision_us", Right: true},
	}}
	const decimals = 5
	failed := false
	for _, s := range standings {
		row := []string{
			s.Track, s.Dataset, fmt.Sprint(s.Rank), s.Algorithm, fmt.Sprint(s.Version), fmt.Sprint(s.Instances), s.Metric,
			Missing, Missing, Missing, Missing, fmt.Sprint(s.Wins), Fixed(s.Gap, 3), Fixed(s.Micros, 1),
		}
		if s.Failed == 0 {
			row[7], row[8], row[9], row[10] = Fixed(s.Value.Mean, decimals), Fixed(s.Value.Low, decimals), Fixed(s.Value.High, decimals), Fixed(s.Value.Median, decimals)
		} else {
			failed = true
		}
		t.Rows = append(t.Rows, row)
	}
	t.Notes = []string{"gap_percent: mean above the certified lower bound (corun: the exact optimum), where there is one; decision_us: wall time of an instance on the machine that ran it"}
	if failed {
		t.Notes = append(t.Notes, "no mean: an instance has no valid answer; such algorithms come last")
	}
	return t
}
