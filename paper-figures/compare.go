package figures

import (
	"fmt"
	"math"
	"strconv"

	"miglab/reports"
)

// Values are measurements by the name of a claim.
type Values map[string]Measurement

// A Reading is one way to understand what the paper did. The first of an
// artefact's readings is the default and has an empty name.
type Reading struct {
	Name string
	// Values has no measurement of claims that the reading does not concern.
	Values Values
}

// Lookup is a reading with its values.
func Lookup(name string, values Values) Reading { return Reading{name, values} }

// Always is the same reason for every claim.
func Always(reason string) func(claim string) string {
	return func(string) string { return reason }
}

// Compare judges every claim of an artefact under each reading that concerns it. The
// reason is by the claim's name, and is given where the default reading deviates,
// together with the reading that comes nearest to the claim.
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

// CompareOrTake is [Data.Compare] for claims of which some are inputs of the project; where
// says what the project takes these for.
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

// off is by how much the finding misses the published value; a limit that is kept
// is not missed.
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

// ComparisonTable lists an artefact's claims, published beside measured, with
// verdicts; where there are several readings, also the nearest one.
func ComparisonTable(title string, fs []Finding) reports.Table {
	t := reports.Table{Title: title, Columns: reports.Left("claim", "unit").
		Right("published", "measured", "95 % interval", "tolerance").
		Left("verdict", "nearest reading")}
	type mean struct {
		name string
		sum  float64
		n    int
	}
	var means []mean
	readings := false
	reasons := map[string]bool{}
	for _, g := range group(fs) {
		f := g[0]
		interval, allowed, near := "", "", ""
		if f.Measured != nil && f.Measured.Low != f.Measured.High {
			interval = fmt.Sprintf("%.*f to %.*f", f.Decimals+1, f.Measured.Low, f.Decimals+1, f.Measured.High)
		}
		if f.Verdict == Reproduced || f.Verdict == Deviates {
			allowed = strconv.FormatFloat(f.Allowed, 'f', f.Decimals+1, 64)
		}
		if len(g) > 1 {
			readings = true
			n := nearest(g)
			near = "default"
			if n > 0 {
				near = g[n].Reading + ": " + g[n].value()
			}
		}
		for _, r := range g {
			if r.Measured == nil {
				continue
			}
			i := 0
			for i < len(means) && means[i].name != r.Reading {
				i++
			}
			if i == len(means) {
				means = append(means, mean{name: r.Reading})
			}
			means[i].sum += r.off()
			means[i].n++
		}
		if f.Verdict == NotRunnable && !reasons[f.Reason] {
			reasons[f.Reason] = true
			t.Notes = append(t.Notes, "NOT RUNNABLE: "+f.Reason)
		}
		t.Rows = append(t.Rows, []string{f.Name, f.Unit, f.published(), f.value(), interval, allowed, string(f.Verdict), near})
	}
	if !readings {
		t.Columns = t.Columns[:7]
		for i := range t.Rows {
			t.Rows[i] = t.Rows[i][:7]
		}
		return t
	}
	// Only readings of all claims compare as explanations of the table.
	best := 0
	for i, m := range means {
		if m.n == means[0].n && m.sum < means[best].sum {
			best = i
		}
	}
	for i, m := range means {
		name := m.name
		if name == "" {
			name = "default"
		}
		note := fmt.Sprintf("mean absolute error, %s: %.3g over %d claims", name, m.sum/float64(m.n), m.n)
		if i == best && len(means) > 1 {
			note += ", nearest of the readings of the whole table"
		}
		t.Notes = append(t.Notes, note)
	}
	return t
}

// Layout arranges the default findings as the paper's table does: in each cell the
// measured value with the published one in brackets. The claim of a cell is its
// row and its column, joined by a space.
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
