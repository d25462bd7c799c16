package leaderboard

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/reports"
)

// Across is the ranks of algorithms under several conditions: the standings of one dataset for each.
type Across [][]Standing

// placed is where a standing stands by its mean, counted from 1, and how sure that is.
type placed struct{ place, best, worst int }

// find returns the place of an algorithm; the zero value if it has no rank.
func find(standings []Standing, algorithm string) placed {
	i := slices.IndexFunc(standings, func(s Standing) bool { return s.Algorithm == algorithm && s.Rank > 0 })
	if i < 0 {
		return placed{}
	}
	return placed{i + 1, standings[i].Best, standings[i].Worst}
}

func (p placed) String() string {
	switch {
	case p.place == 0:
		return reports.Missing
	case p.best == p.worst:
		return fmt.Sprint(p.place)
	}
	return fmt.Sprintf("%d (%d-%d)", p.place, p.best, p.worst)
}

// algorithms are those with a rank under the first conditions, by rank, and then those that others add.
func (a Across) algorithms() (out []string) {
	for _, standings := range a {
		for _, s := range standings {
			if s.Rank > 0 && !slices.Contains(out, s.Algorithm) {
				out = append(out, s.Algorithm)
			}
		}
	}
	return out
}

// A pair is two algorithms of which the first is certainly better.
type pair struct{ better, worse string }

func pairsOf(standings []Standing) (out []pair) {
	for _, s := range standings {
		for _, worse := range s.Beats {
			out = append(out, pair{s.Algorithm, worse})
		}
	}
	return out
}

// Table has a row for each of the conditions and a column for each algorithm. Its notes name the pairs of algorithms
// whose order is certainly reversed.
func (a Across) Table() reports.Table {
	algorithms, first := a.algorithms(), pairsOf(a[0])
	t := reports.Table{
		Title:   fmt.Sprintf("Places of the algorithms of the %s track by GPU model and dataset", a[0][0].Track),
		Columns: reports.Left("gpu", "dataset").Right("instances").Right(algorithms...).Right("same", "open", "reversed"),
		Notes: []string{
			"a place is by the mean; in brackets from the best to the worst that the 95 % bootstrap intervals of the paired " +
				"differences allow, each pair by itself",
			"same, open, reversed: of the pairs of algorithms that the first row tells apart, how many have the same order " +
				"with the same certainty, cannot be told apart, and have the other order",
		},
	}
	for _, standings := range a {
		s, own := standings[0], pairsOf(standings)
		row := []string{s.GPU, s.Dataset, fmt.Sprint(s.Instances)}
		for _, name := range algorithms {
			row = append(row, find(standings, name).String())
		}
		same := 0
		var reversed []string
		for _, p := range first {
			switch {
			case slices.Contains(own, p):
				same++
			case slices.Contains(own, pair{p.worse, p.better}):
				reversed = append(reversed, p.worse+" before "+p.better)
			}
		}
		open := len(first) - same - len(reversed)
		t.Rows = append(t.Rows, append(row, fmt.Sprint(same), fmt.Sprint(open), fmt.Sprint(len(reversed))))
		if reversed != nil {
			t.Notes = append(t.Notes, fmt.Sprintf("reversed on %s, %s: %s", s.GPU, s.Dataset, strings.Join(reversed, ", ")))
		}
	}
	return t
}

// Figure has a panel for each GPU model and a colour for each dataset: the places, with whiskers from the best to the
// worst.
func (a Across) Figure() reports.Figure {
	algorithms := a.algorithms()
	var charts []reports.Bars
	for _, standings := range a {
		if gpu := standings[0].GPU; len(charts) == 0 || charts[len(charts)-1].Title != gpu {
			charts = append(charts, reports.Bars{
				Title: gpu, Dots: true, Categories: algorithms, X: reports.Axis{Label: "Algorithm"},
				Y: reports.Axis{Label: "Place"},
			})
		}
		group := reports.BarGroup{Name: standings[0].Dataset}
		for _, name := range algorithms {
			if p := find(standings, name); p.place > 0 {
				group.Add(float64(p.place), float64(p.best), float64(p.worst))
			} else {
				group.Add(math.NaN(), math.NaN(), math.NaN())
			}
		}
		last := &charts[len(charts)-1]
		last.Groups = append(last.Groups, group)
	}
	panels := reports.Panels{Title: "Places of the algorithms, from the best to the worst that is possible", Columns: 1}
	for _, c := range charts {
		panels.Charts = append(panels.Charts, c)
	}
	return panels
}
