package mig_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"miglab/harness/mig"
)

// TestPowerAfterTheName: the parameters give a model a power, and the model of the table stays without one.
func TestPowerAfterTheName(t *testing.T) {
	var models mig.Catalog
	readings := []mig.Watts{35.1, 67.1, 97.2, 128.6, 221.7}
	for text, want := range map[string]struct {
		name        string
		idle        mig.Watts
		busy, curve []mig.Watts
	}{
		"A100?idle=75.4":                      {"A100?idle=75.4", 75.4, readings, nil},
		"a100-40gb?idle=0":                    {"A100?idle=0", 0, readings, nil},
		"A100?create=0&idle=45.90":            {"A100?create=0&idle=45.9", 45.9, readings, nil},
		"A30?idle=20&busy=10-20-30":           {"A30?busy=10-20-30&idle=20", 20, []mig.Watts{10, 20, 30}, nil},
		"H100?watts=40-120-160-200-240-250":   {"H100?watts=40-120-160-200-240-250", 40, nil, []mig.Watts{40, 120, 160, 200, 240, 250}},
		"A100?watts=1-1.5&destroy=2&create=1": {"A100?create=1&destroy=2&watts=1-1.5", 1, nil, []mig.Watts{1, 1.5}},
	} {
		g, err := models.Lookup(text)
		if err != nil || g.Name != want.name {
			t.Errorf("%s is %v, %v; want %s", text, g, err, want.name)
			continue
		}
		if p := g.Power; p.Idle != want.idle || !slices.Equal(p.Busy, want.busy) || !slices.Equal(p.Curve, want.curve) || p.Source == "" {
			t.Errorf("%s draws %+v", text, p)
		}
		if again, err := models.Parse(g.JSON(), "a database"); err != nil || again != g {
			t.Errorf("what %s wrote: %p, %v; want %p", g, again, err, g)
		}
	}
	for _, g := range mig.GPUs() {
		if g.Power != nil {
			t.Errorf("%s has a power without being asked", g)
		}
	}
}

func TestPowersThatAreRefused(t *testing.T) {
	var models mig.Catalog
	for text, says := range map[string]string{
		"A100-80GB?idle=75.4":               `GPU "A100-80GB": there are no readings of what its busy instances draw; give busy=W-W-..., the watts that a busy instance of [1 2 3 4 7] slices adds`,
		"A100?busy=1-2-3-4-5":               "busy has no meaning without idle",
		"A100?idle=-1":                      `parameter "idle" cannot be "-1"; give a number from 0 to 1e+06`,
		"A100?idle=1&busy=1-2":              "busy watts for 2 sizes; the model has 5",
		"A100?idle=1&watts=1-2":             "give either watts",
		"A100?watts=40":                     "have a second entry",
		"A100?watts=40-120-100":             "not fall",
		"A100?idle=75.4&create=0&idle=45.9": "the parameter once",
	} {
		if g, err := models.Lookup(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, error %v; want one that says %q", text, g, err, says)
		}
	}
	text := strings.Replace(half(t, "Powered"), `"profiles"`, `"power": {"idle_w": 5, "busy_w": [1, 2], "power_source": "measured"}, "profiles"`, 1)
	own, err := models.Parse([]byte(text), "gpu.json")
	if err != nil || own.Power.Busy[1] != 2 {
		t.Fatalf("a model with its own watts: %v, %v", own, err)
	}
	idle, err := models.Lookup("Powered?idle=7")
	if err != nil || idle.Power.Idle != 7 || idle.Power.Busy[1] != 2 || idle.Power.Source != "measured" {
		t.Errorf("with other idle watts: %+v, %v", idle, err)
	}
	if costs, err := models.Lookup("Powered?create=0"); err != nil || costs.Power != own.Power {
		t.Errorf("with other costs: %+v, %v", costs, err)
	}
}

// TestReadingsOfBusyInstances: the file has the readings less the idle watts, and 4 and 7 slices on the line of least
// squares.
func TestReadingsOfBusyInstances(t *testing.T) {
	const idle = 75.4
	load := []float64{110.5, 142.5, 172.6} // of 1, 2 and 3 slices
	mean := (load[0] + load[1] + load[2]) / 3
	slope := (load[2] - load[0]) / 2
	want := []float64{load[0] - idle, load[1] - idle, load[2] - idle, mean + 2*slope - idle, mean + 5*slope - idle}
	for i, w := range mig.MustLookup("A100?idle=0").Power.Busy {
		if math.Abs(float64(w)-want[i]) > 0.05 {
			t.Errorf("size %v: %v W, want %.2f", mig.MustLookup("A100").Sizes()[i], w, want[i])
		}
	}
}

// TestEnergyByHand: two boards until 10 s; board 0 runs 2 slices from 0 to 4 and 1 slice from 2 to 10.
func TestEnergyByHand(t *testing.T) {
	runs := []mig.Run{{Board: 0, Size: 1, Start: 2, End: 10}, {Board: 1, Size: 4, Start: 1, End: 2}, {Board: 0, Size: 2, Start: 0, End: 4}}
	for text, want := range map[string]mig.Joules{
		"A100?idle=5&busy=1-2-3-4-7": 2*5*10 + 2*4 + 1*8 + 4*1,
		// Above 10 W: 20 W from 0 to 2 and 25 W to 4 on board 0, then 10 W to 10; 25 W for 1 s on board 1.
		"A100?watts=10-20-30-35": 2*10*10 + 20*2 + 25*2 + 10*6 + 25*1,
	} {
		g := mig.MustLookup(text)
		before := runs[1]
		for range 3 {
			runs = append(runs[1:], runs[0])
			if got := g.Energy(2, slices.Clone(runs)); got != want {
				t.Errorf("%s: %v J, want %v", g, got, want)
			}
		}
		if g.Energy(2, runs[:1:3]); runs[1] != before {
			t.Errorf("%s: Energy wrote behind the runs that it was given", g)
		}
		if got := g.Energy(2, nil); got != 0 {
			t.Errorf("%s: %v J without runs", g, got)
		}
	}
}

// TestFloorIsBelowTheCurve: busy slices always draw at least their floors, and for some number exactly that.
func TestFloorIsBelowTheCurve(t *testing.T) {
	for _, text := range []string{"A100?watts=40-120-160-200-240-250-250-250", "A100?watts=10-11-30", "A30?watts=5-5-9"} {
		g := mig.MustLookup(text)
		met := false
		for b := mig.Slices(1); b <= g.ComputeSlices; b++ {
			above := g.Power.Curve[min(int(b), len(g.Power.Curve)-1)] - g.Power.Idle
			floor := g.Floor(b)
			met = met || math.Abs(float64(floor-above)) < 1e-9
			if floor > above+1e-9 {
				t.Errorf("%s: the floor of %v slices is %v W, above %v", g, b, floor, above)
			}
		}
		if !met {
			t.Errorf("%s: the floor could be higher", g)
		}
	}
	if f := mig.MustLookup("A100?idle=75.4").Floor(3); f != 97.2 {
		t.Errorf("the floor of watts by size is %v", f)
	}
}
