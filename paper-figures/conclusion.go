package figures

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
)

// tests judges the values of an artefact against conclusions.csv.
func (d *Data) tests(artefact string) (out []manifest.Test) {
	if d.Scale.Quick {
		return nil
	}
	for line, row := range d.Claims.Tests {
		for i, r := range d.Readings {
			if row.Artefact != artefact || row.Status == claim.Impossible || r.from.Weight == claim.OfPart {
				continue
			}
			for _, cell := range slices.SortedFunc(maps.Keys(r.Values), claim.Cell.Compare) {
				if row.Has(cell) {
					t := newTest(&row, cell, r, d.Readings[:i])
					t.Row = line
					out = append(out, t)
				}
			}
		}
	}
	return out
}

// newTest judges the value of a cell under a reading against a row of conclusions.csv.
func newTest(row *claim.Test, cell claim.Cell, r Reading, earlier []Reading) manifest.Test {
	m := r.Values[cell]
	m.Training = verdict.Training{} // the answer, not the value, allows for short training; see [verdict.Sentence]
	if row.Rounding == "" {
		m.PrintSE = 0 // only a threshold that the paper measured has the error of the paper's sample
	}
	j := judgeTest(row, m, 1)
	t := manifest.Test{
		Measure: cell.String(), Reading: cmp.Or(r.Name, DefaultReading),
		Default: len(earlier) == 0 || r.from.Weight == claim.AnotherDefault,
		PostHoc: !r.from.Weight.Counts() || row.Status == claim.Later || row.Status == claim.Beside,
		Shared:  slices.ContainsFunc(earlier, func(e Reading) bool { return r.shares(e, cell) }),
		Verdict: j.Verdict, Value: m.Value, Distance: row.Distance(m.Value),
		Low: manifest.Number(j.Low), High: manifest.Number(j.High),
		Enough: j.Enough, Unit: m.Unit, Runs: Map(m.Runs, func(v float64) float64 { return *manifest.Number(v) }),
	}
	if row.IsOurs() {
		t.AtHalf, t.AtTwice = judgeTest(row, m, 0.5).Verdict, judgeTest(row, m, 2).Verdict
	}
	t.Sign = !math.IsNaN(row.NoDifference) && row.Judge(m, row.NoDifference).Verdict == verdict.Reproduced
	return t
}

// shares reports whether an earlier reading that counts, or counts as little, has the very same measurement.
func (r Reading) shares(e Reading, cell claim.Cell) bool {
	other, ok := e.Values[cell]
	numbers := func(m Measurement) []float64 { return append([]float64{m.Value, m.Low, m.High}, m.Runs...) }
	return ok && (e.from.Weight.Counts() || !r.from.Weight.Counts()) &&
		slices.Compare(numbers(r.Values[cell]), numbers(other)) == 0
}

// judgeTest judges a value against a row whose threshold, if it is ours, is so many times as far.
func judgeTest(row *claim.Test, m Measurement, factor float64) verdict.Judgement {
	j := row.Judge(m, row.Scaled(factor))
	if j.Verdict == verdict.Inconclusive && j.Low == j.High {
		j.Verdict = verdict.Deviates // a tie in all replicates: more of them would not make it larger
	}
	return j
}

// conclude answers the paper's conclusions. One that rests on an artefact that is not done is left out.
func conclude(p *manifest.Paper, claims *claim.Set) {
	done := map[string][]manifest.Test{"": nil} // a conclusion that cannot be measured has no artefact
	for i := range p.Artefacts {
		done[p.Artefacts[i].Name] = p.Artefacts[i].Tests
	}
	for from := 0; from < len(claims.Tests); {
		to := from + 1 // the rows of a conclusion follow one another
		for to < len(claims.Tests) && claims.Tests[to].ID == claims.Tests[from].ID {
			to++
		}
		if c, ok := newConclusion(claims, from, to, done); ok {
			c.Paper = p.Name
			p.Conclusions = append(p.Conclusions, c)
		}
		from = to
	}
}

