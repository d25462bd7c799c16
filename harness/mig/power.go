package mig

import (
	"cmp"
	_ "embed" // for power.json
	"errors"
	"fmt"
	"math"
	"slices"

	"miglab/harness/spec"
)

// Watts is a power, and Joules is an energy.
type (
	Watts  float64
	Joules float64
)

// Power describes the power of a board, in one of two forms. Results on a model without a Power have no energy.
//
//   - Busy: a board draws Idle and, for each busy instance, the watts of its size, whatever else runs.
//   - Curve: the watts depend on the number of busy compute slices of the board alone, as in the deadline report.
type Power struct {
	Idle Watts `json:"idle_w"` // the power of a board without a busy instance
	// Busy is the power that a busy instance adds, in the order of [GPU.Sizes]; nil if there is a Curve.
	Busy []Watts `json:"busy_w,omitempty"`
	// Curve is the power of a board by its number of busy compute slices, from 0; the last entry is also for more. It
	// begins with Idle and does not fall.
	Curve  []Watts `json:"curve_w,omitempty"`
	Source string  `json:"power_source"` // says where the watts come from
}

const maxWatts = 1e6

// powerParams declares the parameters after the name of a model that give it a [Power], as in A100?idle=75.4.
var powerParams = []spec.Param{
	{Name: "idle", Type: spec.Number(0, maxWatts), Doc: "watts of a board without a busy instance"},
	{Name: "busy", Type: spec.Numbers(0, maxWatts), Doc: "watts that a busy instance adds, by size, beside idle"},
	{Name: "watts", Type: spec.Numbers(0, maxWatts), Doc: "watts by busy compute slices, in place of idle and busy"},
}

//go:embed power.json
var readingsText []byte

// readings holds measured powers by the name of a model of the table. They are used only where the name has the
// parameter idle, as in A100?idle=75.4; the bare model has no [GPU.Power].
var readings = embedded[map[string]*Power]("power.json", readingsText)

// choosePower returns the power that the parameters give to a model; nil if they give none and the model has none.
func (g *GPU) choosePower(a spec.Args) (*Power, error) {
	watts := func(value string) (out []Watts) {
		for _, v := range spec.Floats(value) {
			out = append(out, Watts(v))
		}
		return out
	}
	p := &Power{Source: "as the name says"}
	switch {
	case a["watts"] != "" && a["idle"]+a["busy"] != "":
		return nil, errors.New("give either watts, the power by busy slices, or idle and busy")
	case a["watts"] != "":
		p.Curve = watts(a["watts"])
		p.Idle = p.Curve[0]
		return p, nil
	case a["idle"]+a["busy"] == "":
		return g.Power, nil
	case a["idle"] == "":
		return nil, errors.New("busy has no meaning without idle, the watts of a board without a busy instance")
	}
	own := cmp.Or(g.Power, readings[g.Name])
	switch {
	case a["busy"] != "":
		p.Busy = watts(a["busy"])
	case own == nil || own.Busy == nil:
		return nil, fmt.Errorf("there are no readings of what its busy instances draw; give busy=W-W-..., the watts "+
			"that a busy instance of %v slices adds", g.sizes)
	default:
		p.Busy, p.Source = own.Busy, own.Source
	}
	p.Idle = Watts(a.Float("idle"))
	return p, nil
}

// check returns an error unless the watts are complete for the sizes of a model.
func (p *Power) check(sizes int) error {
	for _, w := range slices.Concat([]Watts{p.Idle}, p.Busy, p.Curve) {
		if !(w >= 0 && w <= maxWatts) { // NaN is not in between
			return fmt.Errorf("it draws %v W; give 0 to %v", w, float64(maxWatts))
		}
	}
	switch {
	case (p.Busy == nil) == (p.Curve == nil):
		return errors.New("its power needs either busy_w or curve_w")
	case p.Busy != nil && len(p.Busy) != sizes:
		return fmt.Errorf("its power has busy watts for %d sizes; the model has %d", len(p.Busy), sizes)
	case p.Curve != nil && (len(p.Curve) < 2 || p.Curve[0] != p.Idle || !slices.IsSorted(p.Curve)):
		return fmt.Errorf("its power by busy slices is %v; it must begin with the idle %v W, have a second entry "+
			"and not fall", p.Curve, p.Idle)
	}
	return nil
}

// onCurve returns the power of a board with so many busy compute slices.
func (p *Power) onCurve(busy Slices) Watts { return p.Curve[min(int(busy), len(p.Curve)-1)] }

// Floor returns a lower bound on the watts that a busy instance of a size adds: a board never draws less than Idle plus
// the floors of its busy instances. Without a Curve it is exact. For a Curve, the floor of one compute slice is the
// least of (Curve[b] - Idle) / b over all numbers b of busy slices. Floor panics if the model lacks the size.
func (g *GPU) Floor(size Slices) Watts {
	p := g.Power
	if p.Curve == nil {
		return p.Busy[slices.Index(g.sizes, size)]
	}
	least := Watts(math.Inf(1))
	for b := Slices(1); b <= g.ComputeSlices; b++ {
		least = min(least, (p.onCurve(b)-p.Idle)/Watts(b))
	}
	return Watts(size) * least
}

// A Run is the time in which an instance of a board is busy.
type Run struct {
	Board      int // counts from 0
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
		if g.Power.Curve == nil {
			above += Joules(float64(g.Floor(r.Size)) * float64(r.End-r.Start))
		}
	}
	if g.Power.Curve != nil {
		above = g.Power.aboveIdle(runs)
	}
	return Joules(float64(boards)*float64(g.Power.Idle)*float64(end)) + above
}

// aboveIdle returns the energy of runs beyond the idle watts, by the Curve.
func (p *Power) aboveIdle(runs []Run) (above Joules) {
	type change struct {
		board int
		at    Seconds
		by    Slices // busy compute slices
	}
	var changes []change
	for _, r := range runs {
		changes = append(changes, change{r.Board, r.Start, r.Size}, change{r.Board, r.End, -r.Size})
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(a.board-b.board, cmp.Compare(a.at, b.at), int(a.by-b.by))
	})
	busy := Slices(0)
	for i, c := range changes {
		if busy > 0 {
			above += Joules(float64(p.onCurve(busy)-p.Idle) * float64(c.at-changes[i-1].at))
		}
		busy += c.by
	}
	return above
}
