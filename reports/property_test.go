package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// numbers are what careless callers pass.
var numbers = rapid.OneOf(
	rapid.Float64Range(-10, 10), rapid.Float64Range(0.001, 1000), rapid.Float64(),
	rapid.SampledFrom([]float64{0, 1, 1 + 1e-16, 1 + 3e-16, -1, 1e100, -1e100, 1e-320, math.NaN(), math.Inf(1)}),
)

// polite are numbers that every axis can show.
var polite = rapid.OneOf(rapid.Float64Range(0.001, 1000), rapid.Float64Range(1, 1.001))

var names = rapid.StringMatching(`[A-Z][a-z]{0,9}([ -][A-Za-z0-9]{1,8}){0,2}`)

// checkDrawn fails unless the figure is refused or drawn with
// its legends clear of the data, nothing off the page and no texts overlapping.
func checkDrawn(t *rapid.T, f Figure) {
	t.Helper()
	p, err := f.page()
	if err != nil {
		if !strings.HasPrefix(err.Error(), "figure") {
			t.Fatalf("the error is %v", err)
		}
		return
	}
	r := &recorder{stack: []affine{{a: 1, d: 1}}}
	for _, fault := range faults(r, p, p.draw(blank(r, p))) {
		t.Error(fault)
	}
}

func drawAxis(t *rapid.T, label string) Axis {
	return Axis{Label: label, Log: rapid.Bool().Draw(t, "log")}
}

func drawLines(t *rapid.T) Lines {
	f := Lines{Title: names.Draw(t, "title"), X: drawAxis(t, "x [s]"), Y: drawAxis(t, "y [s]")}
	numbers := rapid.SampledFrom([]*rapid.Generator[float64]{polite, polite, numbers}).Draw(t, "numbers")
	for range rapid.IntRange(0, 8).Draw(t, "series") {
		s := Series{Name: names.Draw(t, "name"), Published: rapid.Bool().Draw(t, "published")}
		s.X = rapid.SliceOfN(numbers, 1, 5).Draw(t, "x")
		slices.Sort(s.X)
		s.Y = rapid.SliceOfN(numbers, len(s.X), len(s.X)).Draw(t, "y")
		f.Series = append(f.Series, s)
	}
	return f
}

func TestAnyLinesAreDrawnOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkDrawn(t, drawLines(t)) })
}

func TestAnyPanelsAreDrawnOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Panels{Title: names.Draw(t, "title"), Columns: rapid.IntRange(-1, 3).Draw(t, "columns")}
		for range rapid.IntRange(0, 4).Draw(t, "charts") {
			f.Charts = append(f.Charts, drawLines(t))
		}
		checkDrawn(t, f)
	})
}

// The labels of the fourth chart are so long that the third one does not fit beside the first two.
func TestPanelsWiderThanThePageAreRefused(t *testing.T) {
	f := Panels{Columns: 3}
	for _, points := range [][2][]float64{
		{{0.25, 256}, {0.25, 2}}, {{0.41533040173226254}, {1}}, {{0.25, 3.79296875}, {0.5, 512}}, {{1.0000000000000002}, {1}},
	} {
		f.Charts = append(f.Charts, Lines{
			X: Axis{Label: "x [s]", Log: true}, Y: Axis{Label: "y [s]"},
			Series: []Series{{Name: "A", X: points[0], Y: points[1]}},
		})
	}
	if _, err := f.page(); err == nil || !strings.Contains(err.Error(), "wider than the page") {
		t.Errorf("%v", err)
	}
}

func TestAnyBarsAreDrawnOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 45).Draw(t, "categories")
		f := Bars{
			X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Categories: rapid.SliceOfN(names, n, n).Draw(t, "names"),
			Dots: rapid.Bool().Draw(t, "dots"),
		}
		for range rapid.IntRange(0, 5).Draw(t, "groups") {
			f.Groups = append(f.Groups, BarGroup{
				Name:   names.Draw(t, "name"),
				Values: rapid.SliceOfN(rapid.Float64Range(-2, 9), n, n).Draw(t, "values"),
			})
		}
		checkDrawn(t, f)
	})
}

func TestAnyGanttIsDrawnOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Gantt{Title: names.Draw(t, "title")}
		task := 0
		for i := range rapid.IntRange(1, 4).Draw(t, "panels") {
			p := GanttPanel{
				Title: fmt.Sprint("Panel ", i), GPU: mig.MustLookup(rapid.SampledFrom([]string{"A30", "A100"}).Draw(t, "gpu")),
				Count: rapid.IntRange(0, 2).Draw(t, "count"),
			}
			for gpu := range p.gpus() {
				for s := range p.GPU.ComputeSlices {
					var now mig.Seconds
					for range rapid.IntRange(0, 4).Draw(t, "bars") {
						end := now + mig.Seconds(rapid.Float64Range(0, 10).Draw(t, "seconds"))
						kind := rapid.SampledFrom([]schedule.BarKind{schedule.RunBar, schedule.RunBar, schedule.CreateBar, schedule.DestroyBar}).Draw(t, "kind")
						task++
						p.Bars = append(p.Bars, schedule.Bar{
							Kind: kind, GPU: gpu, Slice: s, Width: 1, Start: now, End: end,
							Label: fmt.Sprint("Task ", task),
						})
						now = end
					}
				}
			}
			for range rapid.IntRange(0, 3).Draw(t, "marks") {
				p.Marks = append(p.Marks, TimeMark{mig.Seconds(rapid.Float64Range(0, 20).Draw(t, "at")), "mark"})
			}
			f.Panels = append(f.Panels, p)
		}
		checkDrawn(t, f)
	})
}
