package reports

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curve draws a specification curve: a row for each conclusion, with a dot for each way to test it.
type Curve struct {
	Title string
	Rows  []CurveRow
}

// A CurveRow is one conclusion.
type CurveRow struct {
	// Name and Text are short and long names of the conclusion. Of a long text the first lines are drawn.
	Name, Text string
	// Answer stands at the right.
	Answer string
	Dots   []CurveDot
}

// A CurveDot is one test of a conclusion.
type CurveDot struct {
	// Default draws a ring around the dot. Aside draws it small: it decides nothing.
	Default bool     `json:"default,omitempty"`
	Aside   bool     `json:"post_hoc,omitempty"`
	State   DotState `json:"state"`
	// Distance is from the threshold, in units of it, and positive on the claimed side.
	Distance float64 `json:"distance"`
}

// A DotState says how a test came out. Each has its own colour and shape.
type DotState string

// The states of dots.
const (
	DotMet    DotState = "met"
	DotMissed DotState = "missed"
	DotOpen   DotState = "open"
)

var dotStates = []DotState{DotMet, DotMissed, DotOpen}

// The columns of a curve in points.
const (
	curveName   vg.Length = 26
	curveText   vg.Length = 196
	curveData   vg.Length = 172
	curveAnswer vg.Length = 66
	curveGap    vg.Length = 10
	curveHead   vg.Length = 42
	// curveSwarm is the greatest height of a row's dots; more of them overlap.
	curveSwarm vg.Length = 60
	dotRadius  vg.Length = 2.6
	dotLane              = 2*dotRadius + 2.4
	curveLines           = 3
)

// curveTicks are the distances that the scale marks. Dots that are further away stand at its ends.
var curveTicks = []float64{-10, -1, -0.1, 0, 0.1, 1, 10}

// dotPlace is how far right of the threshold a dot stands. The scale is linear near it and logarithmic far from it.
func dotPlace(distance float64) vg.Length {
	const linear = 0.05
	last := curveTicks[len(curveTicks)-1]
	size := math.Log1p(min(math.Abs(distance), last)/linear) / math.Log1p(last/linear)
	return vg.Length(math.Copysign(size, distance)) * (curveData/2 - dotLane)
}

