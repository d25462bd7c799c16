package datasets

import (
	"math"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// efficient is a task with the same efficiency on every size but 1.
func efficient(e float64) *task.Task {
	t := &task.Task{Name: "t"}
	t.Set(1, 10)
	for _, s := range []mig.Slices{2, 3, 4, 7} {
		t.Set(s, mig.Seconds(10/(float64(s)*e)))
	}
	return t
}

func TestScalability(t *testing.T) {
	g := mig.MustLookup("A100")
	for _, c := range []struct {
		workload string
		// efficiency is that on sizes 2, 3, 4 and 7.
		efficiency, plotted float64
		shown               bool
	}{
		{"GOODSCALING", 1, 1, true},
		{"GOODSCALING", 0.5, 0.6, true}, // (1 + 4*0.5)/5: size 1 is included
		{"WIDETIMES", 1.6, 1.48, true},
		{"WIDETIMES", 1.65, 1.52, false},
		{"POORSCALING", 0.4, 0.52, true},
		{"POORSCALING", 0.5, 0.52, true}, // 0.6 - 0.08
		{"POORSCALING", 1.7, 1.48, true}, // 1.56 - 0.08: moved before the limit applies
		{"MIXSCALINGEXTREME", 0.7, 0.76, true},
		{"MIXSCALINGEXTREME", 0.8, 1.24, true}, // 0.84 + 0.4
		{"MIXSCALINGEXTREME", 1.05, 1.04, true},
		{"MIXSCALINGUNIFORM", 0.8, 0.84, true},
	} {
		k := efficient(c.efficiency)
		if got := Scalability(k, g); math.Abs(got-c.efficiency) > 1e-12 {
			t.Errorf("scalability %v, want %v", got, c.efficiency)
		}
		got, shown := PlottedScalability(c.workload, k, g)
		if math.Abs(got-c.plotted) > 1e-12 || shown != c.shown {
			t.Errorf("%s with efficiency %v is drawn at %v, %t; want %v, %t", c.workload, c.efficiency, got, shown, c.plotted, c.shown)
		}
	}
}

// TestAddedClouds: the script adds 300 points, all within the figure's axis.
func TestAddedClouds(t *testing.T) {
	points := 0
	for _, c := range AddedClouds {
		points += c.Points
		if c.From < PlottedFrom || c.To >= PlottedTo || c.From >= c.To {
			t.Errorf("%+v is not within the axis", c)
		}
	}
	if points != 300 {
		t.Errorf("%d points are added, want 300", points)
	}
}
