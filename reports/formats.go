package reports

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"miglab/harness/nearest"
)

// markdownSpecial are the characters that GitHub's Markdown would read as markup within a table cell.
var markdownSpecial = strings.NewReplacer(
	`\`, `\\`, `|`, `\|`, `*`, `\*`, `_`, `\_`, "`", "\\`", `[`, `\[`, `]`, `\]`,
	`<`, `&lt;`, `>`, `&gt;`, `~`, `\~`, `&`, `&amp;`,
)

// EscapeMarkdown returns text as the cells of tables in Markdown have it.
func EscapeMarkdown(text string) string { return markdownSpecial.Replace(text) }

// markdown writes GitHub's dialect: the title in bold, the rows, each note as a paragraph. Cells are literal.
func (t *Table) markdown(w *bufio.Writer) {
	t = t.joined()
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
		fmt.Fprintln(w, markdownSpecial.Replace(n))
	}
}

// latexSpecials has, for each character that is a command in LaTeX or missing in its text fonts, what to
// write. Brackets and stars are in braces, because at the beginning of a row LaTeX would read them as
// arguments of the line break before it.
//
//go:embed latex.txt
var latexSpecials string

var latexSpecial = strings.NewReplacer(append(strings.Fields(latexSpecials), "\u00a0", "~")...)

// latex writes a table environment for the booktabs package, with the title as its caption. Cells are taken
// literally: special characters are escaped, and Greek letters and common signs become mathematics.
func (t *Table) latex(w *bufio.Writer) {
	t = t.joined()
	fmt.Fprintln(w, `\begin{table}`)
	fmt.Fprintln(w, `\centering`)
	if t.Title != "" {
		fmt.Fprintln(w, `\caption{`+latexSpecial.Replace(t.Title)+`}`)
	}
	alignment := ""
	for _, c := range t.Columns {
		if c.Right {
			alignment += "r"
		} else {
			alignment += "l"
		}
	}
	row := func(cells []string) {
		fmt.Fprintln(w, strings.Join(nearest.Names(cells, latexSpecial.Replace), " & ")+` \\`)
	}
	fmt.Fprintln(w, `\begin{tabular}{`+alignment+`}`)
	fmt.Fprintln(w, `\toprule`)
	row(t.names())
	fmt.Fprintln(w, `\midrule`)
	for _, r := range t.Rows {
		row(r)
	}
	fmt.Fprintln(w, `\bottomrule`)
	fmt.Fprintln(w, `\end{tabular}`)
	for _, n := range t.Notes {
		fmt.Fprintln(w, `\par\footnotesize `+latexSpecial.Replace(n))
	}
	fmt.Fprintln(w, `\end{table}`)
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
