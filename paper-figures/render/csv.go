package render

import (
	"strings"

	"miglab/harness/nearest"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// claimsCSV returns claims.csv, which has a line for each claim and reading. The field of a missing number is empty.
func (r *run) claimsCSV() *reports.Table {
	t := &reports.Table{Columns: reports.Left("paper", "artefact", "claim", "kind", "reading", "relation", "published",
		"measured", "ci_low", "ci_high", "margin", "unit", "replicates", "verdict", "cause", "reason", "source",
		"published_to", "replicate", "evidence", "by_default_margin", "by_makespan_margin", "row", "column",
		"quantity", "one_sided", "counted")}
	papers := map[string]*manifest.Paper{}
	for _, p := range r.Papers {
		papers[p.Name] = p.Paper
	}
	for c := range r.Rows() {
		if c.Repeats {
			continue
		}
		number := func(v *float64) string { return manifest.Digits(v, -1) }
		t.Row(c.Paper, c.Artefact, c.Claim, c.Kind, c.Reading, c.Relation, manifest.Digits(&c.Published, c.Decimals),
			number(c.Measured), number(c.Low), number(c.High), number(c.Margin), c.Unit, c.Replicates,
			c.Verdict, c.Cause, reason(papers[c.Paper], c), c.Source, manifest.Digits(c.To, c.Decimals), c.Replicate,
			c.Evidence, c.ByDefaultMargin, c.ByMakespanMargin, c.Cell.Row, c.Column, c.Quantity, c.OneSided,
			c.Counted())
	}
	return t
}

// limitColumns are the columns of a limit in the files of results, and limitCells its cells there.
var limitColumns = []string{"artefact", "measure", "relation", "threshold", "neutral", "rounding"}

func limitCells(l *manifest.Limit) []string {
	return []string{l.Artefact, l.Measure, string(l.Relation), l.Threshold, l.Neutral, l.Rounding}
}

// conclusionsCSV returns conclusions.csv: one line a conclusion. The columns of its tests have an entry for each,
// separated by semicolons.
func (r *run) conclusionsCSV() *reports.Table {
	t := &reports.Table{Columns: reports.Left("paper", "id", "answer", "part", "met", "readings", "numbers", "plain",
		"sentence", "section", "varied").Left(limitColumns...).Left("ours_from", "at_half", "at_twice", "met_in_all")}
	for _, p := range r.Papers {
		for _, c := range p.Conclusions {
			limits := make([]string, len(limitColumns))
			for i := range limits {
				limits[i] = strings.Join(nearest.Names(c.Limits, func(l manifest.Limit) string {
					return limitCells(&l)[i]
				}), "; ")
			}
			varied := c.Varied
			if c.Answer == verdict.CannotRun {
				varied = "" // plain says what is missing
			}
			t.Row(c.Paper, c.ID, c.Answer, c.Part, c.Met, c.Conclusion.Readings, c.DecidingValues(),
				strings.TrimSpace(c.Plain()+" "+c.Because), c.Sentence, c.Section, varied, limits,
				strings.Join(nearest.Names(c.Limits, func(l manifest.Limit) string { return l.OursFrom }), "; "),
				c.AtHalf, c.AtTwice, c.Whole)
		}
	}
	return t
}

// valuesCSV returns conclusion-values.csv: one line a value that a conclusion tests under a reading.
func (r *run) valuesCSV() *reports.Table {
	t := &reports.Table{Columns: reports.Left("paper", "id", "artefact", "reading", "weight", "measure", "value",
		"ci_low", "ci_high").Left(limitColumns[2:]...).Left("state", "training_runs", "enough")}
	for _, p := range r.Papers {
		for _, c := range p.Conclusions {
			for i := range c.Limits {
				l := &c.Limits[i]
				for _, v := range limitTests(p.Paper, l) {
					runs := nearest.Names(v.Runs, func(v float64) string { return manifest.Digits(&v, -1) })
					t.Row(c.Paper, c.ID, l.Artefact, v.Reading, weight(v), v.Measure, manifest.Digits(&v.Value, -1),
						manifest.Digits(v.Low, -1), manifest.Digits(v.High, -1), limitCells(l)[2:], v.Verdict.State(),
						strings.Join(runs, "; "), v.Enough)
				}
			}
		}
	}
	return t
}

// weight says how much the reading of a value counts.
func weight(v *manifest.Test) string {
	switch {
	case v.PostHoc:
		return "not counted"
	case v.Shared:
		return "shared"
	case v.Default:
		return "default"
	}
	return "another"
}
