package mig

import (
	"cmp"
	_ "embed" // for power.json
	"errors"
	"fmt"
	"slices"

	"miglab/harness/spec"
)

// Watts is a power, and Joules is an energy.
type (
	Watts  float64
	Joules float64
)

// Power describes the power of a board: it draws Idle and, for each busy instance, the watts of its size, whatever else
// runs. Results on a model without a Power have no energy.
type Power struct {
	// Idle is the power of a board without a busy instance.
	Idle Watts `json:"idle_w"`
	// Busy is the power that a busy instance adds, in the order of [GPU.Sizes].
	Busy []Watts `json:"busy_w,omitempty"`
	// Source says where the watts come from.
	Source string `json:"power_source"`
}

const maxWatts = 1e6

// powerParams declares the parameters after the name of a model that give it a [Power], as in A100?idle=75.4.
var powerParams = []spec.Param{
	{Name: "idle", Type: spec.Number(0, maxWatts), Doc: "watts of a board without a busy instance"},
	{Name: "busy", Type: spec.Numbers(0, maxWatts), Doc: "watts that a busy instance adds, by size, beside idle"},
}

//go:embed power.json
var readingsText []byte

// readings holds measured powers by the name of a model of the table. They are used only where the name has the
// parameter idle, as in A100?idle=75.4; the bare model has no [GPU.Power].
var readings = embedded[map[string]*Power]("power.json", readingsText)

// choosePower returns the power that the parameters give to a model; nil if they give none and the model has none.
func (g *GPU) choosePower(a spec.Args) (*Power, error) {
	switch {
	case a["idle"]+a["busy"] == "":
		return g.Power, nil
	case a["idle"] == "":
		return nil, errors.New("busy has no meaning without idle, the watts of a board without a busy instance")
	}
	p := &Power{Idle: Watts(a.Float("idle")), Source: "as the name says"}
	own := cmp.Or(g.Power, readings[g.Name])
	switch {
	case a["busy"] != "":
		for _, w := range spec.Floats(a["busy"]) {
			p.Busy = append(p.Busy, Watts(w))
		}
	case own == nil:
		return nil, fmt.Errorf("there are no readings of what its busy instances draw; give busy=W-W-..., the watts "+
			"that a busy instance of %v slices adds", g.sizes)
	default:
		p.Busy, p.Source = own.Busy, own.Source
	}
	return p, nil
}

// check returns an error unless the watts are complete for the sizes of a model.
func (p *Power) check(sizes int) error {
	for _, w := range append([]Watts{p.Idle}, p.Busy...) {
		if !(w >= 0 && w <= maxWatts) { // NaN is not in between
			return fmt.Errorf("it draws %v W; give 0 to %v", w, float64(maxWatts))
		}
	}
	if len(p.Busy) != sizes {
		return fmt.Errorf("its power has busy watts for %d sizes; the model has %d", len(p.Busy), sizes)
	}
	return nil
}

// BusyWatts returns the watts that a busy instance of a size adds. The model must have a [Power] and the size.
func (g *GPU) BusyWatts(size Slices) Watts { return g.Power.Busy[slices.Index(g.sizes, size)] }

// A Run is the time in which an instance of a board is busy.
type Run struct {
	// Board counts from 0.
	Board      int
	Size       Slices
	Start, End Seconds
}

// Energy returns the energy of a number of boards from 0 to the end of the last run. The model must have a [Power].
// Energy may sort the given runs; the result does not depend on their order.
func (g *GPU) Energy(boards int, runs []Run) Joules {
	slices.SortFunc(runs, func(a, b Run) int {
		return cmp.Or(a.Board-b.Board, cmp.Compare(a.Start, b.Start), int(a.Size-b.Size), cmp.Compare(a.End, b.End))
	})
	var end Seconds
	var above Joules // the energy beyond the idle watts
	for _, r := range runs {
		end = max(end, r.End)
		above += Joules(float64(g.BusyWatts(r.Size)) * float64(r.End-r.Start))
	}
	return Joules(float64(boards)*float64(g.Power.Idle)*float64(end)) + above
}
