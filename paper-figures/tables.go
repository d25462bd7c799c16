package figures

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// Layout arranges a reading like the paper's table. A claim's key is the row and the column,
// joined by a space. The cells have the measured value with, in brackets, the published one.
func (d *Data) Layout(artefact, title, corner string, rows, columns []string, r Reading) reports.Table {
	t := reports.Table{Title: title, Columns: reports.Left(corner), Notes: []string{"measured (published)"}}
	by := map[string]Claim{}
	for _, c := range d.Claims.Of(artefact) {
		by[c.Name] = c
	}
	for _, c := range columns {
		t.Columns = t.Columns.Beside(c, c+", published")
	}
	for _, name := range rows {
		row := []string{name}
		for _, column := range columns {
			measured, published := reports.Missing, ""
			if c, ok := by[name+" "+column]; ok {
				published = plain(&c.Published, c.Decimals)
				if m, ok := r.Values[c.Name]; ok {
					measured = reports.Fixed(m.Value, c.Decimals)
				}
			}
			row = append(row, measured, published)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// A tablePart is a line of tables.csv: a title, a column of text or of numbers, or a note.
type tablePart struct {
	Table string `csv:"table"`
	Part  string `csv:"part"`
	Text  string `csv:"text"`
}

// Head returns the title, the columns and the notes that tables.csv has for a table. It panics on a
// mistake there, because the file is a part of the program.
func (c *Claims) Head(table string) (t reports.Table) {
	for _, p := range c.heads {
		switch {
		case p.Table != table:
		case p.Part == "title":
			t.Title = p.Text
		case p.Part == "text":
			t.Columns = t.Columns.Left(p.Text)
		case p.Part == "number":
			t.Columns = t.Columns.Right(p.Text)
		case p.Part == "note":
			t.Notes = append(t.Notes, p.Text)
		default:
			panic(fmt.Sprintf("figures: %s in tables.csv: unknown part %q; use title, text, number or note", table, p.Part))
		}
	}
	if t.Columns == nil {
		panic(fmt.Sprintf("figures: tables.csv has no columns of %q", table))
	}
	return t
}

// claimsTable lists the default reading of each claim of an artefact.
func claimsTable(title string, rows []Row) reports.Table {
	t := reports.Table{
		Title: title + ", claim by claim",
		Columns: reports.Left("claim", "unit", "relation").Right("published", "to", "measured", "low", "high", "allowed", "replicates").
			Left("verdict", "cause"),
		Notes: []string{
			"low, high: 95 % interval of the measured value, widened by the sampling error of the printed one",
			"allowed: how far the interval may lie from the published number, half its last digit plus the margin",
		},
	}
	for i := range rows {
		r := &rows[i]
		if !r.Default {
			continue
		}
		c := r.Cells()
		t.Rows = append(t.Rows, []string{
			r.Claim, r.Unit, string(r.Relation), plain(&r.Published, r.Decimals), plain(r.To, r.Decimals), c.Measured, c.Low, c.High, c.Allowed,
			strconv.Itoa(r.Replicates), string(r.Verdict), string(r.Cause),
		})
	}
	return dropEmpty(t)
}

// dropEmpty leaves out the columns in which all cells are empty.
func dropEmpty(t reports.Table) reports.Table {
	empty := func(column int) bool {
		return !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[column] != "" })
	}
	for j := len(t.Columns) - 1; j >= 0; j-- {
		if empty(j) {
			t.Columns = slices.Delete(t.Columns, j, j+1)
			for i := range t.Rows {
				t.Rows[i] = slices.Delete(t.Rows[i], j, j+1)
			}
		}
	}
	return t
}

// readingsTable compares the readings of an artefact.
func readingsTable(title string, readings []ReadingSummary) reports.Table {
	t := reports.Table{
		Title:   title + ", readings",
		Columns: reports.Left("reading", "where it comes from").Right("REPRODUCED", "of", "mean error").Left("unit"),
		Notes:   []string{"the first reading is the default one; of a claim under the others claims.csv says: " + otherReading},
	}
	for _, s := range readings {
		for i, e := range s.Errors {
			row := []string{"", "", "", "", strconv.FormatFloat(e.Mean, 'g', 3, 64), e.Unit}
			if i == 0 {
				row[0], row[1], row[2], row[3] = s.Name, s.Basis, strconv.Itoa(s.Reproduced), strconv.Itoa(s.Judged)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// A group is rows that deviate for the same reason.
type group struct {
	cause    Cause
	reason   string
	evidence string
	rows     []*Row
}

// groups gathers the rows with a verdict, by cause and reason. Of the other readings it takes
// only what was measured of inputs.
func groups(rows []Row, v verdict.Verdict) []group {
	var out []group
	at := map[[2]string]int{}
	var input string
	for i := range rows {
		r := &rows[i]
		if r.Default && r.Verdict == verdict.Input {
			input = r.Claim
		}
		if r.Verdict != v || !r.Default && r.Claim != input {
			continue
		}
		key := [2]string{string(r.Cause), r.Reason}
		j, ok := at[key]
		if !ok {
			j = len(out)
			at[key] = j
			out = append(out, group{cause: r.Cause, reason: r.Reason, evidence: r.Evidence})
		}
		out[j].rows = append(out[j].rows, r)
	}
	return out
}

// listed names the claims of rows, and a few of them with the measured and the published number.
func listed(rows []*Row) string {
	const few = 8
	var out []string
	for _, r := range rows {
		name := r.Claim
		if c := r.Cells(); len(rows) <= few && r.Measured != nil {
			name = strings.TrimSpace(fmt.Sprintf("%s: measured %s, published %s %s", r.Claim, c.Measured, c.Published, r.Unit))
		}
		out = append(out, name)
	}
	return strings.Join(out, "; ")
}
