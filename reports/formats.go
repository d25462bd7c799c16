package reports

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"miglab/harness/nearest"
)

// markdownSpecial are the characters that GitHub's Markdown would read as markup within a table cell.
var markdownSpecial = strings.NewReplacer(
	`\`, `\\`, `|`, `\|`, `*`, `\*`, `_`, `\_`, "`", "\\`", `[`, `\[`, `]`, `\]`,
	`<`, `&lt;`, `>`, `&gt;`, `~`, `\~`, `&`, `&amp;`,
)

// EscapeMarkdown returns text as the cells of tables in Markdown have it.
func EscapeMarkdown(text string) string { return markdownSpecial.Replace(text) }

// escapeNote is [EscapeMarkdown] for sentences: text between backticks stays as it is.
func escapeNote(text string) string {
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 { // a backtick without another
		return EscapeMarkdown(text)
	}
	for i := 0; i < len(parts); i += 2 {
		parts[i] = EscapeMarkdown(parts[i])
	}
	return strings.Join(parts, "`")
}

// markdown writes GitHub's dialect: the title in bold, the rows, each note as a paragraph. Cells are literal.
func (t *Table) markdown(w *bufio.Writer) {
	t = t.mergeColumns()
	if t.Title != "" {
		fmt.Fprintln(w, "**"+markdownSpecial.Replace(t.Title)+"**")
		fmt.Fprintln(w)
	}
	names := nearest.Names(t.names(), EscapeMarkdown)
	rows := make([][]string, len(t.Rows))
	for i, r := range t.Rows {
		rows[i] = nearest.Names(r, EscapeMarkdown)
	}
	widths := t.widths(names, rows)
	for j := range widths {
		widths[j] = max(widths[j], len("--:"))
	}
	row := func(cells []string) { fmt.Fprintln(w, "| "+strings.Join(t.pad(cells, widths), " | ")+" |") }
	row(names)
	rules := make([]string, len(widths))
	for j, n := range widths {
		rules[j] = strings.Repeat("-", n)
		if t.Columns[j].Right {
			rules[j] = rules[j][1:] + ":"
		}
	}
	row(rules)
	for _, r := range rows {
		row(r)
	}
	for _, n := range t.Notes {
		fmt.Fprintln(w)
		fmt.Fprintln(w, escapeNote(n))
	}
}

// latexSpecials has, for each character that is a command in LaTeX or missing in its text fonts, what to
// write. Brackets and stars are in braces, because at the beginning of a row LaTeX would read them as
// arguments of the line break before it.
//
//go:embed latex.txt
var latexSpecials string

var latexSpecial = strings.NewReplacer(append(strings.Fields(latexSpecials), "\u00a0", "~")...)

// latex writes table environments for the booktabs package, the first with the title as its caption. A table that is
// wider than [PageCentimetres] gets headings over several lines, notes and pieces until it fits, and one that is longer
// than a page is split by rows.
func (t *Table) latex(w *bufio.Writer) {
	pieces, m := t.fit(latexMeasure)
	for i := range pieces {
		rows := pieces[i].Rows
		for {
			part := pieces[i]
			part.Rows = rows[:min(len(rows), pageRows)]
			rows = rows[len(part.Rows):]
			if len(rows) > 0 {
				part.Notes = nil
			}
			part.latexTable(w, m)
			if len(rows) == 0 {
				break
			}
			pieces[i].Title = ""
		}
	}
}

// latexTable writes one table environment. Cells are taken literally: special characters are escaped, and Greek letters
// and common signs become mathematics.
func (t *Table) latexTable(w *bufio.Writer, m *measure) {
	fmt.Fprintln(w, `\begin{table}`)
	fmt.Fprintln(w, `\centering`)
	if m.stacks {
		fmt.Fprintln(w, `\small`)
	}
	if t.Title != "" {
		fmt.Fprintln(w, `\caption{`+latexSpecial.Replace(t.Title)+`}`)
	}
	alignment := ""
	heads := make([]string, len(t.Columns))
	for j, c := range t.Columns {
		side := "l"
		if c.Right {
			side = "r"
		}
		alignment += side
		heads[j] = latexSpecial.Replace(c.Name)
		if lines := m.heading(c.Name, t.cellWidth(latexPoints, j)); len(lines) > 1 {
			stacked := strings.Join(nearest.Names(lines, latexSpecial.Replace), `\\`)
			heads[j] = `\shortstack[` + side + `]{` + stacked + `}`
		}
	}
	row := func(cells []string) { fmt.Fprintln(w, strings.Join(cells, " & ")+` \\`) }
	fmt.Fprintln(w, `\begin{tabular}{`+alignment+`}`)
	fmt.Fprintln(w, `\toprule`)
	row(heads)
	fmt.Fprintln(w, `\midrule`)
	for _, r := range t.Rows {
		row(nearest.Names(r, latexSpecial.Replace))
	}
	fmt.Fprintln(w, `\bottomrule`)
	fmt.Fprintln(w, `\end{tabular}`)
	for _, n := range t.Notes {
		for i, line := range Folded(`\par\footnotesize ` + latexSpecial.Replace(n)) {
			if i > 0 {
				line = "  " + line
			}
			fmt.Fprintln(w, line)
		}
	}
	fmt.Fprintln(w, `\end{table}`)
}

// latexWidths are the widths of characters in Computer Modern Roman of 10 points, in hundredths of a point. Characters
// that are not listed count as the widest.
//
//go:embed latexwidths.txt
var latexWidths string

var latexWidthOf = sync.OnceValue(func() map[rune]float64 {
	out := map[rune]float64{' ': 3.33}
	for line := range strings.Lines(latexWidths) {
		hundredths, characters, _ := strings.Cut(strings.TrimSpace(line), " ")
		width, err := strconv.ParseFloat(hundredths, 64)
		if err != nil {
			panic("reports: latexwidths.txt: " + err.Error())
		}
		for _, r := range characters {
			out[r] = width / 100
		}
	}
	return out
})

// latexPoints estimates how wide LaTeX sets a text.
func latexPoints(text string) (sum float64) {
	const widest = 11
	for _, r := range text {
		width, ok := latexWidthOf()[r]
		if !ok {
			width = widest
		}
		sum += width
	}
	return sum
}

// json writes an array with an object for each row, without title and notes. In columns of numbers a number stands
// as it is, and a cell without a value is null. All other cells are strings.
func (t *Table) json(w *bufio.Writer) {
	rows := make([]string, len(t.Rows))
	for i, row := range t.Rows {
		members := make([]string, len(row))
		for j, cell := range row {
			members[j] = jsonText(t.Columns[j].Name) + ": " + t.Columns[j].value(cell)
		}
		rows[i] = "\n  {" + strings.Join(members, ", ") + "}"
	}
	fmt.Fprintln(w, "["+strings.Join(rows, ",")+"\n]")
}

func (c Column) value(cell string) string {
	switch {
	case c.Right && (cell == Missing || cell == ""):
		return "null"
	case c.Right && !strings.ContainsAny(cell[:1], `"[{`) && json.Valid([]byte(cell)):
		return cell
	}
	return jsonText(cell)
}

func jsonText(text string) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string never fails
	return strings.TrimSuffix(out.String(), "\n")
}
