package figures

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
)

// tests judges the values of an artefact against conclusions.csv.
func (d *Data) tests(artefact string, o *Output) (out []Test) {
	if d.Scale.Quick {
		return nil
	}
	for line, row := range d.Claims.Tests {
		for i, r := range o.Readings {
			if row.Artefact != artefact || row.Status == claim.Impossible || r.from.Weight == claim.OfPart {
				continue
			}
			for _, cell := range sorted(r.Values) {
				if !row.Has(cell) {
					continue
				}
				m := r.Values[cell]
				if row.Rounding == "" {
					m.PrintSE = 0 // only a threshold that the paper measured has the error of the paper's sample
				}
				j := judgeTest(&row, m, 1)
				t := Test{
					Row: line, Measure: cell.String(), Reading: cmp.Or(r.Name, DefaultReading),
					Default: i == 0 || r.from.Weight == claim.AnotherDefault,
					PostHoc: !r.from.Weight.Counts() || row.Status == claim.Later || row.Status == claim.Beside,
					Shared:  slices.ContainsFunc(o.Readings[:i], func(e Reading) bool { return r.shares(e, cell) }),
					Verdict: j.Verdict, Value: m.Value, Distance: row.Distance(m.Value),
					Low: manifest.Number(j.Low), High: manifest.Number(j.High),
					Enough: j.Enough, Unit: m.Unit, Runs: Map(m.Runs, func(v float64) float64 { return *manifest.Number(v) }),
				}
				if row.IsOurs() {
					t.AtHalf, t.AtTwice = judgeTest(&row, m, 0.5).Verdict, judgeTest(&row, m, 2).Verdict
				}
				t.Sign = !math.IsNaN(row.Neutral) && row.Judge(m, row.Neutral).Verdict == verdict.Reproduced
				out = append(out, t)
			}
		}
	}
	return out
}

// shares reports whether an earlier reading that counts, or counts as little, has the very same measurement.
func (r Reading) shares(e Reading, cell claim.Cell) bool {
	other, ok := e.Values[cell]
	of := func(m Measurement) []float64 { return append([]float64{m.Value, m.Low, m.High}, m.Runs...) }
	return ok && (e.from.Weight.Counts() || !r.from.Weight.Counts()) &&
		slices.Compare(of(r.Values[cell]), of(other)) == 0
}

// judgeTest judges a value against a row whose threshold, if it is ours, is so many times as far.
func judgeTest(row *claim.Test, m Measurement, factor float64) verdict.Judgement {
	j := row.Judge(m, row.Scaled(factor))
	if j.Verdict == verdict.Inconclusive && j.Low == j.High {
		j.Verdict = verdict.Deviates // a tie in all replicates: more of them would not make it larger
	}
	return j
}

// A conclusionTest is a test of a value that an artefact measures.
type conclusionTest struct {
	Test
	artefact string
}

// conclude answers the paper's conclusions. One that rests on an artefact that is not done is left out.
func conclude(p *PaperRecord, claims *claim.Set) {
	done := map[string][]Test{"": nil}
	for i := range p.Artefacts {
		done[p.Artefacts[i].Name] = p.Artefacts[i].Tests
	}
	from, to := 0, 0 // the rows of a conclusion follow one another
	for ; from < len(claims.Tests); from = to {
		first := &claims.Tests[from]
		c := Conclusion{
			Paper: p.Name, ID: first.ID, Sentence: first.Sentence, Section: first.Section, Short: first.Short,
			Varied: strings.TrimSuffix(first.Varied, "."), SizeWord: first.SizeWord,
			OfBudget: first.Status == claim.OfBudget,
		}
		var tests []conclusionTest
		complete := true
		for ; to < len(claims.Tests) && claims.Tests[to].ID == first.ID; to++ {
			row := &claims.Tests[to]
			if row.Status != claim.Impossible {
				c.Limits = append(c.Limits, limitOf(row, to))
			}
			own, ok := done[row.Artefact]
			complete = complete && ok
			for _, t := range own {
				if t.Row == to {
					tests = append(tests, conclusionTest{t, row.Artefact})
				}
			}
		}
		if complete {
			answer(&c, tests, first.Status)
			c.Because = claims.Because(c.ID, c.Answer)
			p.Conclusions = append(p.Conclusions, c)
		}
	}
}

