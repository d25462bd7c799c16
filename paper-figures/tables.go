package figures

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/reports"
)

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

// Claims are what the data files of a paper say: its claims, and the texts of tables.csv.
type Claims struct {
	*claim.Set
	// heads are the lines of tables.csv, see [Load].
	heads []tablePart
}

// A tablePart is a line of tables.csv: a table's title, note, or column of text or numbers; a title of the paper
// (parts paper, cite) or an artefact (artefact, or timed if it is about wall times); or any other text (words).
type tablePart struct {
	Table string `csv:"table"`
	Part  string `csv:"part"`
	Text  string `csv:"text"`
}

// Title returns the title of an artefact.
func (c *Claims) Title(artefact string) string { return c.text(artefact, "artefact") }

// Words returns a text of the part words, with values as [Claims.Head] fills them in.
func (c *Claims) Words(name string, values ...any) string {
	return fill(c.text(name, "words"), values)
}

// partOf returns what tables.csv has for a part of a table.
func (c *Claims) partOf(table, part string) (text string, ok bool) {
	i := slices.IndexFunc(c.heads, func(p tablePart) bool { return p.Table == table && p.Part == part })
	if i < 0 {
		return "", false
	}
	return c.heads[i].Text, true
}

// text is [Claims.partOf] for a part that must be there.
func (c *Claims) text(table, part string) string {
	text, ok := c.partOf(table, part)
	if !ok {
		panic(fmt.Sprintf("figures: tables.csv has no %s of %q", part, table))
	}
	return text
}

// blanks are the places of values in a text.
var blanks = regexp.MustCompile(`\{[0-9]+\}`)

// fill replaces {1}, {2} and so on by values. It panics if a value is missing.
func fill(text string, values []any) string {
	return blanks.ReplaceAllStringFunc(text, func(blank string) string {
		n, _ := strconv.Atoi(strings.Trim(blank, "{}"))
		if n < 1 || n > len(values) {
			panic(fmt.Sprintf("figures: tables.csv: no value for %s of %q", blank, text))
		}
		return fmt.Sprint(values[n-1])
	})
}

// Head returns the title, the columns and the notes that tables.csv has for a table. The values are
// for {1}, {2} and so on in the texts. It panics on a mistake in the file, which is a part of the program.
func (c *Claims) Head(table string, values ...any) *Table {
	t := &Table{File: table}
	for _, p := range c.heads {
		if p.Table != table {
			continue
		}
		switch p.Part {
		case "title":
			t.Title = fill(p.Text, values)
		case "text":
			t.Columns = t.Columns.Left(fill(p.Text, values))
		case "number":
			t.Columns = t.Columns.Right(fill(p.Text, values))
		case "plusminus":
			t.Columns = t.Columns.PlusMinus(fill(p.Text, values))
		case "note":
			t.Notes = append(t.Notes, fill(p.Text, values))
		}
	}
	if t.Columns == nil {
		panic(fmt.Sprintf("figures: tables.csv has no columns of %q", table))
	}
	return t
}
