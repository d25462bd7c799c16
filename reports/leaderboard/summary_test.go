package leaderboard

import (
	"fmt"
	"slices"
	"testing"
)

// The variant that beats most represents its algorithm. One that has a rank on half of the boards is left out.
func TestLeads(t *testing.T) {
	var all []Standing
	for i, values := range []map[string]float64{
		{"a?x=1": 11, "a?x=2": 12, "b": 13, "c": 14},
		{"a?x=1": 12, "a?x=2": 11, "b": 13},
		{"a?x=1": 11, "a?x=2": 12, "b": 13},
		{"a?x=1": 11, "b": 13, "c": 10},
	} {
		var runs []*contender
		for _, name := range []string{"a?x=1", "a?x=2", "b", "c"} {
			if v, ok := values[name]; ok {
				c := entries(name, slices.Repeat([]float64{v}, 10)...)
				c.standing.Dataset = fmt.Sprint("d", i)
				runs = append(runs, c)
			}
		}
		all = append(all, mustRank(t, makespan, runs...)...)
	}
	leads, err := Leads(all)
	if err != nil || len(leads) != 2 {
		t.Fatalf("%+v, %v", leads, err)
	}
	a, b := leads[0], leads[1]
	// Of 3, 2, 2 and 2 others a?x=1 beats 3, 1, 2 and 1, and b beats 1, 0, 0 and 0.
	if a.Algorithm != "a?x=1" || a.Variants != 2 || a.Datasets != 4 || a.First != 2 ||
		!near(a.Beats.Mean, 75, 1e-9) || a.Beats.Min != 50 || a.Beats.Max != 100 || !near(a.Gap, 12.5, 1e-9) {
		t.Errorf("a: %+v", a)
	}
	if b.Algorithm != "b" || b.Variants != 1 || !near(b.Beats.Mean, 100./12, 1e-9) {
		t.Errorf("b: %+v", b)
	}
	table, err := Summary([][]Standing{all}, 1)
	if err != nil || fmt.Sprint(table.Rows) != "[[batch a?x=1 2 4 2 75 50 100 12.50]]" {
		t.Errorf("%v, %v", table.Rows, err)
	}
}

// A board of a single instance ranks nobody, so it does not count among the boards.
func TestLeadsSkipSingleInstances(t *testing.T) {
	var all []Standing
	for _, instances := range []int{10, 1} {
		var runs []*contender
		for name, v := range map[string]float64{"a": 11, "b": 12} {
			c := entries(name, slices.Repeat([]float64{v}, instances)...)
			c.standing.Dataset = fmt.Sprint("d", instances)
			runs = append(runs, c)
		}
		all = append(all, mustRank(t, makespan, runs...)...)
	}
	leads, err := Leads(all)
	if err != nil || len(leads) != 2 || leads[0].Algorithm != "a" || leads[0].Datasets != 1 {
		t.Errorf("%+v, %v", leads, err)
	}
}
