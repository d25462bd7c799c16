package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
)

// PageColumns is the width of tables in Markdown, in characters. PageCentimetres is the width of tables in
// LaTeX, on A4 with margins of 2 cm.
const (
	PageColumns     = 120
	PageCentimetres = 17
)

const pointsPerCentimetre = 72.27 / 2.54

// pageRows is how many rows of a table fit a page in LaTeX.
const pageRows = 50

// A measure says how wide a format sets a table.
type measure struct {
	// limit is the width of a page, between the room between two columns, and least the least width of a column.
	limit, between, least float64
	text                  func(string) float64
	// stacks breaks headings into lines.
	stacks bool
}

func displayWidth(text string) float64 { return float64(uniseg.StringWidth(text)) }

var (
	markdownMeasure = measure{
		limit: PageColumns - 1, between: 3, least: 3,
		text: func(text string) float64 { return displayWidth(EscapeMarkdown(text)) },
	}
	latexMeasure = measure{
		limit: PageCentimetres * pointsPerCentimetre, between: 12, text: latexPoints, stacks: true,
	}
)

// leastHead is how many characters a line of a heading may have, however short the cells are.
const leastHead = 12

// heading breaks a heading into lines that are about as wide as the cells, if the format stacks them.
func (m *measure) heading(head string, cells float64) []string {
	if !m.stacks {
		return []string{head}
	}
	limit := max(cells, m.text(strings.Repeat("n", leastHead)))
	return wrapBy(func(s string) int { return int(m.text(s)) }, words(head), int(limit))
}

// Fit returns the table as pieces that fit a page in Markdown. Long cells of text become notes. A table that is still
// too wide is split by columns, and each piece repeats the columns that name the rows. The last piece has the notes.
func (t *Table) Fit() []Table {
	pieces, _ := t.fit(markdownMeasure)
	return pieces
}

// fit returns the table as pieces that fit a page, and the measure of their headings. If the table fits as it is, each
// heading is in one line.
func (t *Table) fit(m measure) ([]Table, *measure) {
	whole, plain := *t.mergeColumns(), m
	plain.stacks = false
	if whole.width(&plain, nil) <= m.limit {
		return []Table{whole}, &plain
	}
	whole.Rows, whole.Notes = slices.Clone(whole.Rows), slices.Clone(whole.Notes)
	notes := 0
	for whole.width(&m, nil) > m.limit && whole.shorten(&m, &notes) {
	}
	return whole.split(&m), &m
}

// cellWidth returns the width of the cells of a column.
func (t *Table) cellWidth(text func(string) float64, j int) (wide float64) {
	for _, row := range t.Rows {
		wide = max(wide, text(row[j]))
	}
	return wide
}

// columnWidth returns the width of a column with its heading.
func (t *Table) columnWidth(m *measure, j int) float64 {
	wide := t.cellWidth(m.text, j)
	for _, line := range m.heading(t.Columns[j].Name, wide) {
		wide = max(wide, m.text(line), m.least)
	}
	return wide
}

// width returns the width of some columns; nil means all.
func (t *Table) width(m *measure, columns []int) (sum float64) {
	for j := range t.Columns {
		if columns == nil || slices.Contains(columns, j) {
			sum += t.columnWidth(m, j) + m.between
		}
	}
	return sum
}

// longCell is the length of cells, in characters, that stay in a table that is too wide.
const longCell = 24

// shorten moves the long cells of the widest column of text to notes, or reports that all cells are short.
func (t *Table) shorten(m *measure, notes *int) bool {
	widest, most := -1, 0.0
	for j, c := range t.Columns {
		if j == 0 && t.columnWidth(m, 0) < m.limit*0.6 {
			continue // it names the rows
		}
		long := slices.ContainsFunc(t.Rows, func(row []string) bool { return displayWidth(row[j]) > longCell })
		if w := t.columnWidth(m, j); !c.Right && long && w > most {
			widest, most = j, w
		}
	}
	if widest < 0 {
		return false
	}
	marks := map[string]string{}
	for i, row := range t.Rows {
		cell := row[widest]
		if displayWidth(cell) <= longCell {
			continue
		}
		if marks[cell] == "" {
			*notes++
			marks[cell] = fmt.Sprintf("note %d", *notes)
			t.Notes = append(t.Notes, fmt.Sprintf("note %d: %s", *notes, cell))
		}
		t.Rows[i] = slices.Clone(row)
		t.Rows[i][widest] = marks[cell]
	}
	return true
}

// split splits the table by columns into pieces that fit. Each begins with the columns that name the rows: the first
// ones with text or a number of tasks, n, if they leave a third of the page. A later piece leaves out rows whose other
// cells are empty.
func (t *Table) split(m *measure) (pieces []Table) {
	keys := []int{0}
	for j := 1; j < len(t.Columns) && t.width(m, append(keys, j)) < m.limit*2/3; j++ {
		if c := t.Columns[j]; c.Right && c.Name != "n" {
			break
		}
		keys = append(keys, j)
	}
	group := slices.Clone(keys)
	for j := len(keys); j < len(t.Columns); j++ {
		if len(group) > len(keys) && t.width(m, append(group, j)) > m.limit {
			pieces = append(pieces, *t.keep(group))
			group = slices.Clone(keys)
		}
		group = append(group, j)
	}
	pieces = append(pieces, *t.keep(group))
	onlyKeys := func(row []string) bool { return strings.Join(row[len(keys):], "") == "" }
	for i := range pieces {
		if i > 0 {
			pieces[i].Title, pieces[i].Rows = "", slices.DeleteFunc(pieces[i].Rows, onlyKeys)
		}
		if i < len(pieces)-1 {
			pieces[i].Notes = nil
		}
	}
	return pieces
}

// Folded breaks a text into lines of at most [PageColumns] characters. A longer word has a line of its own.
func Folded(text string) []string {
	return wrapBy(uniseg.StringWidth, wordsWithin(text, PageColumns), PageColumns)
}
