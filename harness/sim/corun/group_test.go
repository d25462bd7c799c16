package corun_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// A job's demand is the same before the simulation as within it, to the last bit.
func TestEndsOfKnownDemands(t *testing.T) {
	all := setups()
	rapid.Check(t, func(t *rapid.T) {
		s, m := rapid.SampledFrom(all).Draw(t, "setup"), model(t)
		l := s.Layout()
		if !m.Fixed(&l) {
			t.Skip("demands change")
		}
		var jobs [corun.MaxSlots]*task.Program
		var demands [corun.MaxSlots]corun.Demand
		slot := 0
		for _, gi := range s.GIs {
			for _, ci := range gi.CIs {
				shares := ci.Shares
				if len(shares) == 0 {
					shares = []float64{1}
				}
				for _, share := range shares {
					p := program(t, fmt.Sprint("job ", slot))
					jobs[slot], demands[slot] = &p, corun.DemandOf(&p, ci.Compute*share, gi.Memory)
					slot++
				}
			}
		}
		var want, ends [corun.MaxSlots]float64
		wantLast := m.Ends(&l, &jobs, &want)
		if last := m.EndsOf(&l, &demands, &ends); last != wantLast || ends != want {
			t.Fatalf("ends %v, last %v; want %v and %v", ends, last, want, wantLast)
		}
	})
}

func TestEndsDoesNotAllocate(t *testing.T) {
	l := corun.Setups(corun.Hierarchical, 4)[20].Layout()
	p := memory("p", 1)
	jobs := [corun.MaxSlots]*task.Program{&p, &p, &p, &p}
	var ends [corun.MaxSlots]float64
	m := corun.Model{Kappa: 0.25, Delta: 0.3, Release: true}
	if n := testing.AllocsPerRun(100, func() { m.Ends(&l, &jobs, &ends) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
