package reports

import (
	"regexp"
	"testing"

	"miglab/harness/sim/corun"

	"pgregory.net/rapid"
)

// sampleDivisions has the options of the hierarchical paper's Fig. 2.
func sampleDivisions() Divisions {
	return Divisions{Title: "Options", Rows: []Division{
		{"MPS only", corun.MustParse("[(0.3)+(0.7),1m]")},
		{"MIG only, shared memory", corun.MustParse("[{0.375}+{0.5},1m]")},
		{"MIG and MPS", corun.MustParse("[(0.2)+(0.8),{0.375},0.5m]+[(0.4)+(0.5),{0.5},0.5m]")},
	}}
}

// longNames may be wider than a page.
var longNames = rapid.OneOf(names, rapid.StringMatching(`([A-Z][a-z]{0,9} ){8}[A-Z]{1,20}`))

func TestAnyDivisionsAreDrawnOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Divisions{Title: names.Draw(t, "title")}
		for range rapid.IntRange(0, 3).Draw(t, "rows") {
			d := rapid.SampledFrom(sampleDivisions().Rows).Draw(t, "row")
			d.Label = longNames.Draw(t, "label")
			f.Rows = append(f.Rows, d)
		}
		checkDrawn(t, f)
	})
}

// Every colour of the SVG is one: a box that has an outline alone is not filled.
func TestColoursOfDivisions(t *testing.T) {
	svg := string(encode(t, "svg", sampleDivisions()))
	for _, fill := range regexp.MustCompile(`fill:([^;"]*)`).FindAllStringSubmatch(svg, -1) {
		if !regexp.MustCompile(`^#[0-9A-Fa-f]{6}$|^none$`).MatchString(fill[1]) {
			t.Errorf("a shape is filled with %s", fill[1])
		}
	}
}
