package leaderboard

import (
	"cmp"
	"math"
	"slices"
	"testing"
)

// Ratios are to the best on each instance, whichever side is better, and a failure is never within a factor.
func TestRatios(t *testing.T) {
	values := [][]float64{{2, 0, math.NaN(), 3}, {4, 0, 5, 1}, {3, 7, 5, math.NaN()}}
	inf := math.Inf(1)
	for _, c := range []struct {
		higher bool
		want   [][]float64
	}{
		{false, [][]float64{{1, 1, inf, 3}, {2, 1, 1, 1}, {1.5, inf, 1, inf}}},
		{true, [][]float64{{2, inf, inf, 1}, {1, inf, 1, 3}, {4. / 3, 1, 1, inf}}},
	} {
		var all []*contender
		for _, v := range values {
			all = append(all, &contender{values: v})
		}
		setRatios(all, Metric{Higher: c.higher})
		for i, a := range all {
			if !slices.Equal(a.standing.Ratios, c.want[i]) {
				t.Errorf("higher %t, algorithm %d: %v, want %v", c.higher, i, a.standing.Ratios, c.want[i])
			}
		}
	}
}

// A profile has the instances of all datasets, and the algorithms that all datasets rank.
func TestProfile(t *testing.T) {
	standings := []Standing{
		{Dataset: "a", Track: "batch", Rank: 1, Algorithm: "x", Ratios: []float64{1, 1}},
		{Dataset: "a", Track: "batch", Rank: 2, Algorithm: "y", Ratios: []float64{2, math.Inf(1)}},
		{Dataset: "a", Track: "batch", Rank: 3, Algorithm: "z", Ratios: []float64{9, 9}},
		{Dataset: "b", Track: "batch", Rank: 1, Algorithm: "y", Ratios: []float64{1, 1}},
		{Dataset: "b", Track: "batch", Rank: 2, Algorithm: "x", Ratios: []float64{4, 1}},
	}
	chart, err := Profile(standings, 0)
	if err != nil || len(chart.Series) != 2 {
		t.Fatalf("%d lines, %v", len(chart.Series), err)
	}
	if _, err := Profile(standings[2:4], 0); err == nil {
		t.Error("algorithms that are on one of two datasets are drawn")
	}
	for i, want := range []struct{ x, y []float64 }{
		{[]float64{1, 1, 4, 4, 4}, []float64{0, 0.75, 0.75, 1, 1}},
		{[]float64{1, 1, 2, 2, 4}, []float64{0, 0.5, 0.5, 0.75, 0.75}},
	} {
		if s := chart.Series[i]; !slices.Equal(s.X, want.x) || !slices.Equal(s.Y, want.y) {
			t.Errorf("%s: %v, %v", s.Name, s.X, s.Y)
		}
	}
}

// The top of a profile is that of all datasets together, also if it is the first on none of them.
func TestTopOfProfile(t *testing.T) {
	var standings []Standing
	for dataset, order := range map[string]string{"a": "xyzw", "b": "zywx"} {
		for i, name := range order {
			standings = append(standings, Standing{Dataset: dataset, Track: "batch", Rank: i + 1, Algorithm: string(name), Ratios: []float64{float64(i + 1)}})
		}
	}
	slices.SortFunc(standings, func(a, b Standing) int { return cmp.Compare(a.Dataset, b.Dataset)*10 + a.Rank - b.Rank })
	var names []string
	chart, err := Profile(standings, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range chart.Series {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"y", "z"}) {
		t.Errorf("the best two of all datasets are %q, want y and z, whose ranks are 2, 2 and 3, 1", names)
	}
}
