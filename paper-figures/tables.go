package figures

import (
	"slices"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/reports"
)

// The tables of an [Output] have the types of package manifest.
type (
	Table = manifest.Table
	About = manifest.About
)

// Layout adds a reading to a table, arranged like the paper's: a row for each name, and the measured and the published
// value for each column. Columns are cells without a row. The artefact has the name of the table's file.
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