// newConclusion answers the conclusion of the rows from to to-1 of conclusions.csv. done has the tests of the artefacts
// that are done; ok is false if another one is needed.
func newConclusion(
	claims *claim.Set, from, to int, done map[string][]manifest.Test,
) (c manifest.Conclusion, ok bool) {
	first := &claims.Tests[from]
	c = manifest.Conclusion{
		ID: first.ID, Sentence: first.Sentence, Section: first.Section, Short: first.Short,
		Varied: strings.TrimSuffix(first.Varied, "."), SizeWord: first.SizeWord,
		ShortOfBudget: first.Status == claim.OfBudget,
	}
	var tests []*manifest.Test
	for line := from; line < to; line++ {
		row := &claims.Tests[line]
		own, ok := done[row.Artefact]
		if !ok {
			return c, false
		}
		if row.Status != claim.Impossible {
			c.Limits = append(c.Limits, manifest.Limit{
				Row: line, Artefact: row.Artefact, Measure: row.Selection.String(), Relation: row.Relation,
				Threshold: row.Threshold, Neutral: row.Neutral, Rounding: row.Rounding, Number: row.Limit,
				IsNeutral: row.Limit == row.NoDifference, OursFrom: row.OursFrom,
			})
		}
		for i := range own {
			if own[i].Row == line {
				tests = append(tests, &own[i])
			}
		}
	}
	answer(&c, claims, tests, first.Status == claim.OfModel)
	c.Because = claims.Because(c.ID, c.Answer)
	return c, true
}

// answer answers a conclusion by its tests, and also with thresholds that are ours half and twice as far. The latter
// two answers of a conclusion in the model say what it is there.
func answer(c *manifest.Conclusion, claims *claim.Set, tests []*manifest.Test, inModel bool) {
	judge := func(
		inModel bool, judged func(*manifest.Test) verdict.Verdict,
	) ([]manifest.ReadingOutcome, verdict.Conclusion) {
		byReading, all := outcomes(claims, tests, judged)
		return byReading, verdict.Sentence(all, inModel, c.ShortOfBudget)
	}
	c.Outcomes, c.Conclusion = judge(inModel, func(t *manifest.Test) verdict.Verdict { return t.Verdict })
	if c.SizeWord != "" && c.Answer == verdict.Holds {
		c.Part = verdict.SignTested
	}
	ours := slices.ContainsFunc(c.Limits, func(l manifest.Limit) bool { return l.OursFrom != "" })
	if ours && tests != nil {
		_, half := judge(false, func(t *manifest.Test) verdict.Verdict { return cmp.Or(t.AtHalf, t.Verdict) })
		_, twice := judge(false, func(t *manifest.Test) verdict.Verdict { return cmp.Or(t.AtTwice, t.Verdict) })
		c.AtHalf, c.AtTwice = half.Answer, twice.Answer
	}
}

// A readingValues is the outcome of a reading with the states of its values.
type readingValues struct {
	manifest.ReadingOutcome
	// states has the states of the reading's own values; a value that several rows test has the worst.
	states map[string]verdict.State
}

// outcomes returns the outcome for each reading of an artefact, by the verdicts of tests, with and without the reading.
// It leaves out readings that change no value.
func outcomes(
	claims *claim.Set, tests []*manifest.Test, judged func(*manifest.Test) verdict.Verdict,
) (byReading []manifest.ReadingOutcome, out []verdict.Outcome) {
	var all []*readingValues
	for _, t := range tests {
		artefact := claims.Tests[t.Row].Artefact
		at := slices.IndexFunc(all, func(d *readingValues) bool {
			return d.Artefact == artefact && d.Reading == t.Reading && d.Aside == t.PostHoc
		})
		if at < 0 {
			at = len(all)
			o := verdict.Outcome{Default: t.Default && !t.PostHoc, Aside: t.PostHoc, Sign: true}
			all = append(all, &readingValues{manifest.ReadingOutcome{
				Artefact: artefact, Reading: t.Reading, Distance: math.Inf(1), Outcome: o,
			}, map[string]verdict.State{}})
		}
		d, state := all[at], judged(t).State()
		if t.Shared {
			d.Shared = d.Shared.Worse(state)
			continue
		}
		d.states[t.Measure] = d.states[t.Measure].Worse(state)
		d.State = d.State.Worse(state)
		d.Sign = d.Sign && t.Sign
		d.Distance = min(d.Distance, t.Distance)
	}
	for _, d := range all {
		d.Values = len(d.states)
		if d.Values == 0 {
			continue
		}
		for _, s := range d.states {
			switch s {
			case verdict.Met:
				d.Right++
			case verdict.Open:
				d.Open++
			}
		}
		byReading = append(byReading, d.ReadingOutcome)
		out = append(out, d.Outcome)
	}
	return byReading, out
}
