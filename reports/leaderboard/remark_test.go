package leaderboard

import (
	"math"
	"testing"

	_ "miglab/algorithms/placement"
	"miglab/harness/stats"
	"miglab/reports"
)

func TestRemark(t *testing.T) {
	of := func(algorithm string, rank int, mean, aside float64) reports.Standing {
		return reports.Standing{
			Dataset: "d", Algorithm: algorithm, Metric: "acceptance", Rank: rank, Instances: 20, PHolm: math.NaN(),
			Value: stats.Summary{Mean: mean}, Aside: aside, AsideName: "mean_fragmentation",
		}
	}
	beaten := of("value-table", 3, 0.875, 2)
	beaten.PHolm = 0.001
	partial, failed := of("value-table", 0, 0, 0), of("value-table", 2, 0, 0)
	failed.Failed = 1
	bounded := of("ff", 1, 1, 1)
	bounded.LeftOut, bounded.NoBound, bounded.AsideName = 10, 8, ""
	const ff = " ff: first GPU with enough free slices, first free start (MFI VI, First Fit)."
	for _, c := range []struct {
		standings []reports.Standing
		want      string
	}{
		{[]reports.Standing{of("value-table", 1, 1, 1), of("ff", 2, 0.5, 1)}, "From the first to the last of 2 algorithms, the means differ by 50.00 points. value-table, which is ours, is first."},
		{[]reports.Standing{of("value-table", 1, 1, 1), of("ff", 1, 1, 1)}, "From the first to the last of 2 algorithms, the means are the same. value-table, which is ours, shares the first place."},
		{[]reports.Standing{of("ff", 1, 1, 1), of("value-table", 1, 0.99999, 1)}, "From the first to the last of 2 algorithms, the means differ by less than 0.01 points." +
			" value-table, which is ours, shares the first place with ff; the means differ by less than 0.01 points."},
		{[]reports.Standing{of("ff", 1, 1, 1), beaten}, "From the first to the last of 2 algorithms, the means differ by 12.50 points. None of ours is among the first: ff wins." +
			" The best of ours, value-table, has rank 3; the means differ by 12.50 points (p = 0.001, Wilcoxon and Holm)." + ff +
			" Its mean fragmentation is lower, 1.000 against 2.000, which goes with the difference but does not prove that it is the cause."},
		{[]reports.Standing{of("ff", 1, 1, 1.999), of("mfi", 1, 1, 1), beaten}, "From the first to the last of 3 algorithms, the means differ by 12.50 points." +
			" None of ours is among the first: ff is the first of several that share the first place." +
			" The best of ours, value-table, has rank 3; the means differ by 12.50 points (p = 0.001, Wilcoxon and Holm)." + ff +
			" Its mean fragmentation is nearly the same, 1.999 against 2.000, so that this does not explain the difference."},
		{[]reports.Standing{of("ff", 1, 1, 3), beaten}, "From the first to the last of 2 algorithms, the means differ by 12.50 points. None of ours is among the first: ff wins." +
			" The best of ours, value-table, has rank 3; the means differ by 12.50 points (p = 0.001, Wilcoxon and Holm)." + ff +
			" Its mean fragmentation is higher, 3.000 against 2.000, so that this does not explain the difference."},
		{[]reports.Standing{of("ff", 1, 1, 1), of("mfi", 2, 0.5, 1), failed, partial}, "From the first to the last of 2 algorithms, the means differ by 50.00 points."},
		{[]reports.Standing{bounded, of("mfi", 2, 0.5, 1)}, "There is a bound of 22 of 30 instances; the others do not count."},
		{[]reports.Standing{of("ff", 1, 1, 1)}, ""},
	} {
		if got := Remark(c.standings); got != c.want {
			t.Errorf("%s\nwant\n%s", got, c.want)
		}
	}
	other := of("ff", 1, 1, 1)
	other.Dataset = "e"
	if got := Remarks([]reports.Standing{of("value-table", 1, 1, 1), of("ff", 2, 0.5, 1), other}); len(got) != 1 || got["d"] == "" {
		t.Errorf("remarks %q", got)
	}
}
