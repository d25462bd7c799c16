package figures

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
)

// otherReading is the reason of rows that decide nothing.
const otherReading = "Not counted: the verdict of the claim is that of the default reading."

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

// A Declaration is what the Build of an artefact says about its claims, without numbers.
type Declaration struct {
	Paper, Artefact string
	// Readings are the cells of each reading; the first is the default one. Some may be of values that only conclusions
	// need.
	Readings [][]claim.Cell
	// Names are those of the readings.
	Names []string
	// Missing are the cells of claims that are said to need hardware or unpublished data.
	Missing []claim.Cell
	// Inputs are the values that the project uses for the paper's inputs.
	Inputs map[claim.Cell]float64
}

// Match returns a [*KeyError] unless every cell has a claim and every claim has a cell: measured and derived ones
// in the default reading, hardware ones there or among the missing, unpublished ones among the missing. A key may
// also be what a conclusion needs, if the default reading has it. Inputs must be declared with the printed
// value. It does not depend on what hardware was measured.
func Match(c *claim.Set, dec Declaration) error {
	claims := c.Of(dec.Artefact)
	wrong := func(key, reason string) error { return &KeyError{dec.Paper, dec.Artefact, key, reason} }
	bad := func(cell claim.Cell, reason string) error { return wrong(cell.String(), reason) }
	for i, r := range dec.Names {
		if slices.Contains(dec.Names[:i], r) {
			return wrong(r, "is the name of two readings")
		}
	}
	basis := map[claim.Cell]claim.Basis{}
	for i := range claims {
		basis[claims[i].Cell] = claims[i].Basis
	}
	for i, keys := range dec.Readings {
		for _, k := range keys {
			switch b, ok := basis[k]; {
			case !ok && !(c.Needs(dec.Artefact, k) && slices.Contains(dec.Readings[0], k)):
				return bad(k, "is measured and is no claim in claims.csv")
			case i == 0 && b == claim.Input:
				return bad(k, "is measured by the default reading and is an input in claims.csv")
			}
		}
	}
	for _, k := range dec.Missing {
		if b := basis[k]; b != claim.Hardware && b != claim.Unpublished {
			return bad(k, "is said to be missing and is no hardware or unpublished claim in claims.csv")
		}
	}
	for _, k := range sorted(dec.Inputs) {
		if basis[k] != claim.Input {
			return bad(k, "is used as an input and is no input in claims.csv")
		}
	}
	for i := range claims {
		k, b, decimals := claims[i].Cell, claims[i].Basis, claims[i].Decimals
		used, isInput := dec.Inputs[k]
		measured := len(dec.Readings) > 0 && slices.Contains(dec.Readings[0], k)
		missing := slices.Contains(dec.Missing, k)
		switch {
		case b == claim.Input && !isInput:
			return bad(k, "is an input in claims.csv, and its artefact declares no value that is used")
		case b == claim.Input && manifest.Digits(&used, decimals) != manifest.Digits(&claims[i].Published, decimals):
			return bad(k,
				fmt.Sprintf("is %v in claims.csv, and the value that is used is %v", claims[i].Published, used))
		case (b == claim.Measured || b == claim.Derived) && !measured:
			return bad(k, "is a claim in claims.csv and not measured by the default reading")
		case b == claim.Hardware && !measured && !missing:
			return bad(k, "needs hardware and is neither measured nor missing")
		case b == claim.Unpublished && !missing:
			return bad(k, "hangs on unpublished data, and nothing says which")
		}
	}
	return nil
}

// sorted returns the keys of a map in the order of cells.
func sorted[V any](m map[claim.Cell]V) []claim.Cell {
	return slices.SortedFunc(maps.Keys(m), claim.Cell.Compare)
}

// declaration lists the cells of an output.
func (o *Output) declaration(paper, artefact string) Declaration {
	dec := Declaration{Paper: paper, Artefact: artefact, Missing: sorted(o.Missing), Inputs: o.Inputs}
	for _, r := range o.Readings {
		dec.Readings = append(dec.Readings, sorted(r.Values))
		dec.Names = append(dec.Names, cmp.Or(r.Name, DefaultReading))
	}
	return dec
}

