package reports

import (
	"image/color"
	"strings"
)

// Curve draws which ways to test a conclusion confirm it: a row for each conclusion, with a mark for each way.
type Curve struct {
	Title string
	Rows  []CurveRow
}

// A CurveRow is one conclusion.
type CurveRow struct {
	// Name and Text are short and long names of the conclusion.
	Name, Text string
	// Answer stands at the right.
	Answer string
	// Dots are drawn in their order.
	Dots []CurveDot
}

// A CurveDot is one test of a conclusion.
type CurveDot struct {
	// Default has a bold outline. Aside has a dashed one: it does not count.
	Default, Aside bool
	State          DotState
}

// A DotState says how a test came out. Each has a sign and a colour of its own, so that they differ in black and white
// as well.
type DotState string

// The states of dots, in blue with a plus, pale blue with a plus and a minus, orange with a minus, and white with a
// question mark.
const (
	DotMet    DotState = "met"
	DotPart   DotState = "met in part"
	DotMissed DotState = "missed"
	DotOpen   DotState = "open"
)

// dotStates lists the states in the order of the legend, and dotSigns has their signs.
var (
	dotStates = []DotState{DotMet, DotPart, DotMissed, DotOpen}
	dotSigns  = map[DotState]diagramBox{
		DotMet:    {label: "+", fill: tint(okabeIto[0], 0.35)},
		DotPart:   {label: "±", fill: tint(okabeIto[0], 0.75)},
		DotMissed: {label: "−", fill: tint(okabeIto[1], 0.3)},
		DotOpen:   {label: "?", fill: color.White},
	}
)

// dotsInRow is how many dots stand side by side, each in a box.
const dotsInRow = 17

// box returns the dot at a place of its row.
func (d CurveDot) box(place int) diagramBox {
	b := dotSigns[d.State]
	b.from, b.to, b.outline = float64(place), float64(place+1), solid(ink, 0.4)
	switch {
	case d.Default:
		b.outline = solid(ink, 1.8)
	case d.Aside:
		b.outline = dashed(ink, 0.6)
	}
	return b
}

func (f Curve) page() (page, error) {
	if len(f.Rows) == 0 {
		return page{}, refuse(f.Title, "", "it has no rows")
	}
	group := diagramGroup{heads: make([]string, dotsInRow), unit: 11}
	aside := false
	for _, r := range f.Rows {
		for i := 0; i == 0 || i < len(r.Dots); i += dotsInRow {
			row := diagramRow{high: 11, gap: 1}
			for place, d := range r.Dots[i:min(i+dotsInRow, len(r.Dots))] {
				row.boxes = append(row.boxes, d.box(place))
				aside = aside || d.Aside
			}
			group.rows = append(group.rows, row)
		}
		first := &group.rows[len(group.rows)-max(1, (len(r.Dots)+dotsInRow-1)/dotsInRow)]
		first.left, first.right = strings.TrimSpace(r.Name+"  "+r.Text), "  "+r.Answer
		group.rows[len(group.rows)-1].gap = 5
	}
	d := diagram{title: f.Title, groups: []diagramGroup{group}}
	explain := func(label string, dot CurveDot) {
		d.legend = append(d.legend, dot.box(0).sample(label))
	}
	for _, s := range dotStates {
		explain(string(s), CurveDot{State: s})
	}
	explain("default", CurveDot{State: DotMet, Default: true})
	if aside {
		explain("post hoc", CurveDot{State: DotMet, Aside: true})
	}
	return d.page()
}
