package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/rivo/uniseg"

	"miglab/harness/nearest"
)

// TextWithin writes the table for a terminal of so many columns. Long cells of text continue on the next lines, and no
// word is cut. A width of 0 means no limit.
func (t *Table) TextWithin(w io.Writer, width int) error {
	return t.write(w, func(t *Table, b *bufio.Writer) { t.textWithin(b, width) })
}

func (t *Table) textWithin(w *bufio.Writer, width int) {
	t = t.mergeColumns()
	rows, widths := t.Rows, t.widths(t.names(), t.Rows)
	if width > 0 {
		t.narrow(widths, width)
		rows = wrapRows(rows, widths)
	}
	if t.Title != "" {
		fmt.Fprintln(w, t.Title)
		fmt.Fprintln(w)
	}
	row := func(cells []string) {
		fmt.Fprintln(w, strings.TrimRight(strings.Join(t.pad(cells, widths), "  "), " "))
	}
	row(t.names())
	row(nearest.Names(widths, func(n int) string { return strings.Repeat("-", n) }))
	for _, r := range rows {
		row(r)
	}
	if len(t.Notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, n := range t.Notes {
		fmt.Fprintln(w, n)
	}
}

// narrow lowers the widths of the widest columns of text until the table fits, or until they are hard to read.
func (t *Table) narrow(widths []int, width int) {
	const least, between = 16, 2
	total := between * (len(widths) - 1)
	for _, n := range widths {
		total += n
	}
	for ; total > width; total-- {
		widest := -1
		for j, n := range widths {
			floor := max(least, uniseg.StringWidth(t.Columns[j].Name))
			if !t.Columns[j].Right && n > floor && (widest < 0 || n > widths[widest]) {
				widest = j
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// wrapRows splits rows into lines whose cells fit into the widths, except for words that are wider.
func wrapRows(rows [][]string, widths []int) (out [][]string) {
	for _, row := range rows {
		first := len(out)
		for j, cell := range row {
			for i, line := range wrapBy(uniseg.StringWidth, wordsWithin(cell, widths[j]), widths[j]) {
				if first+i == len(out) {
					out = append(out, make([]string, len(row)))
				}
				out[first+i][j] = line
			}
		}
	}
	return out
}

// wordsWithin splits text after spaces. A word that is wider than width is split where a line may end, too.
func wordsWithin(text string, width int) (out []string) {
	for _, word := range strings.SplitAfter(text, " ") {
		if uniseg.StringWidth(word) > width {
			out = append(out, words(word)...)
		} else {
			out = append(out, word)
		}
	}
	return out
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

// pad fills cells with spaces up to the widths.
func (t *Table) pad(cells []string, widths []int) []string {
	out := make([]string, len(cells))
	for j, c := range cells {
		space := strings.Repeat(" ", max(0, widths[j]-uniseg.StringWidth(c))) // a long word takes more
		if t.Columns[j].Right {
			out[j] = space + c
		} else {
			out[j] = c + space
		}
	}
	return out
}
