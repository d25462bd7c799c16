package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/nearest"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// A conclusion is one of the manifest with its tests.
type conclusion struct {
	*manifest.Conclusion
	// TrainingRun says what a training run of the paper's agents costs.
	TrainingRun string
	// Readings are the dots with their tests.
	Readings []reading
}

// A reading is a dot with its tests.
type reading struct {
	manifest.Dot
	tests []tested
	// several is set if the conclusion rests on several artefacts.
	several bool
}

// A tested value is one that a limit is for.
type tested struct {
	*manifest.Test
	Limit *manifest.Limit
}

// newConclusion gathers the tests of a conclusion.
func newConclusion(p *manifest.Paper, c *manifest.Conclusion) *conclusion {
	out := &conclusion{Conclusion: c, TrainingRun: p.TrainingRun}
	for _, d := range c.Dots {
		r := reading{Dot: d, several: d.Artefact != c.Dots[0].Artefact || c.Dots[len(c.Dots)-1].Artefact != d.Artefact}
		for i := range c.Limits {
			for _, t := range testsOf(p, &c.Limits[i]) {
				if c.Limits[i].Artefact == d.Artefact && t.Reading == d.Reading && t.PostHoc == d.Aside {
					r.tests = append(r.tests, tested{t, &c.Limits[i]})
				}
			}
		}
		out.Readings = append(out.Readings, r)
	}
	return out
}

// testsOf lists the tests of a limit.
func testsOf(p *manifest.Paper, l *manifest.Limit) (out []*manifest.Test) {
	for i := range p.Artefacts {
		a := &p.Artefacts[i]
		for j := range a.Tests {
			if a.Name == l.Artefact && a.Tests[j].Row == l.Row {
				out = append(out, &a.Tests[j])
			}
		}
	}
	return out
}

// Least are the least favourable values of the reading, one for each limit, the worst first.
func (r *reading) Least() (out []tested) {
	for _, t := range r.tests {
		i := slices.IndexFunc(out, func(o tested) bool { return o.Limit == t.Limit })
		if i < 0 {
			out = append(out, t)
		} else if t.Distance < out[i].Distance {
			out[i] = t
		}
	}
	slices.SortStableFunc(out, func(a, b tested) int { return cmp.Compare(a.Distance, b.Distance) })
	return out
}

// Deciding are the least favourable value and, if it is not met, that of another limit.
func (r *reading) Deciding() []tested {
	least := r.Least()
	if len(least) > 1 && least[1].State() != verdict.Met {
		return least[:2]
	}
	return least[:min(1, len(least))]
}

// IsNamed reports whether the reading has another name than that of most default ones.
func (r *reading) IsNamed() bool { return r.Reading != "default" }

// Label names the reading, with its artefact if there are several.
func (r *reading) Label() string {
	if r.several {
		return r.Artefact + ": " + r.Reading
	}
	return r.Reading
}

// Deciding are the readings whose numbers decide: the defaults, and all of what decides nothing or is in a model.
func (c *conclusion) Deciding() (out []reading) {
	for _, r := range c.Readings {
		if r.Default || c.Answer == verdict.Aside || c.Answer == verdict.InTheModel && !r.Aside {
			out = append(out, r)
		}
	}
	return out
}

// Under names the readings with a state that count.
func (c *conclusion) Under(s verdict.State) (out []string) {
	for _, r := range c.Readings {
		if r.State == s && r.Aside == (c.Answer == verdict.Aside) {
			out = append(out, r.Label())
		}
	}
	return sortedSet(out)
}

// Named names the values under the defaults in a state. A value that several limits are for has the worst.
func (c *conclusion) Named(s verdict.State) (out []string) {
	for _, r := range c.Readings {
		if !r.Default {
			continue
		}
		states := map[string]verdict.State{}
		for _, t := range r.tests {
			states[t.Measure] = states[t.Measure].Worse(t.State())
		}
		for name, state := range states {
			switch {
			case state != s:
			case r.IsNamed():
				out = append(out, name+" ("+r.Reading+")")
			default:
				out = append(out, name)
			}
		}
	}
	return sortedSet(out)
}

