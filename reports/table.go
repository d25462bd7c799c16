package reports

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"miglab/harness/atomicfile"
	"miglab/harness/nearest"
)

// A Column is a column of a [Table].
type Column struct {
	Name string `json:"name"` // the heading, with the unit where there is one
	// Right aligns the cells to the right, as numbers are.
	Right bool `json:"right,omitempty"`
	// Join makes the column a part of the one before it where people read the table: "±" before a half-width, "("
	// around a number to compare with. In CSV it is a column of its own.
	Join string `json:"join,omitempty"`
}

// Columns are the columns of a [Table], from left to right.
type Columns []Column

// Left begins with columns of text.
func Left(names ...string) Columns { return Columns(nil).Left(names...) }

// Right begins with columns of numbers, which are aligned to the right.
func Right(names ...string) Columns { return Columns(nil).Right(names...) }

// Left appends columns of text.
func (c Columns) Left(names ...string) Columns { return c.add(names, false) }

// Right appends columns of numbers.
func (c Columns) Right(names ...string) Columns { return c.add(names, true) }

// PlusMinus appends columns of numbers, each followed by a column of half-widths.
func (c Columns) PlusMinus(names ...string) Columns {
	for _, n := range names {
		c = append(c, Column{n, true, ""}, Column{n + " ±", true, "±"})
	}
	return c
}

// Beside appends a column of numbers and one of numbers to compare with, shown in brackets.
func (c Columns) Beside(name, other string) Columns {
	return append(c, Column{name, true, ""}, Column{other, true, "("})
}

func (c Columns) add(names []string, right bool) Columns {
	for _, n := range names {
		c = append(c, Column{n, right, ""})
	}
	return c
}

// A Table is a table of strings.
type Table struct {
	// Title is printed above the table, and is its caption in LaTeX; "" leaves it out.
	Title   string  `json:"title,omitempty"`
	Columns Columns `json:"columns"`
	// Rows have one cell for each column.
	Rows  [][]string `json:"rows"`
	Notes []string   `json:"notes,omitempty"` // printed below the table, each on its own line
}

// Row appends a row. A cell is anything that [fmt.Sprint] formats. A []string or [][]string is several cells.
func (t *Table) Row(cells ...any) {
	var row []string
	for _, c := range cells {
		switch c := c.(type) {
		case []string:
			row = append(row, c...)
		case [][]string:
			row = append(row, slices.Concat(c...)...)
		default:
			row = append(row, fmt.Sprint(c))
		}
	}
	t.Rows = append(t.Rows, row)
}

// Grouped divides a list wherever the key changes from one element to the next, and yields the parts.
func Grouped[T any, K comparable](all []T, key func(*T) K) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		from := 0
		for to := 1; to <= len(all); to++ {
			if to < len(all) && key(&all[to]) == key(&all[from]) {
				continue
			}
			if !yield(all[from:to:to]) {
				return
			}
			from = to
		}
	}
}

// TableFormats lists the formats of [Table.Encode].
var TableFormats = []string{"text", "csv", "markdown", "latex", "json"}

// tableFormats has the encoders in the order of TableFormats, each with the extension of the file that [Table.Save]
// writes; "" if it writes none.
var tableFormats = []struct {
	extension string
	write     func(*Table, *bufio.Writer)
}{
	{"", func(t *Table, w *bufio.Writer) { t.textWithin(w, 0) }},
	{".csv", (*Table).csv},
	{".md", (*Table).markdown},
	{".tex", (*Table).latex},
	{"", (*Table).json},
}

// mergeColumns returns the table as people read it: joined columns are part of the columns before them.
func (t *Table) mergeColumns() *Table {
	out := *t
	out.Columns = nil
	for _, c := range t.Columns {
		if c.Join == "" {
			out.Columns = append(out.Columns, c)
		}
	}
	out.Rows = make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		for j, cell := range row {
			last := len(out.Rows[i]) - 1
			switch join := t.Columns[j].Join; {
			case join == "":
				out.Rows[i] = append(out.Rows[i], cell)
			case cell == "":
			case join == "(":
				out.Rows[i][last] += " (" + cell + ")"
			default:
				out.Rows[i][last] += " " + join + " " + cell
			}
		}
	}
	return &out
}

