package leaderboard

import (
	"fmt"
	"slices"
	"strings"

	"miglab/harness/nearest"
	"miglab/reports"
)

// Across is the ranks of algorithms under several conditions: the standings of one dataset for each.
type Across [][]Standing

// find returns the standing of an algorithm; the zero value if it is missing.
func find(standings []Standing, algorithm string) (none Standing) {
	for _, s := range standings {
		if s.Algorithm == algorithm {
			return s
		}
	}
	return none
}

func placeText(s Standing) string {
	switch {
	case s.Place == 0:
		return reports.Missing
	case s.Best == s.Worst:
		return fmt.Sprint(s.Place)
	}
	return fmt.Sprintf("%d (%d-%d)", s.Place, s.Best, s.Worst)
}

// algorithms returns the algorithms with a rank under the first conditions, by rank, and then the ones that others add.
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

// comparePairs returns how many of the pairs of algorithms that some standings tell apart are in the same order in
// others, how many these do not tell apart, and which they reverse.
func comparePairs(first, others []Standing) (same, open int, reversed []string) {
	for _, better := range first {
		for _, worse := range better.Beats {
			switch {
			case slices.Contains(find(others, better.Algorithm).Beats, worse):
				same++
			case slices.Contains(find(others, worse).Beats, better.Algorithm):
				reversed = append(reversed, worse+" before "+better.Algorithm)
			default:
				open++
			}
		}
	}
	return same, open, reversed
}

// Table has a row for each of the conditions and a column for each algorithm. Its notes name the pairs of algorithms
// whose order is certainly reversed.
func (a Across) Table() reports.Table {
	algorithms := a.algorithms()
	t := reports.Table{
		Title: fmt.Sprintf("Places of the algorithms of the %s track by GPU model and dataset", a[0][0].Track),
		Columns: reports.Left("gpu", "dataset").Right("instances").Right(algorithms...).
			Right("same", "open", "reversed"),
		Notes: []string{
			"a place is by the mean; in brackets from the best to the worst that the 95 % bootstrap intervals of the " +
				"paired differences allow, each pair by itself",
			"same, open, reversed: of the pairs of algorithms that the first row tells apart, how many have the same " +
				"order with the same certainty, cannot be told apart, and have the other order",
		},
	}
	for _, standings := range a {
		s := standings[0]
		places := nearest.Names(algorithms, func(name string) string { return placeText(find(standings, name)) })
		same, open, reversed := comparePairs(a[0], standings)
		t.Row(s.GPU, s.Dataset, s.Instances, places, same, open, len(reversed))
		if reversed != nil {
			t.Notes = append(t.Notes,
				fmt.Sprintf("reversed on %s, %s: %s", s.GPU, s.Dataset, strings.Join(reversed, ", ")))
		}
	}
	return t
}
