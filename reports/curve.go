package reports

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Curve draws conclusions that were each tested in several ways, for example under several readings of a paper. It has
// a row for each conclusion and a dot for each test, which says how the test came out.
type Curve struct {
	Title string
	Rows  []CurveRow
}

// A CurveRow is one conclusion.
type CurveRow struct {
	// Name is a short name and Text the conclusion in words. Both stand on the left, Answer on the right.
	Name, Text, Answer string
	// Dots are drawn in this order.
	Dots []CurveDot
}

// A CurveDot is one test of a conclusion.
type CurveDot struct {
	// Default marks a test under a default reading, with a bold outline. Aside marks a test that does not count because
	// it was added after the results were known ("post hoc"), with a dashed outline.
	Default, Aside bool
	State          DotState
}

// A DotState says how a test came out. The legend shows the text.
type DotState string

// The states differ in their signs as well as in their colours, for print in black and white.
const (
	DotMet    DotState = "met"
	DotPart   DotState = "met in part"
	DotMissed DotState = "missed"
	DotOpen   DotState = "open"
)

// dotStates lists the states in the order of the legend, and dotSigns has their signs and colours.
var (
	dotStates = []DotState{DotMet, DotPart, DotMissed, DotOpen}
	dotSigns  = map[DotState]diagramBox{
		DotMet:    {label: "+", fill: tint(okabeIto[0], 0.35)},
		DotPart:   {label: "±", fill: tint(okabeIto[0], 0.75)},
		DotMissed: {label: "−", fill: tint(okabeIto[1], 0.3)},
		DotOpen:   {label: "?", fill: color.White},
	}
)

const (
	dotsInRow           = 17 // further dots of a conclusion continue on the next line
	dotSize   vg.Length = 11
	lineGap   vg.Length = 1 // below a line of dots
	curveGap  vg.Length = 5 // below the last line of a conclusion
)

// box returns the dot as a box in a column of the diagram.
func (d CurveDot) box(column int) diagramBox {
	b := dotSigns[d.State]
	b.from, b.to, b.outline = float64(column), float64(column+1), solid(ink, 0.4)
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
	group := diagramGroup{heads: make([]string, dotsInRow), unit: dotSize}
	aside := false
	for _, r := range f.Rows {
		line := diagramRow{high: dotSize, gap: lineGap}
		line.left, line.right = strings.TrimSpace(r.Name+"  "+r.Text), "  "+r.Answer
		for i, d := range r.Dots {
			if i > 0 && i%dotsInRow == 0 {
				group.rows = append(group.rows, line)
				line = diagramRow{high: dotSize, gap: lineGap}
			}
			line.boxes = append(line.boxes, d.box(i%dotsInRow))
			aside = aside || d.Aside
		}
		line.gap = curveGap
		group.rows = append(group.rows, line)
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
