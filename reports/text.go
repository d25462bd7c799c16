package reports

import (
	"io"
	"strings"

	"github.com/rivo/uniseg"
)

// Text writes the table for a terminal. Columns are padded to their display width, which
// differs from the number of characters in non-Latin text. Lines have no trailing spaces.
func (t *Table) Text(w io.Writer) error {
	if err := t.validate(); err != nil {
		return err
	}
	p := printer{w: w}
	if t.Title != "" {
		p.line(t.Title)
		p.line("")
	}
	widths := t.widths(t.names(), t.Rows)
	row := func(cells []string) {
		p.line(strings.TrimRight(strings.Join(t.pad(cells, widths), "  "), " "))
	}
	row(t.names())
	rules := make([]string, len(widths))
	for i, n := range widths {
		rules[i] = strings.Repeat("-", n)
	}
	row(rules)
	for _, r := range t.Rows {
		row(r)
	}
	if len(t.Notes) > 0 {
		p.line("")
	}
	for _, n := range t.Notes {
		p.line(n)
	}
	return p.err
}

// widths returns each column's display width, at least 1.
func (t *Table) widths(names []string, rows [][]string) []int {
	out := make([]int, len(names))
	for j, n := range names {
		out[j] = max(1, uniseg.StringWidth(n))
		for _, r := range rows {
			out[j] = max(out[j], uniseg.StringWidth(r[j]))
		}
	}
	return out
}

// pad fills the cells of a row up to the columns' widths.
func (t *Table) pad(cells []string, widths []int) []string {
	out := make([]string, len(cells))
	for j, c := range cells {
		space := strings.Repeat(" ", widths[j]-uniseg.StringWidth(c))
		if t.Columns[j].Right {
			out[j] = space + c
		} else {
			out[j] = c + space
		}
	}
	return out
}
