package reports

import (
	"math"
	"testing"
)

func TestLeaderboardRanksByGap(t *testing.T) {
	nan := math.NaN()
	entry := func(algorithm string, version, instance int, makespan float64) Entry {
		return Entry{Track: "batch", Dataset: "d", Algorithm: algorithm, Version: version, Instance: instance, Value: makespan, Bound: 10, Micros: nan}
	}
	got, err := Leaderboard([]Entry{
		entry("b", 1, 0, 12), entry("b", 1, 1, 14),
		entry("a", 1, 0, 13), entry("a", 1, 1, 13),
		entry("best", 2, 0, 11), entry("best", 2, 1, 14), entry("best", 1, 0, 100),
		entry("broken", 1, 0, 10), entry("broken", 1, 1, nan),
		entry("b", 1, 7, 1), // an instance that the others were not run on
		{Track: "batch", Dataset: "d", Algorithm: "b", Version: 1, Content: "before a change", Value: 1, Bound: 10, Micros: nan},
	}, Metric{Name: "makespan_s", Bounded: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		algorithm  string
		rank, wins int
		gap        float64
	}{{"best", 1, 0, 25}, {"a", 2, 1, 30}, {"b", 2, 0, 30}, {"broken", 4, 1, nan}}
	if len(got) != len(want) {
		t.Fatalf("%d standings, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		sameGap := math.Abs(g.Gap-w.gap) < 1e-9 || math.IsNaN(g.Gap) && math.IsNaN(w.gap)
		if g.Algorithm != w.algorithm || g.Rank != w.rank || g.Wins != w.wins || !sameGap || g.Instances != 2 {
			t.Errorf("standing %d: %+v, want %+v over 2 instances", i, g, w)
		}
	}
	higher, err := Leaderboard([]Entry{entry("low", 1, 0, 1), entry("high", 1, 0, 2)}, Metric{Name: "acceptance", Higher: true})
	if err != nil || higher[0].Algorithm != "high" || higher[0].Wins != 1 || higher[1].Wins != 0 || !math.IsNaN(higher[0].Gap) {
		t.Errorf("where higher is better: %+v, %v", higher, err)
	}
	table := LeaderboardTable(got)
	if len(table.Columns) != 14 || table.Rows[3][7] != Missing {
		t.Errorf("table %v", table)
	}
}
