package reports

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
	// Answer stands at the right, beside the mark of State if that is not empty.
	Answer string
	State  DotState
	// Dots are drawn in their order.
	Dots []CurveDot
}

// A CurveDot is one test of a conclusion.
type CurveDot struct {
	// Default draws a ring around the mark. Aside draws it small: it decides nothing.
	Default, Aside bool
	State          DotState
}

// A DotState says how a test came out. Each has a shape, a colour and a filling of its own, so that the marks differ in
// black and white as well.
type DotState string

// The states of dots: a blue disc, a half-filled circle, an orange triangle and an empty square.
const (
	DotMet    DotState = "met"
	DotPart   DotState = "met in part"
	DotMissed DotState = "missed"
	DotOpen   DotState = "open"
)

var dotStates = []DotState{DotMet, DotPart, DotMissed, DotOpen}

// The columns of a curve in points.
const (
	curveName   vg.Length = 30
	curveText   vg.Length = 216
	curveData   vg.Length = 150
	curveAnswer vg.Length = 78
	curveGap    vg.Length = 8
	dotRadius   vg.Length = 2.8
	dotLane               = 2*dotRadius + 3.2
	dotsInLane            = 17
)

func (f Curve) page() (page, error) {
	if len(f.Rows) == 0 {
		return page{}, refuse(f.Title, "", "it has no rows")
	}
	var high vg.Length
	for i := range f.Rows {
		r := &f.Rows[i]
		for _, d := range r.Dots {
			if !slices.Contains(dotStates, d.State) {
				return page{}, refuse(f.Title, "row "+r.Name, "%q is no state of a dot", d.State)
			}
		}
		high += r.height()
	}
	const width = curveName + curveText + curveData + curveAnswer + 2*curveGap
	return framed(f.Title, width, high, f.legend(), func(c draw.Canvas) []vg.Rectangle {
		left := c.Min.X + curveName + curveText + curveGap
		data := rect(left, c.Max.Y-high, left+curveData, c.Max.Y)
		top := data.Max.Y
		for i := range f.Rows {
			f.Rows[i].draw(c, data, top)
			top -= f.Rows[i].height()
		}
		return []vg.Rectangle{data}
	}), nil
}

func (f Curve) legend() (l legend) {
	entry := func(label string, dot CurveDot) {
		l = append(l, legendEntry{label, func(c draw.Canvas) { dot.draw(c, middle(c.Rectangle)) }})
	}
	for _, s := range dotStates {
		entry(string(s), CurveDot{State: s})
	}
	entry("default", CurveDot{State: DotMet, Default: true})
	if slices.ContainsFunc(f.Rows, func(r CurveRow) bool {
		return slices.ContainsFunc(r.Dots, func(d CurveDot) bool { return d.Aside })
	}) {
		entry("post hoc", CurveDot{State: DotMet, Aside: true})
	}
	return l
}

func (r *CurveRow) lines() []string { return wrap(sans(textSize), r.Text, curveText-4) }

func (r *CurveRow) height() vg.Length {
	lanes := (len(r.Dots) + dotsInLane - 1) / dotsInLane
	return max(height(sans(textSize), len(r.lines())), vg.Length(lanes)*dotLane) + 7
}

// draw draws the row below top.
func (r *CurveRow) draw(c draw.Canvas, data vg.Rectangle, top vg.Length) {
	sty, y := sans(textSize), top-r.height()/2
	c.StrokeLine2(solid(gridGrey, 0.5), c.Min.X, top, c.Max.X, top)
	write(c, bold(textSize), draw.XLeft, vg.Point{X: c.Min.X, Y: y}, r.Name)
	write(c, sty, draw.XLeft, vg.Point{X: c.Min.X + curveName, Y: y}, r.lines()...)
	at := vg.Point{X: data.Max.X + curveGap, Y: y}
	if r.State != "" {
		CurveDot{State: r.State}.draw(c, vg.Point{X: at.X + dotRadius, Y: y})
	}
	write(c, sty, draw.XLeft, vg.Point{X: at.X + dotLane + 1, Y: y}, r.Answer)
	lanes := (len(r.Dots) + dotsInLane - 1) / dotsInLane
	for i, d := range r.Dots {
		lane, place := i/dotsInLane, i%dotsInLane
		d.draw(c, vg.Point{
			X: data.Min.X + dotLane*(vg.Length(place)+0.5),
			Y: y + dotLane*(vg.Length(lanes-1)/2-vg.Length(lane)),
		})
	}
}

func (d CurveDot) draw(c draw.Canvas, at vg.Point) {
	radius := dotRadius
	if d.Aside {
		radius *= 0.6
	}
	sign := func(shape draw.GlyphDrawer, colour color.Color, radius vg.Length) {
		c.DrawGlyph(draw.GlyphStyle{Color: colour, Radius: radius, Shape: shape}, at)
	}
	if d.Default {
		sign(draw.CircleGlyph{}, ink, radius+1.6)
		sign(draw.CircleGlyph{}, color.White, radius+0.9)
	}
	switch d.State {
	case DotMet:
		sign(draw.CircleGlyph{}, okabeIto[0], radius)
	case DotPart:
		sign(draw.CircleGlyph{}, okabeIto[0], radius)
		sign(draw.CircleGlyph{}, color.White, radius*0.72)
		c.SetColor(okabeIto[0])
		c.Fill(leftHalf(at, radius))
	case DotMissed:
		sign(polygon{corners: 3, turn: math.Pi}, okabeIto[1], radius)
	case DotOpen:
		square := polygon{corners: 4, turn: math.Pi / 4}
		sign(square, ink, radius)
		sign(square, color.White, radius*0.65)
	}
}

// leftHalf is the left half of a disc.
func leftHalf(at vg.Point, radius vg.Length) (p vg.Path) {
	p.Move(vg.Point{X: at.X, Y: at.Y + radius})
	p.Arc(at, radius, math.Pi/2, math.Pi)
	p.Close()
	return p
}
