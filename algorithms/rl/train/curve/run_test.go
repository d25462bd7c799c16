package curve

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// curveText is a learning curve with a point each 1000 steps.
func curveText(scores ...float64) string {
	var b strings.Builder
	b.WriteString(header + "\n")
	for i, v := range scores {
		fmt.Fprintf(&b, "%d,%v,-1,14,4,0,1,0.5,0.001,0\n", 1000*(i+1), v)
	}
	return b.String()
}

// The runs of an agent differ in their seed and have points at the same steps, as far as the shorter one goes.
func TestShippedRunsHaveTheSameSteps(t *testing.T) {
	for agent, runs := range Shipped() {
		for i, run := range runs {
			if i > 0 && run.Seed <= runs[i-1].Seed || run.Seed < 1 {
				t.Errorf("%s: seed %d is no. %d", agent, run.Seed, i)
			}
			if both := min(len(run.Steps), len(runs[0].Steps)); !slices.Equal(run.Steps[:both], runs[0].Steps[:both]) {
				t.Errorf("%s: seeds %d and %d have points at other steps", agent, run.Seed, runs[0].Seed)
			}
		}
	}
}

// ofScores is the run of a curve with a point each 1000 steps.
func ofScores(scores ...float64) *Run {
	points, err := Read(strings.NewReader(curveText(scores...)), "test")
	if err != nil {
		panic(err)
	}
	r := RunOf(points)
	return &r
}

func TestRun(t *testing.T) {
	c := ofScores(80, 40, 21, 20, 20.5)
	for _, x := range []struct {
		what      string
		got, want float64
	}{
		{"at nothing", c.At(0), 80},
		{"before the first point", c.At(500), 80},
		{"half-way, between points", c.At(0.5 * c.Last()), 40},
		{"at a point", c.At(3000), 21},
		{"end", c.Final(), 20.5},
		{"least", c.Least(), 20},
		// 22 is a tenth above 20.
		{"converges", c.Converges(), 3000},
		{"reaches", c.Reaches(40), 2000},
		{"below zero", ofScores(5, -10, -9).Converges(), 2000},
	} {
		if x.got != x.want {
			t.Errorf("%s: %v, want %v", x.what, x.got, x.want)
		}
	}
}

// TestShortCurvesHaveNoTrend: a line through its only points has no interval.
func TestShortCurvesHaveNoTrend(t *testing.T) {
	short := Run{Steps: []float64{1e6, 2e6}, Scores: []float64{9, 5}}
	long := Run{Steps: []float64{8e5, 9e5, 1e6}, Scores: []float64{9, 7, 5.1}}
	if got := TrendOf([]Run{short}); got.Word() != "too short" {
		t.Errorf("%+v %s", got, got.Word())
	}
	if got := TrendOf([]Run{long, long}); got.Word() != "falls" {
		t.Errorf("%+v %s", got, got.Word())
	}
}
