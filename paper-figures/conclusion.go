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
				m.PrintSE = 0 // what is judged is the sentence, not the paper's own sample
				j := judgeTest(&row, m, 1)
				t := Test{
					Row: line, Measure: cell.String(), Reading: cmp.Or(r.Name, DefaultReading),
					Default: i == 0 || r.from.Weight == claim.AnotherDefault,
					PostHoc: !r.from.Weight.Counts() || row.Status == claim.Later,
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

// judgeTest judges a value against a row whose threshold, if it is ours, is so many times as far.
func judgeTest(row *claim.Test, m Measurement, factor float64) verdict.Judgement {
	j := row.Judge(m, row.Scaled(factor))
	if j.Verdict == verdict.Inconclusive && j.Low == j.High {
		j.Verdict = verdict.Deviates // a tie in all replicates: more of them would not make it larger
	}
	return j
}

// An openConclusion is a conclusion that is being answered.
type openConclusion struct {
	Conclusion
	status claim.Status
	dots   []openDot
	// halved and doubled are the dots with thresholds that are ours half and twice as far.
	halved, doubled []openDot
	// incomplete is set if it rests on an artefact that is not done.
	incomplete bool
}

// An openDot is a dot to which tests are added.
type openDot struct {
	Dot
	// states are those of the values by name. A value that several rows test has the worst.
	states map[string]verdict.State
}

// add adds a test to the dot.
func (d *openDot) add(t *Test) {
	if d.Values == 0 || t.Distance < d.Distance {
		d.Distance = t.Distance
	}
	d.Sign = (d.Sign || d.Values == 0) && t.Sign
	d.states[t.Measure], d.State = d.states[t.Measure].Worse(t.State()), d.State.Worse(t.State())
	d.Values, d.Right = len(d.states), 0
	for _, s := range d.states {
		if s == verdict.Met {
			d.Right++
		}
	}
}

// conclude answers the paper's conclusions. One that rests on an artefact that is not done is left out.
func conclude(p *PaperRecord, claims *claim.Set) {
	done := map[string]*Record{"": {}}
	for i := range p.Artefacts {
		done[p.Artefacts[i].Name] = &p.Artefacts[i]
	}
	var all []openConclusion
	for line := range claims.Tests {
		row := &claims.Tests[line]
		if row.Sentence != "" {
			all = append(all, openConclusion{status: row.Status, Conclusion: Conclusion{
				Paper: p.Name, ID: row.ID, Sentence: row.Sentence, Section: row.Section, Short: row.Short,
				Varied: strings.TrimSuffix(row.Varied, "."), OfBudget: row.Status == claim.OfBudget,
			}})
		}
		c, a := &all[len(all)-1], done[row.Artefact]
		if row.Status != claim.Impossible {
			c.Limits = append(c.Limits, manifest.Limit{
				Row: line, Artefact: row.Artefact, Measure: row.Selection.String(), Relation: row.Relation,
				Threshold: row.Threshold, Neutral: row.TestLine.Neutral, Rounding: row.Rounding, Number: row.Limit,
				IsNeutral: row.Limit == row.Neutral, OursFrom: row.OursFrom,
			})
		}
		if a == nil {
			c.incomplete = true
			continue
		}
		for _, t := range a.Tests {
			if t.Row == line {
				c.add(a.Name, t)
			}
		}
	}
	for _, c := range all {
		if !c.incomplete {
			c.answer()
			c.Because = claims.Because(c.ID, c.Answer)
			p.Conclusions = append(p.Conclusions, c.Conclusion)
		}
	}
}

// add adds a test.
func (c *openConclusion) add(artefact string, t Test) {
	addTest(&c.dots, artefact, t)
	half, twice := t, t
	half.Verdict, twice.Verdict = cmp.Or(t.AtHalf, t.Verdict), cmp.Or(t.AtTwice, t.Verdict)
	addTest(&c.halved, artefact, half)
	addTest(&c.doubled, artefact, twice)
}

// addTest adds a test to the dot of its reading.
func addTest(dots *[]openDot, artefact string, t Test) {
	same := func(d openDot) bool {
		return d.Artefact == artefact && d.Reading == t.Reading && d.Aside == t.PostHoc
	}
	at := slices.IndexFunc(*dots, same)
	if at < 0 {
		at = len(*dots)
		*dots = append(*dots, openDot{states: map[string]verdict.State{}, Dot: Dot{
			Artefact: artefact, Reading: t.Reading, Default: t.Default && !t.PostHoc, Aside: t.PostHoc,
		}})
	}
	(*dots)[at].add(&t)
}

// judge answers the conclusion by dots.
func (c *openConclusion) judge(dots []openDot) verdict.Conclusion {
	outcomes := Map(dots, func(d openDot) verdict.Outcome {
		return verdict.Outcome{
			State: d.State, Default: d.Default, Aside: d.Aside, Right: d.Right, Values: d.Values, Sign: d.Sign,
		}
	})
	return verdict.Sentence(outcomes, c.status == claim.OfModel, c.status == claim.OfBudget)
}

// answer answers the conclusion.
func (c *openConclusion) answer() {
	c.Dots = Map(c.dots, func(d openDot) Dot { return d.Dot })
	c.Conclusion.Conclusion = c.judge(c.dots)
	ours := slices.ContainsFunc(c.Limits, func(l manifest.Limit) bool { return l.OursFrom != "" })
	if ours && c.halved != nil {
		c.AtHalf, c.AtTwice = c.judge(c.halved).Answer, c.judge(c.doubled).Answer
	}
}
