package manifest

import (
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// A Term is a symbol or word of a paper with its meaning: a line of terms.csv.
type Term struct {
	Name    string `csv:"name"`
	Meaning string `csv:"meaning"`
}

// A Table is a table with the name of its files, without extension.
type Table struct {
	File          string `json:"file"`
	reports.Table `json:"table"`
	// About says what each row is evidence for; nil if causes do not name the table. A manifest leaves it out.
	About []About `json:"about,omitempty"`
}

// About selects the claims that a row is about. Label tells a claim's rows apart.
type About struct {
	claim.Selection
	Label string `json:"label,omitempty"`
}

// RowAbout is [reports.Table.Row] for a row that is about claims.
func (t *Table) RowAbout(about About, cells ...any) {
	t.About = append(t.About, about)
	t.Row(cells...)
}

// A Figure is a figure with the name of its files, without extension. In a [Manifest] the figure itself is nil.
type Figure struct {
	File   string         `json:"file"`
	Title  string         `json:"title"`
	Figure reports.Figure `json:"-"`
}
