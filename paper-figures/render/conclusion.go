package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/nearest"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// A conclusion is a conclusion of the manifest with its readings.
type conclusion struct {
	*manifest.Conclusion
	Readings []reading
}

// A reading is the outcome of a reading with the tests of its own values.
type reading struct {
	manifest.ReadingOutcome
	tests []tested
	// several says that the conclusion rests on several artefacts.
	several bool
}

// A tested value is a value with the limit that it is tested against.
type tested struct {
	*manifest.Test
	Limit *manifest.Limit
}

// newConclusion gathers the tests of a conclusion.
func newConclusion(p *manifest.Paper, c *manifest.Conclusion) *conclusion {
	out := &conclusion{Conclusion: c}
	several := slices.ContainsFunc(c.Outcomes, func(d manifest.ReadingOutcome) bool {
		return d.Artefact != c.Outcomes[0].Artefact
	})
	for _, d := range c.Outcomes {
		r := reading{ReadingOutcome: d, several: several}
		for i := range c.Limits {
			for _, t := range limitTests(p, &c.Limits[i]) {
				// An earlier reading has a shared value. One that decides and one that does not may have the same name.
				if c.Limits[i].Artefact == d.Artefact && t.Reading == d.Reading && t.PostHoc == d.Aside && !t.Shared {
					r.tests = append(r.tests, tested{t, &c.Limits[i]})
				}
			}
		}
		out.Readings = append(out.Readings, r)
	}
	return out
}

