package figures

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"miglab/reports"
)

// loadHeads reads tables.csv, if there is one. It has titles, columns and notes of tables, one part
// a row: table,part,text. Columns and notes are in their order.
func (c *Claims) loadHeads(paper string, files fs.FS) error {
	rows, err := ReadCSV[struct {
		Table string `csv:"table"`
		Part  string `csv:"part"`
		Text  string `csv:"text"`
	}](paper, files, "tables.csv")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	c.heads = map[string]reports.Table{}
	for i, r := range rows.Rows {
		t := c.heads[r.Table]
		switch r.Part {
		case "title":
			t.Title = r.Text
		case "text":
			t.Columns = t.Columns.Left(r.Text)
		case "number":
			t.Columns = t.Columns.Right(r.Text)
		case "note":
			t.Notes = append(t.Notes, r.Text)
		default:
			return rows.Fail(i, "part", fmt.Errorf("unknown value %q; use title, text or number (a column of such), or note", r.Part))
		}
		c.heads[r.Table] = t
	}
	return nil
}

// Head returns a table of tables.csv without rows. It panics if there is no such table, because
// that is a mistake in the program.
func (c *Claims) Head(table string) reports.Table {
	t, ok := c.heads[table]
	if !ok {
		panic(fmt.Sprintf("figures: no table %q in tables.csv", table))
	}
	t.Columns, t.Notes = slices.Clone(t.Columns), slices.Clone(t.Notes)
	return t
}