// judge judges the claims of an artefact under each reading.
func (d *Data) judge(claims []claim.Claim, o *Output) []Row {
	var rows []Row
	for i := range claims {
		c := &claims[i]
		first := d.defaultRow(c, o)
		at := len(rows)
		rows = append(rows, first)
		for _, r := range o.Readings[min(1, len(o.Readings)):] {
			if m, ok := r.Values[c.Cell]; ok {
				row := d.measuredRow(c, m)
				row.Reading, row.Default, row.Part = r.Name, false, !r.from.Weight.Counts()
				switch {
				case first.Verdict == verdict.NotRunnable:
					row.Verdict, row.ByDefaultMargin, row.ByMakespanMargin = first.Verdict, "", ""
					row.Cause, row.Evidence, row.Reason = "", "", first.Reason
				case first.Verdict == verdict.Input:
				default: // a cause is that of the default reading's number, and may not hold for this one
					row.Cause, row.Evidence, row.Reason = "", "", otherReading
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
			r.Cause, r.Reason = "", "quick run"
		}
	}
	return rows
}

// compareDefault sets the verdict of a row that has another default reading, unless both have the same.
func compareDefault(r, other *Row) {
	if r.Verdict == verdict.NotRunnable || r.Verdict == verdict.Input {
		return
	}
	r.ByDefaultMargin = both(r.ByDefaultMargin, other.ByDefaultMargin)
	r.ByMakespanMargin = both(r.ByMakespanMargin, other.ByMakespanMargin)
	if r.Verdict == other.Verdict {
		return
	}
	r.Reason = fmt.Sprintf("%s under %s, and %s under %s.", r.Verdict, r.Reading, other.Verdict, other.Reading)
	r.Verdict, r.Cause, r.Evidence = verdict.Hangs, "", ""
}

// both is the verdict of a number under two defaults.
func both(a, b verdict.Verdict) verdict.Verdict {
	if a == b {
		return a
	}
	return verdict.Hangs
}

// defaultRow is the claim's row under the default reading.
func (d *Data) defaultRow(c *claim.Claim, o *Output) Row {
	first := Reading{} // of an output without readings
	if len(o.Readings) > 0 {
		first = o.Readings[0]
	}
	m, measured := first.Values[c.Cell]
	row := manifest.RowOf(c)
	switch {
	case c.Basis == claim.Input:
		row.Verdict, row.Reason, row.Margin = verdict.Input, o.Taken, nil
	case c.Basis == claim.Unpublished || !measured:
		row.Verdict, row.Reason = verdict.NotRunnable, o.Missing[c.Cell]
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
func (d *Data) measuredRow(c *claim.Claim, m Measurement) Row {
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
		e := d.Claims.Cause(c, m)
		row.Cause, row.Evidence, row.Reason = e.Cause, e.Evidence, strings.TrimSpace(e.Reason+" "+m.Detail)
	case verdict.Inconclusive:
		row.Reason = undecided(&j, m)
		cost := d.TrainingRun
		more := m.Unit == verdict.TrainingRuns && m.Replicates < max(j.Enough, surely)
		if more && cost != "" && !strings.Contains(row.Reason, cost) {
			row.Reason += " " + cost
		}
	case verdict.Consistent:
		row.Reason = "It could not have come out otherwise."
	}
	if c.Margin >= 0 && c.MarginReason != "" {
		row.Reason = strings.TrimSpace(row.Reason + " Margin: " + c.MarginReason + ".")
	}
	return row
}

// surely is the number of training runs from which on their spread, and with it the error of the paper's single run, is
// known well enough to say that no further run settles a number.
const surely = 10

// undecided says why a verdict is inconclusive, and what would settle it.
func undecided(j *verdict.Judgement, m Measurement) string {
	var why string
	switch {
	case math.IsInf(j.Low, 0):
		does := map[bool]string{true: "does", false: "do"}[m.Replicates == 1]
		why = fmt.Sprintf("%s %s not decide; a verdict needs at least %d.", count(m.Replicates, m.Unit), does,
			m.Unit.Fewest())
	case j.Low == j.High:
		why = "Both are equal in every replicate, so that more of them would not settle it."
	case j.Enough == 0 && m.PrintSE > 0:
		why = fmt.Sprintf("The paper's own sampling error, about ±%.2g, is too large, so that no further run of ours "+
			"can settle it.", 1.96*m.PrintSE)
		if m.Unit == verdict.TrainingRuns && m.Replicates < surely {
			why = fmt.Sprintf("By present estimates, of %s, the paper's own sampling error, about ±%.2g, is so large "+
				"that more would not settle it; %d would tell.", count(m.Replicates, m.Unit), 1.96*m.PrintSE, surely)
		}
	case j.Enough == 0:
		why = "The interval reaches over the margin, and no number of replicates would settle it."
	default:
		why = "The interval reaches over the margin"
		if j.Outside {
			why = "The 95 % interval lies outside, and a deviation from a number with two sides needs the 97.5 % " +
				"interval there"
		}
		why = fmt.Sprintf("%s; about %s in place of %d would settle it.", why,
			count(roundUp(max(j.Enough, m.Replicates+1)), m.Unit), m.Replicates)
	}
	return strings.TrimSpace(why + " " + m.Detail)
}

// count is a number of replicates in words.
func count(n int, unit verdict.Unit) string {
	if n == 1 {
		return "1 " + strings.TrimSuffix(string(unit), "s")
	}
	return fmt.Sprintf("%d %s", n, unit)
}

// roundUp keeps two digits, because the number is an estimate.
func roundUp(n int) int {
	step := 1
	for n/step >= 100 {
		step *= 10
	}
	return (n + step - 1) / step * step
}