func (f Curve) page() (page, error) {
	if len(f.Rows) == 0 {
		return page{}, refuse(f.Title, "", "it has no rows")
	}
	high := curveHead
	for i := range f.Rows {
		r := &f.Rows[i]
		for _, d := range r.Dots {
			switch {
			case !slices.Contains(dotStates, d.State):
				return page{}, refuse(f.Title, "row "+r.Name, "%q is no state of a dot", d.State)
			case math.IsNaN(d.Distance) || math.IsInf(d.Distance, 0):
				return page{}, refuse(f.Title, "row "+r.Name, "a distance is %v", d.Distance)
			}
		}
		high += r.height()
	}
	const width = curveName + curveText + curveData + curveAnswer + 2*curveGap
	return framed(f.Title, width, high, f.legend(), func(c draw.Canvas) []vg.Rectangle {
		left := c.Min.X + curveName + curveText + curveGap
		data := rect(left, c.Max.Y-high, left+curveData, c.Max.Y-curveHead)
		f.drawScale(c, data)
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

// drawScale draws the ticks, the threshold and the names of its two sides.
func (f Curve) drawScale(c draw.Canvas, data vg.Rectangle) {
	sty, center := sans(textSize), middle(data)
	top := data.Max.Y + curveHead
	write(c, sty, draw.XCenter, vg.Point{X: center.X, Y: top - textSize*0.7},
		"distance from the threshold, share of it")
	y := top - textSize*2
	write(c, sty, draw.XLeft, vg.Point{X: data.Min.X, Y: y}, "not as claimed")
	write(c, sty, draw.XRight, vg.Point{X: data.Max.X, Y: y}, "as claimed")
	for _, t := range curveTicks {
		x := center.X + dotPlace(t)
		line := solid(gridGrey, 0.5)
		if t == 0 {
			line = solid(ink, 0.8)
		}
		c.StrokeLine2(line, x, data.Min.Y, x, data.Max.Y)
		label := strconv.FormatFloat(math.Abs(t), 'g', -1, 64)
		write(c, sty, draw.XCenter, vg.Point{X: x, Y: data.Max.Y + textSize*0.7}, label)
	}
}

// lines breaks the text into lines and says with an ellipsis that there is more.
func (r *CurveRow) lines() []string {
	sty := sans(textSize)
	all := wrap(sty, r.Text, curveText-4)
	if len(all) > curveLines {
		all = append(wrap(sty, all[curveLines-1], curveText-4-sty.Width(" …"))[:1], all...)
		all = append(slices.Clone(all[1:curveLines]), all[0]+" …")
	}
	return all
}

// swarm returns the dots by distance, and for each how far up it stands so that it touches no other.
func (r *CurveRow) swarm() (dots []CurveDot, up []vg.Length, high vg.Length) {
	dots = slices.SortedStableFunc(slices.Values(r.Dots), func(a, b CurveDot) int {
		return cmp.Compare(a.Distance, b.Distance)
	})
	var ends []vg.Length
	var lanes []int
	for _, d := range dots {
		x := dotPlace(d.Distance)
		at := slices.IndexFunc(ends, func(end vg.Length) bool { return x-end >= dotLane })
		if at < 0 {
			at, ends = len(ends), append(ends, 0)
		}
		ends[at], lanes = x, append(lanes, at)
	}
	high = min(vg.Length(len(ends))*dotLane, curveSwarm)
	for _, at := range lanes {
		up = append(up, high*((vg.Length(at)+0.5)/vg.Length(len(ends))-0.5))
	}
	return dots, up, high
}

func (r *CurveRow) height() vg.Length {
	_, _, high := r.swarm()
	return max(height(sans(textSize), len(r.lines())), high) + 7
}

// draw draws the row below top.
func (r *CurveRow) draw(c draw.Canvas, data vg.Rectangle, top vg.Length) {
	sty, y := sans(textSize), top-r.height()/2
	c.StrokeLine2(solid(gridGrey, 0.5), c.Min.X, top, c.Max.X, top)
	write(c, bold(textSize), draw.XLeft, vg.Point{X: c.Min.X, Y: y}, r.Name)
	write(c, sty, draw.XLeft, vg.Point{X: c.Min.X + curveName, Y: y}, r.lines()...)
	write(c, sty, draw.XLeft, vg.Point{X: data.Max.X + curveGap, Y: y}, r.Answer)
	dots, up, _ := r.swarm()
	for i, d := range dots {
		d.draw(c, vg.Point{X: middle(data).X + dotPlace(d.Distance), Y: y + up[i]})
	}
}

func (d CurveDot) draw(c draw.Canvas, at vg.Point) {
	sign := func(shape draw.GlyphDrawer, colour color.Color, radius vg.Length) {
		if d.Aside {
			radius *= 0.6
		}
		c.DrawGlyph(draw.GlyphStyle{Color: colour, Radius: radius, Shape: shape}, at)
	}
	if d.Default {
		sign(draw.CircleGlyph{}, ink, dotRadius+1.9)
		sign(draw.CircleGlyph{}, color.White, dotRadius+1.1)
	}
	switch d.State {
	case DotMet:
		sign(draw.CircleGlyph{}, okabeIto[0], dotRadius)
	case DotMissed:
		sign(polygon{corners: 3, turn: math.Pi}, okabeIto[1], dotRadius)
	case DotOpen:
		square := polygon{corners: 4, turn: math.Pi / 4}
		sign(square, ink, dotRadius)
		sign(square, color.White, dotRadius*0.65)
	}
}
