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

func TestImpossibleDivisionsAreRefused(t *testing.T) {
	checkRefused(t, sampleDivisions, []refusal[Divisions]{
		{func(f *Divisions) { f.Rows = nil }, "it has no rows"},
		{func(f *Divisions) { f.Rows[1].Setup.GIs[0].CIs[1].Compute = 0.7 }, `row "MIG only, shared memory": GPU instance 1 of [{0.375}+{0.7},1m]: MIG has no compute instance with 0.7`},
		{func(f *Divisions) { f.Rows[2].Setup.GIs[1].Memory = 0.6 }, `row "MIG and MPS": GPU instance 2 of `},
		{func(f *Divisions) { f.Rows[0].Setup.GIs[0].CIs[0].Shares[0] = 0.5 }, "have 1.2 of their instance together"},
		{func(f *Divisions) { f.Rows[0].Setup.GIs[0].CIs[0].Shares[0] = 0.01 }, "1 % is too little to be labelled"},
		{func(f *Divisions) { f.Rows[0].Setup.GIs[0].CIs[0].Shares[0] = -0.5 }, "-0.5 is not a share"},
		{func(f *Divisions) { f.Rows[2].Setup.GIs[1].CIs = nil }, "nothing runs in the instance"},
	})
}

// longNames may be wider than a page.
var longNames = rapid.OneOf(names, rapid.StringMatching(`([A-Z][a-z]{0,9} ){8}[A-Z]{1,20}`))

func TestAnyDivisionsAreDrawnOrRefused(t *testing.T) {
	share := rapid.OneOf(rapid.Float64Range(0.05, 0.5), rapid.SampledFrom([]float64{0.125, 0.25, 0.5, 1}), numbers)
	rapid.Check(t, func(t *rapid.T) {
		f := Divisions{Title: names.Draw(t, "title")}
		for range rapid.IntRange(0, 3).Draw(t, "rows") {
			d := Division{Label: longNames.Draw(t, "label")}
			// Most random setups are refused.
			if rapid.Bool().Draw(t, "valid") {
				d.Setup = rapid.SampledFrom(sampleDivisions().Rows).Draw(t, "setup").Setup
				f.Rows = append(f.Rows, d)
				continue
			}
			for range rapid.IntRange(0, 3).Draw(t, "domains") {
				gi := corun.GI{Memory: share.Draw(t, "memory")}
				for range rapid.IntRange(0, 2).Draw(t, "instances") {
					gi.CIs = append(gi.CIs, corun.CI{MIG: rapid.Bool().Draw(t, "MIG"), Compute: share.Draw(t, "compute"), Shares: rapid.SliceOfN(share, 0, 3).Draw(t, "clients")})
				}
				d.Setup.GIs = append(d.Setup.GIs, gi)
			}
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
