package leaderboard

import (
	"slices"
	"testing"

	"miglab/harness/stats"
	"miglab/reports"
)

// The mapping of a trace is a parameter: its values stand beside each other, by cluster and
// algorithm. What only one mapping has, what failed and other datasets have no row.
func TestInfluence(t *testing.T) {
	of := func(dataset, algorithm string, rank int, mean float64) reports.Standing {
		return reports.Standing{
			Dataset: dataset, Algorithm: algorithm, Metric: "acceptance", Rank: rank, Bound: 1, Assumes: "much",
			Value: stats.Summary{Mean: mean, Low: mean - 0.125, High: mean + 0.125},
		}
	}
	failed := of("openb?gpus=12&map=memory", "broken", 3, 0)
	failed.Failed = 1
	got := Influence([]reports.Standing{
		of("openb?gpus=12", "fgd", 1, 0.75), of("openb?gpus=12", "ff", 2, 0.5), of("openb?gpus=12", "alone", 2, 0.5), of("openb?gpus=12", "broken", 2, 0.5),
		of("openb?gpus=12&map=memory", "ff", 1, 0.625), of("openb?gpus=12&map=memory", "fgd", 1, 0.5), failed, of("openb?gpus=12&map=memory", "part", 0, 0.5),
		of("openb?gpus=16", "fgd", 1, 0.75), of("mfi/uniform", "fgd", 1, 0.75),
	}, "map")
	want := [][]string{
		{"openb?gpus=12", "fgd", "acceptance", "0.75000", "0.62500", "0.87500", "1.00000", "1", "0.50000", "0.37500", "0.62500", "1.00000", "1"},
		{"openb?gpus=12", "ff", "acceptance", "0.50000", "0.37500", "0.62500", "1.00000", "2", "0.62500", "0.50000", "0.75000", "1.00000", "1"},
	}
	if !slices.EqualFunc(got.Rows, want, slices.Equal) || !slices.Equal(got.Notes, []string{"assumed: much"}) || got.Columns[8].Name != "memory" {
		t.Errorf("%v %q\n%q; want %q", got.Columns, got.Notes, got.Rows, want)
	}
	if got := Influence([]reports.Standing{of("openb", "fgd", 1, 1), of("mfi/uniform", "fgd", 1, 1)}, "map"); len(got.Rows) != 0 {
		t.Errorf("of a single value: %q", got.Rows)
	}
}