func sortedSet(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// Settling is what would settle the open values of the readings that count.
type Settling struct {
	// Most is the value that needs the most replicates, nil for none, and Never is how many values none settle.
	Most  *tested
	Never int
}

// Settling finds what would settle a conclusion that is undecided, if means and deviations stay.
func (c *conclusion) Settling() (s Settling) {
	for _, r := range c.Readings {
		for i := range r.tests {
			t := &r.tests[i]
			switch {
			case r.Aside || t.State() != verdict.Open:
			case t.Enough == 0:
				s.Never++
			case s.Most == nil || t.Enough > s.Most.Enough:
				s.Most = t
			}
		}
	}
	return s
}

// Rounded is the number of replicates that would settle the value.
func (t *tested) Rounded() int { return roundUp(t.Enough) }

// OfAgents reports whether training runs are the replicates.
func (t *tested) OfAgents() bool { return t.Unit == verdict.TrainingRuns }

// Number is the value with four significant digits.
func (t *tested) Number() string { return figures(t.Value) }

// Interval is the 95 % interval; empty for none.
func (t *tested) Interval() string {
	if t.Low == nil || t.High == nil || *t.Low >= *t.High {
		return ""
	}
	return figures(*t.Low) + ", " + figures(*t.High)
}

// Trained are the values of the training runs.
func (t *tested) Trained() []string { return nearest.Names(t.Runs, figures) }

// Extremes are the least and the largest value of the training runs.
func (t *tested) Extremes() []string {
	return []string{figures(slices.Min(t.Runs)), figures(slices.Max(t.Runs))}
}

// Sense is the first character of the relation where a tie is not more, and else the whole relation.
func (t *tested) Sense() string {
	if t.Limit.IsNeutral {
		return string(t.Limit.Relation[:1])
	}
	return string(t.Limit.Relation)
}

// Rounding is the threshold with its rounding, empty if it has none.
func (t *tested) Rounding() string {
	if t.Limit.Rounding == "" || t.Limit.IsNeutral {
		return ""
	}
	return manifest.Digits(&t.Limit.Number, -1)
}

// figures formats a number with four significant digits.
func figures(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// Numbers are the values that decide, in words.
func (c *conclusion) Numbers() (string, error) { return show("numbers", c) }

// Plain says what came out.
func (c *conclusion) Plain() (string, error) {
	text, err := show("plain", c)
	return strings.Join(strings.Fields(text), " "), err
}

// Reason is one sentence that says why it came out so: the first that conclusions.csv has, or else what came out.
func (c *conclusion) Reason() (string, error) {
	if first, _, more := strings.Cut(c.Because, ". "); more {
		return first + ".", nil
	}
	if c.Because != "" {
		return c.Because, nil
	}
	return show("reason", c)
}

// Name is the conclusion in a few words.
func (c *conclusion) Name() string { return cmp.Or(c.Short, c.Sentence) }

// Anchor is the place of the conclusion on the page of details.
func (c *conclusion) Anchor() string { return strings.ToLower(c.ID) }

// Share says how many of the readings, or of the values under the defaults, meet it.
func (c *conclusion) Share() (string, error) { return show("share", c) }

// Table lists the readings with their least favourable values; empty for none.
func (c *conclusion) Table() (string, error) {
	if len(c.Readings) == 0 {
		return "", nil
	}
	t := &reports.Table{Columns: reports.Left("reading", "result").Right("values met").Left("least favourable value").
		Right("measured").Left("95 % interval", "must be")}
	for _, r := range c.Readings {
		result := string(r.State)
		switch {
		case r.Default:
			result += ", default"
		case r.Aside:
			result += ", post hoc"
		}
		for i, v := range r.Deciding() {
			limit, err := show("limit", &v)
			if err != nil {
				return "", err
			}
			if i > 0 {
				t.Row("", "", "", v.Measure, v.Number(), v.Interval(), limit)
				continue
			}
			met := strconv.Itoa(r.Right) + " of " + strconv.Itoa(r.Values)
			t.Row(r.Label(), result, met, v.Measure, v.Number(), v.Interval(), limit)
		}
	}
	filled := t.WithoutEmpty()
	return markdown(&filled)
}