// limitOf returns what a row of conclusions.csv allows.
func limitOf(row *claim.Test, line int) manifest.Limit {
	return manifest.Limit{
		Row: line, Artefact: row.Artefact, Measure: row.Selection.String(), Relation: row.Relation,
		Threshold: row.Threshold, Neutral: row.TestLine.Neutral, Rounding: row.Rounding, Number: row.Limit,
		IsNeutral: row.Limit == row.Neutral, OursFrom: row.OursFrom,
	}
}

// answer answers a conclusion by its tests, and also with thresholds that are ours half and twice as far. The latter
// two answers of a conclusion in the model say what it is there.
func answer(c *Conclusion, tests []conclusionTest, status claim.Status) {
	judge := func(ofModel bool, judged func(*Test) verdict.Verdict) ([]Dot, verdict.Conclusion) {
		dots, outcomes := outcomesOf(tests, judged)
		return dots, verdict.Sentence(outcomes, ofModel, status == claim.OfBudget)
	}
	c.Dots, c.Conclusion = judge(status == claim.OfModel, func(t *Test) verdict.Verdict { return t.Verdict })
	if c.SizeWord != "" && c.Answer == verdict.Holds {
		c.Part = verdict.SignTested
	}
	ours := slices.ContainsFunc(c.Limits, func(l manifest.Limit) bool { return l.OursFrom != "" })
	if ours && tests != nil {
		_, half := judge(false, func(t *Test) verdict.Verdict { return cmp.Or(t.AtHalf, t.Verdict) })
		_, twice := judge(false, func(t *Test) verdict.Verdict { return cmp.Or(t.AtTwice, t.Verdict) })
		c.AtHalf, c.AtTwice = half.Answer, twice.Answer
	}
}

// outcomesOf returns a dot and an outcome for each reading of an artefact, by the verdicts of tests. A reading that
// changes no value is left out.
func outcomesOf(tests []conclusionTest, judged func(*Test) verdict.Verdict) (dots []Dot, outcomes []verdict.Outcome) {
	// states has the states of the values, by dot; a value that several rows test has the worst. shared has the worst
	// state of the values that are measured under the default reading already.
	var states []map[string]verdict.State
	var shared []verdict.State
	for i := range tests {
		t := &tests[i]
		at := slices.IndexFunc(dots, func(d Dot) bool {
			return d.Artefact == t.artefact && d.Reading == t.Reading && d.Aside == t.PostHoc
		})
		if at < 0 {
			at = len(dots)
			states, shared = append(states, map[string]verdict.State{}), append(shared, "")
			dots = append(dots, Dot{
				Artefact: t.artefact, Reading: t.Reading, Default: t.Default && !t.PostHoc, Aside: t.PostHoc,
				Sign: true, Distance: math.Inf(1),
			})
		}
		d, state := &dots[at], judged(&t.Test).State()
		if t.Shared {
			shared[at] = shared[at].Worse(state)
			continue
		}
		states[at][t.Measure] = states[at][t.Measure].Worse(state)
		d.State, d.Sign, d.Distance = d.State.Worse(state), d.Sign && t.Sign, min(d.Distance, t.Distance)
	}
	var changed []Dot
	for i, d := range dots {
		d.Values = len(states[i])
		if d.Values == 0 {
			continue
		}
		for _, s := range states[i] {
			if s == verdict.Met {
				d.Right++
			}
		}
		changed = append(changed, d)
		outcomes = append(outcomes, verdict.Outcome{
			State: d.State, Shared: shared[i], Default: d.Default, Aside: d.Aside, Right: d.Right, Values: d.Values,
			Sign: d.Sign,
		})
	}
	return changed, outcomes
}