// Encode writes the table in one of [TableFormats]. The error is a [*nearest.UnknownError] for another format, says
// what is malformed in the table, or is an error of w.
func (t *Table) Encode(w io.Writer, format string) error {
	i := slices.Index(TableFormats, format)
	if i < 0 {
		return nearest.Unknown("format", format, TableFormats)
	}
	return t.write(w, tableFormats[i].write)
}

func (t *Table) write(w io.Writer, format func(*Table, *bufio.Writer)) error {
	if err := t.validate(); err != nil {
		return err
	}
	b := bufio.NewWriter(w) // keeps the first error
	format(t, b)
	return b.Flush()
}

// Text writes the table for a terminal. Columns are padded to their display width, which
// differs from the number of characters in non-Latin text. Lines have no trailing spaces.
func (t *Table) Text(w io.Writer) error { return t.Encode(w, "text") }

// csv writes the headings and the rows as RFC 4180 says. It leaves out the title and the notes.
func (t *Table) csv(w *bufio.Writer) {
	_ = csv.NewWriter(w).WriteAll(append([][]string{t.names()}, t.Rows...))
}

// Save writes base.csv, base.md and base.tex, each replaced as a whole.
func (t *Table) Save(base string) error {
	for i, f := range tableFormats {
		if f.extension == "" {
			continue
		}
		write := func(w io.Writer) error { return t.Encode(w, TableFormats[i]) }
		if err := atomicfile.WriteFile(base+f.extension, write); err != nil {
			return err
		}
	}
	return nil
}

// Without leaves out the named columns.
func (t *Table) Without(names ...string) *Table {
	return t.filter(func(j int) bool { return !slices.Contains(names, t.Columns[j].Name) })
}

// WithoutEmpty leaves out columns in which every cell is empty or [Missing]. A table without rows keeps all columns.
func (t *Table) WithoutEmpty() *Table {
	return t.filter(func(j int) bool {
		isFilled := func(row []string) bool { return row[j] != Missing && row[j] != "" }
		return len(t.Rows) == 0 || slices.ContainsFunc(t.Rows, isFilled)
	})
}

func (t *Table) filter(keeps func(column int) bool) *Table {
	var kept []int
	for j := range t.Columns {
		if keeps(j) {
			kept = append(kept, j)
		}
	}
	return t.keep(kept)
}

// keep returns the table of the columns with these indices.
func (t *Table) keep(columns []int) *Table {
	out := *t
	out.Columns, out.Rows = nil, make([][]string, len(t.Rows))
	for _, j := range columns {
		out.Columns = append(out.Columns, t.Columns[j])
		for i, row := range t.Rows {
			out.Rows[i] = append(out.Rows[i], row[j])
		}
	}
	return &out
}

// Select keeps the columns of these names, in their order. An unknown name is a [*nearest.UnknownError].
func (t *Table) Select(names []string) (Table, error) {
	var kept []int
	for _, name := range names {
		j := slices.Index(t.names(), name)
		if j < 0 {
			return Table{}, nearest.Unknown("column", name, t.names())
		}
		kept = append(kept, j)
	}
	return *t.keep(kept), nil
}

// validate refuses what no format can show. Line breaks are refused because a row of text is one line.
func (t *Table) validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("table %q: %s", t.Title, fmt.Sprintf(format, args...))
	}
	if len(t.Columns) == 0 {
		return bad("it has no columns")
	}
	texts := slices.Concat([]string{t.Title}, t.names(), t.Notes)
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return bad("row %d has %d cells, and the table %d columns", i+1, len(row), len(t.Columns))
		}
		texts = append(texts, row...)
	}
	for _, text := range texts {
		if strings.ContainsAny(text, "\n\r\t") {
			return bad("%q holds a line break or a tab", text)
		}
	}
	return nil
}

func (t *Table) names() []string {
	return nearest.Names(t.Columns, func(c Column) string { return c.Name })
}
