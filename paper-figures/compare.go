package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"miglab/reports"
)

// Values are measurements by the name of a claim.
type Values map[string]Measurement

// A Reading is one interpretation of what the paper did. The first reading of an artefact
// is the default and has an empty name.
type Reading struct {
	Name string
	// Values lacks the claims that the reading does not concern.
	Values Values
}

// Lookup is a reading with its values.
func Lookup(name string, values Values) Reading { return Reading{name, values} }

// Always gives the same reason for every claim.
func Always(reason string) func(claim string) string {
	return func(string) string { return reason }
}

// Compare judges every claim under each reading that concerns it. If the default reading
// deviates, the finding has the reason for the claim's name, and also names the reading that
// comes nearest.
func (d *Data) Compare(claims []Claim, readings []Reading, reason func(claim string) string) []Finding {
	var out []Finding
	for _, c := range claims {
		first := len(out)
		for _, r := range readings {
			m, ok := r.Values[c.Name]
			if !ok {
				continue
			}
			why := reason(c.Name)
			if r.Name != "" {
				why = "one of the other readings"
			}
			out = append(out, d.Judge(c, m, r.Name, why))
		}
		if own := out[first:]; len(own) > 1 && own[0].Verdict == Deviates {
			if n := nearest(own); n > 0 {
				own[0].Reason += fmt.Sprintf("; the reading that comes nearest, %q, gives %s", own[n].Reading, own[n].value())
			} else {
				own[0].Reason += "; of the readings tried the default comes nearest"
			}
		}
	}
	return out
}

// CompareOrTake is [Data.Compare] for claims that include inputs of the project. Where says
// what the project uses the inputs for.
func (d *Data) CompareOrTake(claims []Claim, readings []Reading, reason func(claim string) string, where string) []Finding {
	var out []Finding
	for _, c := range claims {
		if c.Relation == Input {
			out = append(out, Taken(c, where))
		} else {
			out = append(out, d.Compare([]Claim{c}, readings, reason)...)
		}
	}
	return out
}

// nearest returns the index of the finding closest to the published value; the
// first of several.
func nearest(fs []Finding) int {
	best := 0
	for i := range fs {
		if fs[i].off() < fs[best].off() {
			best = i
		}
	}
	return best
}

// off returns the distance to the published value. It is 0 if a limit is kept.
func (f *Finding) off() float64 {
	miss := f.Measured.Value - f.Published
	switch f.Relation {
	case AtMost:
		return max(0, miss)
	case AtLeast:
		return max(0, -miss)
	}
	return math.Abs(miss)
}

// value is the measured value with one digit more than is printed.
func (f *Finding) value() string {
	if f.Measured == nil {
		return "-"
	}
	return strconv.FormatFloat(f.Measured.Value, 'f', f.Decimals+1, 64)
}

func (f *Finding) published() string {
	s := strconv.FormatFloat(f.Published, 'f', f.Decimals, 64)
	switch f.Relation {
	case AtMost:
		return "<= " + s
	case AtLeast:
		return ">= " + s
	}
	return s
}

// group splits findings into runs of the same claim.
func group(fs []Finding) [][]Finding {
	var out [][]Finding
	for i := range fs {
		if n := len(out); n > 0 && out[n-1][0].Name == fs[i].Name {
			out[n-1] = append(out[n-1], fs[i])
		} else {
			out = append(out, fs[i:i+1:i+1])
		}
	}
	return out
}

// ComparisonTable lists claims with their published and measured values and verdicts. If
// there are several readings, it also names the nearest one.
func ComparisonTable(title string, fs []Finding) reports.Table {
	t := reports.Table{Title: title, Columns: reports.Left("claim", "unit").
		Right("published", "measured", "95 % interval", "tolerance").
		Left("verdict")}
	groups := group(fs)
	severalReadings := len(groups) < len(fs)
	if severalReadings {
		t.Columns = t.Columns.Left("nearest reading")
	}
	for _, g := range groups {
		f := g[0]
		interval, allowed := "", ""
		if f.Measured != nil && f.Measured.Low != f.Measured.High {
			interval = fmt.Sprintf("%.*f to %.*f", f.Decimals+1, f.Measured.Low, f.Decimals+1, f.Measured.High)
		}
		if f.Verdict == Reproduced || f.Verdict == Deviates {
			allowed = strconv.FormatFloat(f.Allowed, 'f', f.Decimals+1, 64)
		}
		if note := "NOT RUNNABLE: " + f.Reason; f.Verdict == NotRunnable && !slices.Contains(t.Notes, note) {
			t.Notes = append(t.Notes, note)
		}
		row := []string{f.Name, f.Unit, f.published(), f.value(), interval, allowed, string(f.Verdict)}
		if severalReadings {
			row = append(row, nearestReading(g))
		}
		t.Rows = append(t.Rows, row)
	}
	if severalReadings {
		t.Notes = append(t.Notes, meanErrors(fs)...)
	}
	return t
}

// nearestReading names the reading of a claim that comes nearest; empty if there is only one.
func nearestReading(fs []Finding) string {
	if len(fs) == 1 {
		return ""
	}
	if n := nearest(fs); n > 0 {
		return fs[n].Reading + ": " + fs[n].value()
	}
	return "default"
}

// meanErrors gives the mean absolute error of each reading, in words.
func meanErrors(fs []Finding) (notes []string) {
	type mean struct {
		reading string
		sum     float64
		n       int
	}
	var means []mean
	for i := range fs {
		f := &fs[i]
		if f.Measured == nil {
			continue
		}
		k := slices.IndexFunc(means, func(m mean) bool { return m.reading == f.Reading })
		if k < 0 {
			k = len(means)
			means = append(means, mean{reading: f.Reading})
		}
		means[k].sum += f.off()
		means[k].n++
	}
	// Only readings that concern every claim can explain the whole table.
	best := 0
	for i, m := range means {
		if m.n == means[0].n && m.sum < means[best].sum {
			best = i
		}
	}
	for i, m := range means {
		note := fmt.Sprintf("mean absolute error, %s: %.3g over %d claims", cmp.Or(m.reading, "default"), m.sum/float64(m.n), m.n)
		if i == best && len(means) > 1 {
			note += ", nearest of the readings of the whole table"
		}
		notes = append(notes, note)
	}
	return notes
}

// Layout arranges the default findings like the paper's table. Each cell has the measured
// value and, in brackets, the published one. The name of its claim is the row and the
// column, joined by a space.
func Layout(title, corner string, rows, columns []string, fs []Finding) reports.Table {
	t := reports.Table{Title: title, Columns: reports.Left(corner), Notes: []string{"measured (published)"}}
	by := map[string]*Finding{}
	for i := range fs {
		if fs[i].Reading == "" {
			by[fs[i].Name] = &fs[i]
		}
	}
	for _, c := range columns {
		t.Columns = t.Columns.Right(c)
	}
	for _, r := range rows {
		row := []string{r}
		for _, c := range columns {
			cell := ""
			if f := by[r+" "+c]; f != nil && f.Measured == nil {
				cell = fmt.Sprintf("- (%s)", f.published())
			} else if f != nil {
				cell = fmt.Sprintf("%s (%s)", strconv.FormatFloat(f.Measured.Value, 'f', f.Decimals, 64), f.published())
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
