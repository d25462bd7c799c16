package drl

import (
	"math"
	"testing"

	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/paper-figures/figurestest"
)

// TestLawsDrawTheDatasets: the printed law has
// the areas of the tasks that the default generator draws.
func TestLawsDrawTheDatasets(t *testing.T) {
	d := &figures.Data{Claims: figurestest.Load(t, Paper).Claims}
	sizes := mig.MustLookup("A100").Sizes()
	fit := printedLaw.fit(d, false)
	for i, w := range noMIGWorkloads {
		if w.name == wideTimes {
			continue // its durations vary too much for a few tasks
		}
		whole, least := 0.0, 0.0
		for instance := range 5 {
			for _, task := range figures.Tasks(figures.Dataset("drl/"+w.name+"?n=100"), "A100", instance) {
				area := math.Inf(1)
				for _, s := range sizes {
					area = min(area, float64(s)*float64(task.On(s)))
				}
				whole, least = whole+float64(mig.MaxSize)*float64(task.On(mig.MaxSize)), least+area
			}
		}
		if got, want := 1+fit.pOpt[i]/100, whole/least; math.Abs(got/want-1) > 0.03 {
			t.Errorf("%s: 7 slices take %v of the least areas by the law, and %v by the generator", w.name, got, want)
		}
	}
}

// TestNearestLawsAreNear: with p_sup as printed no law is as near as one with p_sup free, and the printed p_sup are
// among the free ones.
func TestNearestLawsAreNear(t *testing.T) {
	d := &figures.Data{Claims: figurestest.Load(t, Paper).Claims}
	for _, l := range laws()[:40] {
		fixed, free := l.fit(d, false), l.fit(d, true)
		for i, w := range noMIGWorkloads {
			if fixed.quarters[i] != w.psup || math.Abs(free.off[i]) > math.Abs(fixed.off[i]) {
				t.Fatalf("%+v, %s: off by %v %% with the printed p_sup and by %v %% with %d quarters", l, w.name, fixed.off[i], free.off[i], free.quarters[i])
			}
		}
	}
}
