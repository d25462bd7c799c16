package figures

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/render"
	"miglab/paper-figures/verdict"
)

// Deviating returns the files of a paper in which every claim that can deviate does, under each of its readings. No cell
// is computed, and the pages have only the tables that every artefact with claims has.
func Deviating(t testing.TB, p *Paper) map[string]string {
	t.Helper()
	record := manifest.Paper{Name: p.Name, Introduction: p.Introduction, Terms: p.Terms}
	for i := range p.Artefacts {
		a := &p.Artefacts[i]
		d, err := new(Reproduction).declare(p, a)
		if err != nil {
			t.Fatal(err)
		}
		d.off(a.Name)
		record.Artefacts = append(record.Artefacts, d.record(p.Name, a))
	}
	conclude(&record, p.Claims)
	return written(t, record)
}

// written returns the pages and CSV files of a paper by their paths.
func written(t testing.TB, p manifest.Paper) map[string]string {
	t.Helper()
	dir, files := t.TempDir(), map[string]string{}
	if err := render.Write(dir, &manifest.Manifest{Papers: []manifest.Paper{p}}); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*.csv", "*.md", "*/*.md"} {
		paths, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name, _ := filepath.Rel(dir, path)
			files[name] = string(raw)
		}
	}
	return files
}

// Plain is a page as one line of words, without links and escapes.
func Plain(page string) string {
	page = regexp.MustCompile(`\[([^\]]*[^\\\]])\]\([^)]*\)`).ReplaceAllString(page, "$1")
	page = strings.NewReplacer(`\`, "", "&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(page)
	return strings.Join(strings.Fields(page), " ")
}

// off gives claims values, with an interval, that are far from print: that of the authors' code if it is far, too.
// What needs a GPU is measured.
func (d *Data) off(artefact string) {
	claims := d.Claims.Of(artefact)
	for i := range claims {
		c := &claims[i]
		far := 10 * (1 + math.Abs(c.Published))
		if c.Relation == verdict.AtLeast {
			far = -far
		}
		for j, r := range d.Readings {
			m, ok := r.Values[c.Cell]
			if ok || j == 0 && c.Basis == claim.Hardware {
				v := c.Published + far
				r.Values[c.Cell] = Measurement{Value: v, Low: v - 0.1, High: v + 0.2, Detail: m.Detail}
				if s := d.Claims.Script(c); s != nil && s.SD > 0 && d.Claims.IsUnpublished(c, s.Measurement(Measurement{})) {
					r.Values[c.Cell] = s.Measurement(Measurement{})
				}
			}
		}
	}
}

// checkPaper builds the artefacts and checks the claims.
func checkPaper(p *Paper) error {
	outputs, err := p.Outputs()
	if err != nil {
		return err
	}
	return Check(p.Claims, p.Name, outputs)
}

// Outputs builds the artefacts without results.
func (p *Paper) Outputs() (map[string]*Output, error) {
	outputs := map[string]*Output{}
	for i := range p.Artefacts {
		d, err := new(Reproduction).declare(p, &p.Artefacts[i])
		if err != nil {
			return nil, err
		}
		outputs[p.Artefacts[i].Name] = &d.Output
	}
	return outputs, nil
}

// match returns a [*KeyError] unless cells and claims match. Every measured cell has a claim, or a conclusion needs it
// and the default reading has it. Measured and derived claims and stand-ins have a value in the default reading.
// Stand-ins and unpublished claims are among the missing. A hardware claim is measured or missing. Inputs are declared
// with the printed value. The result does not depend on the measured hardware.
func (o *Output) match(c *claim.Set, artefact string) error {
	wrong := func(key, reason string) error { return &KeyError{c.Paper, artefact, key, reason} }
	claims := c.Of(artefact)
	basis := map[claim.Cell]claim.Basis{}
	for i := range claims {
		basis[claims[i].Cell] = claims[i].Basis
	}
	names := map[string]bool{}
	for _, r := range o.Readings {
		name := cmp.Or(r.Name, DefaultReading)
		if names[name] {
			return wrong(name, "is the name of two readings")
		}
		names[name] = true
		unknown := func(k claim.Cell) bool {
			if basis[k] != "" {
				return false
			}
			_, byDefault := o.Readings[0].Values[k]
			return !byDefault || !c.Needs(artefact, k)
		}
		if k, found := firstCell(r.Values, unknown); found {
			return wrong(k.String(), "is measured and is no claim in claims.csv")
		}
	}
	cannotMiss := func(k claim.Cell) bool {
		return !slices.Contains([]claim.Basis{claim.Hardware, claim.Unpublished, claim.StandIn}, basis[k])
	}
	if k, found := firstCell(o.Missing, cannotMiss); found {
		return wrong(k.String(), "is said to be missing, and claims.csv has another basis")
	}
	if k, found := firstCell(o.Inputs, func(k claim.Cell) bool { return basis[k] != claim.Input }); found {
		return wrong(k.String(), "is used as an input and is no input in claims.csv")
	}
	for i := range claims {
		if reason := o.mismatch(&claims[i]); reason != "" {
			return wrong(claims[i].String(), reason)
		}
	}
	return nil
}

// firstCell returns the first of the cells, in their order, that a condition holds for.
func firstCell[V any](cells map[claim.Cell]V, holds func(claim.Cell) bool) (first claim.Cell, found bool) {
	for k := range cells {
		if holds(k) && (!found || k.Compare(first) < 0) {
			first, found = k, true
		}
	}
	return first, found
}

// mismatch says what is wrong with a claim of the artefact, or returns "" if it has the values that its basis asks for.
func (o *Output) mismatch(c *claim.Claim) string {
	used, isInput := o.Inputs[c.Cell]
	_, measured := o.defaultReading().Values[c.Cell]
	_, missing := o.Missing[c.Cell]
	switch c.Basis {
	case claim.Input:
		switch {
		case measured:
			return "is measured by the default reading and is an input in claims.csv"
		case !isInput:
			return "is an input in claims.csv, and its artefact declares no value that is used"
		case manifest.Digits(&used, c.Decimals) != manifest.Digits(&c.Published, c.Decimals):
			return fmt.Sprintf("is %v in claims.csv, and the value that is used is %v", c.Published, used)
		}
	case claim.Measured, claim.Derived:
		if !measured {
			return "is a claim in claims.csv and not measured by the default reading"
		}
	case claim.Hardware:
		if !measured && !missing {
			return "needs hardware and is neither measured nor missing"
		}
	case claim.StandIn, claim.Unpublished:
		switch {
		case !missing:
			return "hangs on unpublished data, and nothing says which"
		case c.Basis == claim.StandIn && !measured:
			return "has a stand-in by claims.csv and is not measured by the default reading"
		case c.Basis == claim.Unpublished && measured:
			return "is measured and unpublished in claims.csv; the basis of a number with a stand-in is stand-in"
		}
	}
	return ""
}

// Matches reports whether the output of an artefact matches the claims. If not, [Check] returns an error.
func Matches(c *claim.Set, artefact string, o *Output) bool { return o.match(c, artefact) == nil }

// Check returns an error unless every claim belongs to an artefact that measures it, every measured key is a
// claim or what a conclusion needs, every conclusion has what it needs, and every cause names an artefact of the
// paper as its evidence. Outputs are by artefact.
func Check(c *claim.Set, paper string, outputs map[string]*Output) error {
	known := map[string]bool{}
	for _, artefact := range slices.Sorted(maps.Keys(outputs)) {
		known[artefact] = true
		if err := outputs[artefact].match(c, artefact); err != nil {
			return err
		}
	}
	for i := range c.All {
		if a := c.All[i].Artefact; !known[a] {
			return &KeyError{paper, a, c.All[i].String(), "belongs to an artefact that does not exist"}
		}
	}
	for _, e := range c.Explanations {
		if _, artefact, _ := strings.Cut(e.Evidence, "/"); e.Evidence != paper+"/"+artefact || !known[artefact] {
			reason := fmt.Sprintf("has the evidence %q in causes.csv, which is no artefact of the paper", e.Evidence)
			return &KeyError{paper, e.Artefact, e.String(), reason}
		}
	}
	for _, r := range c.Tests {
		o := cmp.Or(outputs[r.Artefact], &Output{})
		measured := slices.ContainsFunc(o.Readings, func(own Reading) bool {
			_, found := firstCell(own.Values, r.Has)
			return found
		})
		if r.Status != claim.Impossible && !measured {
			return &KeyError{paper, r.Artefact, r.String(), "is not measured, and the conclusion " + r.ID + " needs it"}
		}
	}
	return nil
}
