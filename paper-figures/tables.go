package figures

import (
	"slices"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/reports"
)

// The tables and figures of an [Output] have the types of package manifest.
type (
	Table  = manifest.Table
	About  = manifest.About
	Figure = manifest.Figure
)

// NewTable returns a table without rows. Its files have the given name.
func NewTable(file, title string, columns reports.Columns, notes ...string) *Table {
	return &Table{File: file, Table: reports.Table{Title: title, Columns: columns, Notes: notes}}
}

// Layout arranges a reading like the paper's table, below a head with the title and the column of the rows' names.
// Columns have no row; with one, each is the cell of a claim. Cells show the measured value (the published one).
func (d *Data) Layout(t *Table, rows []string, columns []claim.Cell, r Reading) *Table {
	t.Notes = slices.Insert(t.Notes, 0, "measured (published)")
	for _, c := range columns {
		t.Columns = t.Columns.Beside(c.String(), c.String()+", published")
	}
	for _, name := range rows {
		t.Row(name, Map(columns, func(cell claim.Cell) []string {
			measured, published := reports.Missing, ""
			cell.Row = name
			c := d.Claims.Find(claim.Key{Artefact: t.File, Cell: cell})
			if c != nil {
				published = manifest.Digits(&c.Published, c.Decimals)
				if m, ok := r.Values[cell]; ok {
					measured = reports.Fixed(m.Value, c.Decimals)
				}
			}
			return []string{measured, published}
		}))
	}
	return t
}