// limitTests lists the tests of a limit.
func limitTests(p *manifest.Paper, l *manifest.Limit) (out []*manifest.Test) {
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

// Least is the least favourable value of the reading.
func (r *reading) Least() *tested {
	least := slices.MinFunc(r.tests, func(a, b tested) int { return cmp.Compare(a.Distance, b.Distance) })
	return &least
}

// byDefault reports whether the reading is a default one, or the first one of a conclusion that is not counted.
func (c *conclusion) byDefault(r reading) bool {
	return r.Default || c.Answer == verdict.NotCounted && r.ReadingOutcome == c.Readings[0].ReadingOutcome
}

// Worst is the least favourable value of the defaults, or of all that count if there is a size word; nil without any.
func (c *conclusion) Worst() (worst *tested) {
	for _, r := range c.Readings {
		counts := c.byDefault(r) || c.SizeWord != "" && !r.Aside
		if v := r.Least(); counts && (worst == nil || v.Distance < worst.Distance) {
			worst = v
		}
	}
	return worst
}

// Label names the reading, with its artefact if there are several.
func (r reading) Label() string {
	if r.several {
		return r.Artefact + ": " + r.Reading
	}
	return r.Reading
}

// Deciding lists the readings whose numbers decide: the defaults, all readings of a conclusion that is not counted, and
// the readings that count of a conclusion in the model.
func (c *conclusion) Deciding() (out []reading) {
	for _, r := range c.Readings {
		if r.Default || c.Answer == verdict.NotCounted || c.Answer == verdict.InTheModel && !r.Aside {
			out = append(out, r)
		}
	}
	return out
}

// A settlement says how to settle the open values of the readings that count.
type settlement struct {
	// Open counts the open values.
	Open int
	// Most is the value that needs the most replicates; it may be nil.
	Most *tested
	// No number of replicates settles some values. ByPaper counts those that the sampling error of the paper's own runs
	// keeps open, and Never the others, which need more instances.
	Never, ByPaper int
}

// Settling finds what would settle a conclusion that is undecided, if means and deviations stay.
func (c *conclusion) Settling() (s settlement) {
	for _, r := range c.Readings {
		for i := range r.tests {
			t := &r.tests[i]
			if r.Aside || t.Verdict.State() != verdict.Open {
				continue
			}
			s.Open++
			switch {
			case t.Enough == 0 && t.Limit.Rounding != "": // the threshold is printed, with an error of its own
				s.ByPaper++
			case t.Enough == 0:
				s.Never++
			case s.Most == nil || t.Enough > s.Most.Enough:
				s.Most = t
			}
		}
	}
	return s
}

// Rounded is the number of replicates that would decide, with two digits.
func (t *tested) Rounded() int { return verdict.TwoDigits(t.Enough) }

// Bracketed is the value with its 95 % interval, if it has one.
func (t *tested) Bracketed() string {
	if t.Low == nil || t.High == nil || *t.Low >= *t.High {
		return fourDigits(t.Value)
	}
	return fmt.Sprintf("%s [%s, %s]", fourDigits(t.Value), fourDigits(*t.Low), fourDigits(*t.High))
}

// Sense says in words which relation the value must have to the threshold. A tie does not pass where the threshold
// means no difference.
func (t *tested) Sense() string {
	switch most := t.Limit.Relation == verdict.AtMost; {
	case t.Limit.IsNeutral && most:
		return "less than"
	case t.Limit.IsNeutral:
		return "more than"
	case most:
		return "at most"
	}
	return "at least"
}

// Rounding is the threshold with its rounding, empty if it is not rounded.
func (t *tested) Rounding() string {
	if t.Limit.Rounding == "" || t.Limit.IsNeutral {
		return ""
	}
	return manifest.Digits(&t.Limit.Number, -1)
}

// fourDigits formats a number with four significant digits.
func fourDigits(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// DecidingValues lists the worst values of the readings that decide.
func (c *conclusion) DecidingValues() string { return words("deciding", c) }

// Plain says in words how many readings and values meet the conclusion.
func (c *conclusion) Plain() string { return onOneLine("plain", c) }

// Caveats says what the table of the conclusion does not: what was tested, what would settle it, the answers with other
// thresholds and what the readings vary.
func (c *conclusion) Caveats() string { return onOneLine("caveats", c) }

func onOneLine(name string, data any) string {
	return strings.Join(strings.Fields(words(name, data)), " ")
}

// Reason says in one sentence why the conclusion has its answer: the first sentence of conclusions.csv, or else the
// worst value.
func (c *conclusion) Reason() string {
	switch first, _, more := strings.Cut(c.Because, ". "); {
	case more:
		return first + "."
	case first != "":
		return first
	}
	return words("reason", c)
}

// FullAnswer is the answer. In the model, it begins with the answer there.
func (c *conclusion) FullAnswer() string {
	if c.Answer == verdict.InTheModel {
		return string(c.Part) + " " + string(c.Answer)
	}
	return string(c.Answer)
}

// idNumber returns the number in the ID, such as 14 in D14b.
func (c *conclusion) idNumber() (n int) {
	for _, r := range c.ID {
		if '0' <= r && r <= '9' {
			n = 10*n + int(r-'0')
		}
	}
	return n
}

// Name is the conclusion in a few words.
func (c *conclusion) Name() string { return cmp.Or(c.Short, c.Sentence) }

// Anchor is the place of the conclusion on the page of details.
func (c *conclusion) Anchor() string { return strings.ToLower(c.ID) }

// Share says how many of the readings, or of the values under the defaults, meet the conclusion, or that it holds in
// sign alone.
func (c *conclusion) Share() string { return words("share", c) }

// Table has a row for all readings that count and have the same result, with the least favourable of their values. It
// is empty if there are none. Of a conclusion that is not counted it has all readings, the first one by itself.
func (c *conclusion) Table() (string, error) {
	var groups [][]reading
	for _, r := range c.Readings {
		i := slices.IndexFunc(groups, func(g []reading) bool {
			return g[0].State == r.State && c.byDefault(g[0]) == c.byDefault(r)
		})
		switch {
		case r.Aside && c.Answer != verdict.NotCounted:
		case i < 0:
			groups = append(groups, []reading{r})
		default:
			groups[i] = append(groups[i], r)
		}
	}
	t := &reports.Table{Columns: reports.Left("readings", "result", "values met", "least favourable value").
		Right("measured", "must be")}
	for _, group := range groups {
		worst := slices.MinFunc(group, func(a, b reading) int { return cmp.Compare(a.Distance, b.Distance) })
		v, names := worst.Least(), strings.Join(nearest.Names(group, reading.Label), "; ")
		right, values, met := 0, 0, ""
		for _, r := range group {
			right, values = right+r.Right, values+r.Values
		}
		if values > len(group) {
			met = fmt.Sprintf("%d of %d", right, values)
		}
		if c.byDefault(worst) && names != "default" {
			names += " (default)"
		}
		t.Row(names, worst.State, met, v.Measure, v.Bracketed(), words("limit", v))
	}
	if len(groups) == 0 {
		return "", nil
	}
	return markdown(c.withoutLimit(t).WithoutEmpty())
}

// mostValues is how many values of the defaults are listed.
const mostValues = 5

// DefaultValues is a table of the values under the defaults, the least favourable first. Of many it shows the first
// ones, and the most favourable one of those that are met, or of all if none is met. It is empty for one value, or if
// all are met. Where the answer is undecided, it has how many replicates are enough for each.
func (c *conclusion) DefaultValues() (string, error) {
	defaults := slices.DeleteFunc(slices.Clone(c.Readings), func(r reading) bool { return !r.Default })
	met, several := true, false
	var all []tested
	for _, r := range defaults {
		met = met && r.State == verdict.Met
		several = several || r.Reading != defaults[0].Reading
		all = append(all, r.tests...)
	}
	if met || len(all) < 2 {
		return "", nil
	}
	slices.SortStableFunc(all, func(a, b tested) int { return cmp.Compare(a.Distance, b.Distance) })
	t := &reports.Table{
		Columns: reports.Left("value").Right("measured", "must be").Left("result", "reading").Right("enough"),
	}
	if len(all) > mostValues {
		shown, rest := all[:mostValues-1], all[mostValues-1:]
		last := len(rest) - 1
		for i, v := range rest {
			if v.Verdict.State() == verdict.Met {
				last = i
			}
		}
		all = append(shown, rest[last])
	}
	for _, v := range all {
		enough := ""
		if c.Answer == verdict.Undecided && v.Enough > 0 {
			enough = strconv.Itoa(v.Rounded())
		}
		t.Row(v.Measure, v.Bracketed(), words("limit", &v), v.Verdict.State(), v.Reading, enough)
	}
	if !several {
		t = t.Without("reading")
	}
	return markdown(c.withoutLimit(t).WithoutEmpty())
}

// MustBe is the limit that all values have; empty if limits differ.
func (c *conclusion) MustBe() (all string) {
	for _, r := range c.Readings {
		for i := range r.tests {
			limit := words("limit", &r.tests[i])
			if all != "" && all != limit {
				return ""
			}
			all = limit
		}
	}
	return all
}

// withoutLimit removes the column of limits if all values have the same.
func (c *conclusion) withoutLimit(t *reports.Table) *reports.Table {
	if c.MustBe() == "" {
		return t
	}
	return t.Without("must be")
}
