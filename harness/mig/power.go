package mig

import (
	"cmp"
	_ "embed"
	"encoding/json"
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

// Power says what a board draws. A model without it has no energies; there is no default. It has one of two forms:
//
//   - Busy: a board draws Idle and, for each busy instance, the watts of its size, whatever else runs.
//   - Curve: the watts depend on the number of busy compute slices of the board alone, as in the deadline report.
type Power struct {
	// Idle is what a board without a busy instance draws.
	Idle Watts `json:"idle_w"`
	// Busy is what a busy instance adds, in the order of [GPU.Sizes]; nil if there is a Curve.
	Busy []Watts `json:"busy_w,omitempty"`
	// Curve is what a board draws by its number of busy compute slices, from 0; the last entry is also for more. It
	// begins with Idle and does not fall.
	Curve []Watts `json:"curve_w,omitempty"`
	// Source says where the watts come from.
	Source string `json:"power_source"`
}

const maxWatts = 1e6

// powerParams declares the parameters after the name of a model that give it a [Power], as in A100?idle=75.4.
var powerParams = []spec.Param{
	{Name: "idle", Type: spec.Number(0, maxWatts), Doc: "watts of a board without a busy instance"},
	{Name: "busy", Type: spec.Numbers(0, maxWatts), Doc: "watts that a busy instance adds, by size, beside idle"},
	{
		Name: "watts", Type: spec.Numbers(0, maxWatts),
		Doc: "watts of a board by busy compute slices from 0, in place of idle and busy",
	},
}

//go:embed power.json
var powerText []byte

// readings returns the watts that busy instances of a model of the table add, with their source.
func readings(model string) (busy []Watts, source string) {
	var all []struct {
		GPU    string  `json:"gpu"`
		Busy   []Watts `json:"busy_w"`
		Source string  `json:"source"`
	}
	if err := json.Unmarshal(powerText, &all); err != nil {
		panic("mig: power.json: " + err.Error())
	}
	for _, r := range all {
		if r.GPU == model {
			return r.Busy, r.Source
		}
	}
	return nil, ""
}

// powerOf returns the power that the parameters give to a model; nil if they give none and the model has none.
func (g *GPU) powerOf(a spec.Args) (*Power, error) {
	watts := func(value string) (out []Watts) {
		for _, v := range spec.Floats(value) {
			out = append(out, Watts(v))
		}
		return out
	}
	switch {
	case a["watts"] != "" && a["idle"]+a["busy"] != "":
		return nil, errors.New("give either watts, the power by busy slices, or idle and busy")
	case a["watts"] != "":
		curve := watts(a["watts"])
		return &Power{Idle: curve[0], Curve: curve, Source: "as the name says"}, nil
	case a["idle"] == "" && a["busy"] == "":
		return g.Power, nil
	case a["idle"] == "":
		return nil, errors.New("busy has no meaning without idle, the watts of a board without a busy instance")
	}
	p := &Power{Idle: Watts(a.Float("idle")), Source: "as the name says"}
	switch own, source := readings(g.Name); {
	case a["busy"] != "":
		p.Busy = watts(a["busy"])
	case g.Power != nil && g.Power.Busy != nil:
		p.Busy, p.Source = g.Power.Busy, g.Power.Source
	case own != nil:
		p.Busy, p.Source = own, source
	default:
		return nil, fmt.Errorf("there are no readings of what its busy instances draw; give busy=W-W-..., the watts "+
			"that a busy instance of %v slices adds", g.sizes)
	}
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

// at returns what a board draws with so many busy compute slices.
func (p *Power) at(busy Slices) Watts { return p.Curve[min(int(busy), len(p.Curve)-1)] }

// Floor returns watts such that a board always draws at least Idle and the floors of its busy instances. For a Curve
// the floor of a compute slice is the least of (Curve[b] - Idle) / b, so that b busy slices draw at least b times that.
func (g *GPU) Floor(size Slices) Watts {
	p := g.Power
	if p.Curve == nil {
		return p.Busy[slices.Index(g.sizes, size)]
	}
	least := Watts(math.Inf(1))
	for b := Slices(1); b <= g.ComputeSlices; b++ {
		least = min(least, (p.at(b)-p.Idle)/Watts(b))
	}
	return Watts(size) * least
}

// A Run is the time in which an instance of a board is busy.
type Run struct {
	// Board counts from 0.
	Board      int
	Size       Slices
	Start, End Seconds
}

// Energy returns what a number of boards draw, all of them from 0 to the end of the last run. The model must have a
// [Power]. The runs are sorted; the result does not depend on their order.
func (g *GPU) Energy(boards int, runs []Run) Joules {
	slices.SortFunc(runs, func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Board, b.Board), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End),
			int(a.Size-b.Size))
	})
	var end Seconds
	var busy Joules
	for _, r := range runs {
		end = max(end, r.End)
		if g.Power.Curve == nil {
			busy += Joules(float64(g.Floor(r.Size)) * float64(r.End-r.Start))
		}
	}
	if g.Power.Curve != nil {
		busy = g.Power.aboveIdle(runs)
	}
	return Joules(float64(boards)*float64(g.Power.Idle)*float64(end)) + busy
}

// aboveIdle returns the energy beyond Idle of runs that are sorted by board.
func (p *Power) aboveIdle(runs []Run) (above Joules) {
	type change struct {
		at   Seconds
		more Slices
	}
	for len(runs) > 0 {
		n := slices.IndexFunc(runs, func(r Run) bool { return r.Board != runs[0].Board })
		if n < 0 {
			n = len(runs)
		}
		var changes []change
		for _, r := range runs[:n] {
			changes = append(changes, change{r.Start, r.Size}, change{r.End, -r.Size})
		}
		slices.SortFunc(changes, func(a, b change) int {
			return cmp.Or(cmp.Compare(a.at, b.at), int(a.more-b.more)) // ends come before starts
		})
		busy := Slices(0)
		for i, c := range changes {
			if i > 0 {
				above += Joules(float64(p.at(busy)-p.Idle) * float64(c.at-changes[i-1].at))
			}
			busy += c.more
		}
		runs = runs[n:]
	}
	return above
}
