package mfi

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// underReadings measures claims under each reading.
func underReadings(d *figures.Data, readings []reading, measure func(reading, *measured)) (out []figures.Reading) {
	for _, r := range readings {
		m := newMeasured(d)
		measure(r, m)
		out = append(out, figures.Lookup(r.name, m.values))
	}
	return out
}

// wordsTable lists claims in words, which are orders or counts, with the value and verdict of
// each reading.
func wordsTable(title string, fs []figures.Finding) reports.Table {
	t := reports.Table{Title: title, Columns: reports.Left("claim", "unit").Right("the text")}
	const first = 3 // column of the default reading
	var names []string
	for _, f := range fs {
		if !slices.Contains(names, f.Reading) {
			names = append(names, f.Reading)
			t.Columns = t.Columns.Right(cmp.Or(f.Reading, "default"))
		}
	}
	for _, f := range fs {
		if n := len(t.Rows); n == 0 || t.Rows[n-1][0] != f.Name {
			said := strconv.FormatFloat(f.Published, 'f', f.Decimals, 64)
			if f.Relation != figures.Equal {
				said = string(f.Relation) + " " + said
			}
			row := append([]string{f.Name, f.Unit, said}, make([]string, len(names))...)
			t.Rows = append(t.Rows, row)
		}
		t.Rows[len(t.Rows)-1][first+slices.Index(names, f.Reading)] = fmt.Sprintf("%.*f %s", f.Decimals+1, f.Measured.Value, f.Verdict)
	}
	return t
}
