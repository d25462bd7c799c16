package placement

import (
	"math"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

func TestTrueDemandMustBeKnown(t *testing.T) {
	for _, id := range []string{"fgd?demand=true", "mfi-weighted?demand=true"} {
		a := algo.MustParse(id)
		_, err := a.Placer(sim.PlacementSetting{GPU: mig.MustLookup("A30"), GPUs: 1})
		if err == nil || !strings.HasPrefix(err.Error(), a.Spec.Name+"?demand=true needs requests drawn from a known distribution") {
			t.Errorf("%s without a distribution: %v", id, err)
		}
	}
}

// TestEstimateComesToTheTruth: after many requests the ranking is made from shares close
// to the probabilities.
func TestEstimateComesToTheTruth(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	in, err := datasets.InstanceOf[task.Requests](datasets.MustParse("mfi/skew-small?lifespan=steady&gpus=500"), g, 0)
	if err != nil {
		t.Fatal(err)
	}
	var last []float64
	rankings := 0
	p, err := newDemandAware("test", func(g *mig.GPU, demand []float64) [sim.Masks]float64 {
		last = demand
		rankings++
		return lostPlacements(g, demand)
	})(algo.Args{"demand": "estimated"}, sim.PlacementSetting{GPU: g, GPUs: in.GPUs})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range last {
		if v != 1./6 {
			t.Errorf("profile %d begins with %v", i, v)
		}
	}
	if _, err := sim.RunPlacement(g, in.GPUs, in.Requests, p, sim.SteadyWindow, task.Migration{}); err != nil {
		t.Fatal(err)
	}
	for i, v := range last {
		if math.Abs(v-in.Demand[i]) > 0.03 {
			t.Errorf("profile %d: estimated %v, true %v", i, v, in.Demand[i])
		}
	}
	want := 1
	for n := firstEstimate; n <= len(in.Requests); n *= 2 {
		want++
	}
	if rankings != want {
		t.Errorf("%d rankings for %d requests, want %d", rankings, len(in.Requests), want)
	}
}

// TestUselessByHand: slices 2, 3 and 5 are in use, the example of MFI V-B. 3g, 4g and 7g
// do not fit, so the five free slices are useless to them.
func TestUselessByHand(t *testing.T) {
	demand := []float64{.1, .2, .3, .1, .1, .2}
	if got := uselessSlices(mig.MustLookup("A100-80GB"), demand)[0b101100]; math.Abs(got-5*.4) > 1e-12 {
		t.Errorf("useless slices %v, want 2", got)
	}
}
