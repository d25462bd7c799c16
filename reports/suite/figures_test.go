package suite

import (
	"slices"
	"testing"

	"miglab/datasets/suite"
	"miglab/reports"
)

// resultOf returns a result on an instance whose best known makespan is 100 s.
func resultOf(makespan, seconds float64) []suite.Result {
	return []suite.Result{{
		Instance: &suite.Instance{Track: "batch", Objective: "min makespan_s"}, Known: &suite.Best{Value: 100},
		Value: makespan, Solved: makespan > 0, Seconds: seconds,
	}}
}

// Two budgets of lns are one line, on which the short run reaches 1, 3 and 10 %, and the long one the rest. A program
// is a line for each command line. Who has no answer or no time reaches nothing.
func TestSuiteFigures(t *testing.T) {
	names := []string{"lns?iterations=9", "lns?iterations=1", "exec:./p 1", "exec:./p 2"}
	results := [][]suite.Result{resultOf(100, 2), resultOf(100.5, 0.5), resultOf(0, 1), resultOf(100, 0)}
	times := Times(names, results).(reports.Lines).Series
	if len(times) != 3 || times[0].Name != "lns" || times[1].Name != "exec:./p 1 (batch)" {
		t.Fatalf("%+v", times)
	}
	if s := times[0]; !slices.Equal(s.X, []float64{0.5, 0.5, 2, 2, 2}) || !slices.Equal(s.Y, []float64{0, 0.5, 0.5, 1, 1}) {
		t.Errorf("%+v", s)
	}
	for _, s := range times[1:] {
		if !slices.Equal(s.Y, []float64{0, 0}) {
			t.Errorf("%+v", s)
		}
	}
	near := Profile(names, results).(reports.Lines).Series
	for i, want := range [][]float64{{0, 1, 1}, {0, 0, 1, 1}, {0, 0}, {0, 1, 1}} {
		if !slices.Equal(near[i].Y, want) {
			t.Errorf("%+v", near[i])
		}
	}
}
