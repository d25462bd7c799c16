package figures

import (
	"cmp"
	"math"
	"slices"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
)

// DefaultReading is the name of a default reading without a name of its own.
const DefaultReading = "default"

// defaultReading returns the first reading, which is empty for an output without readings.
func (o *Output) defaultReading() Reading {
	if len(o.Readings) == 0 {
		return Reading{}
	}
	return o.Readings[0]
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

// compareDefault compares r, the row of the default reading, with the row of another reading that may as well be the
// default. Each verdict in which they differ hangs on the choice: it becomes [verdict.Hangs] in r. If their own
// verdicts differ, r also loses its cause and lists the readings, the first for each verdict.
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
	first := d.defaultReading()
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
	byDefault.Margin = verdict.UseDefault
	row.ByDefaultMargin = verdict.Judge(byDefault, m).Verdict
	row.ByMakespanMargin = verdict.Judge(c.ByMakespan(), m).Verdict
	switch j.Verdict {
	case verdict.Deviates:
		e := d.Claims.ExplainMeasured(c, m)
		row.Cause, row.Evidence, row.Why.Text, row.Why.Detail = e.Cause, e.Evidence, e.Reason, m.Detail
	case verdict.Inconclusive:
		row.Why.Open, row.Why.Detail = whyOpen(&j, m), m.Detail
	}
	if c.Margin != verdict.UseDefault {
		row.Why.Margin = c.MarginReason
	}
	return row
}

// whyOpen says why a verdict is inconclusive and how to settle it.
func whyOpen(j *verdict.Judgement, m Measurement) *manifest.Open {
	out := &manifest.Open{Enough: j.Enough, Outside: j.Outside, Tie: j.Low == j.High}
	switch {
	case j.Short:
		out.Steps, out.PaperSteps = m.Training.Steps/1e6, m.Training.Paper/1e6
	case math.IsInf(j.Low, 0):
		out.Fewest = m.Unit.Fewest()
	case j.Enough == 0:
		out.PrintSE = m.PrintSE
	}
	return out
}
