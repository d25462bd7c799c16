package figures

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
)

// DefaultReading is the name of a default reading that has no other.
const DefaultReading = "default"

// A KeyError says that the claims of an artefact and its declaration do not match.
type KeyError struct {
	Paper, Artefact, Key string
	// Reason says what is wrong with the key.
	Reason string
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("%s/%s: %q %s", e.Paper, e.Artefact, e.Key, e.Reason)
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
	_, measured := o.first().Values[c.Cell]
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

// first returns the default reading, which is empty for an output without readings.
func (o *Output) first() Reading {
	if len(o.Readings) == 0 {
		return Reading{}
	}
	return o.Readings[0]
}

// sorted returns the keys of a map in the order of cells.
func sorted[V any](m map[claim.Cell]V) []claim.Cell {
	return slices.SortedFunc(maps.Keys(m), claim.Cell.Compare)
}

// judge judges the claims of an artefact under each reading.
func (d *Data) judge(claims []claim.Claim) (rows []manifest.Row) {
	for i := range claims {
		c := &claims[i]
		first := d.defaultRow(c)
		at := len(rows)
		rows = append(rows, first)
		for _, r := range d.Readings[min(1, len(d.Readings)):] {
			if m, ok := r.Values[c.Cell]; ok {
				row := d.measuredRow(c, m)
				row.Reading, row.Default, row.Part = r.Name, false, !r.from.Weight.Counts()
				switch {
				case first.Verdict == verdict.NotRunnable:
					row.Verdict, row.ByDefaultMargin, row.ByMakespanMargin = first.Verdict, "", ""
					row.Cause, row.Evidence, row.Why = "", "", first.Why
				case first.Verdict == verdict.Input:
				default: // causes.csv explains the number of the default reading, and may not explain this one
					row.Cause, row.Evidence, row.Why = "", "", manifest.Why{Uncounted: true}
				}
				rows = append(rows, row)
				if r.from.Weight == claim.AnotherDefault {
					compareDefault(&rows[at], &row)
				}
			}
		}
	}
	if d.Scale.Quick {
		for i := range rows {
			r := &rows[i]
			r.Verdict, r.ByDefaultMargin, r.ByMakespanMargin = verdict.None, verdict.None, verdict.None
			r.Cause, r.Why = "", manifest.Why{}
		}
	}
	return rows
}

// compareDefault sets the verdict of a row that has another default reading, unless its verdict is the same. Of default
// readings with the same verdict, the row names the first.
func compareDefault(r, other *manifest.Row) {
	if r.Verdict == verdict.NotRunnable || r.Verdict == verdict.Input {
		return
	}
	if r.ByDefaultMargin != other.ByDefaultMargin {
		r.ByDefaultMargin = verdict.Hangs
	}
	if r.ByMakespanMargin != other.ByMakespanMargin {
		r.ByMakespanMargin = verdict.Hangs
	}
	seen := r.Why.Defaults
	if seen == nil {
		seen = []manifest.DefaultVerdict{{Reading: r.Reading, Verdict: r.Verdict}}
	}
	if slices.ContainsFunc(seen, func(s manifest.DefaultVerdict) bool { return s.Verdict == other.Verdict }) {
		return
	}
	seen = append(seen, manifest.DefaultVerdict{Reading: other.Reading, Verdict: other.Verdict})
	r.Why = manifest.Why{Defaults: seen}
	r.Verdict, r.Cause, r.Evidence = verdict.Hangs, "", ""
}

// defaultRow returns the claim's row under the default reading.
func (d *Data) defaultRow(c *claim.Claim) manifest.Row {
	first := d.first()
	m, measured := first.Values[c.Cell]
	row := manifest.RowOf(c)
	switch {
	case c.Basis == claim.Input:
		row.Verdict, row.Why.Text, row.Margin = verdict.Input, d.InputUse, nil
	case c.Basis == claim.Unpublished || c.Basis == claim.StandIn || !measured:
		row.Verdict, row.Why.Text = verdict.NotRunnable, d.Missing[c.Cell]
		if measured {
			row.SetMeasured(m)
		}
	default:
		row = d.measuredRow(c, m)
	}
	row.Default, row.Reading = true, cmp.Or(first.Name, DefaultReading)
	return row
}

// measuredRow judges one measurement.
func (d *Data) measuredRow(c *claim.Claim, m Measurement) manifest.Row {
	row := manifest.RowOf(c)
	j := verdict.Judge(c.Claim, m)
	row.SetMeasured(m)
	row.Low, row.High = manifest.Number(j.Low), manifest.Number(j.High)
	row.Allowed, row.OneSided = manifest.Number(j.Allowed), j.OneSided
	row.Verdict = j.Verdict
	byDefault := c.Claim
	byDefault.Margin = -1
	row.ByDefaultMargin = verdict.Judge(byDefault, m).Verdict
	row.ByMakespanMargin = verdict.Judge(c.ByMakespan(), m).Verdict
	switch j.Verdict {
	case verdict.Deviates:
		e := d.Claims.ExplainMeasured(c, m)
		row.Cause, row.Evidence, row.Why.Text, row.Why.Detail = e.Cause, e.Evidence, e.Reason, m.Detail
	case verdict.Inconclusive:
		row.Why.Open, row.Why.Detail = whyOpen(&j, m), m.Detail
	}
	if c.Margin >= 0 {
		row.Why.Margin = c.MarginReason
	}
	return row
}

// whyOpen says why a verdict is inconclusive and how to settle it.
func whyOpen(j *verdict.Judgement, m Measurement) *manifest.Open {
	out := &manifest.Open{Enough: j.Enough, Outside: j.Outside, Tie: j.Low == j.High}
	switch {
	case math.IsInf(j.Low, 0):
		out.Fewest = m.Unit.Fewest()
	case j.Enough == 0:
		out.PrintSE = m.PrintSE
	}
	return out
}
