package reports

import "strings"

// markdownSpecial are the characters that GitHub's Markdown would read as markup
// within a table cell.
var markdownSpecial = strings.NewReplacer(
	`\`, `\\`, `|`, `\|`, `*`, `\*`, `_`, `\_`, "`", "\\`", `[`, `\[`, `]`, `\]`,
	`<`, `&lt;`, `>`, `&gt;`, `~`, `\~`, `&`, `&amp;`,
)

// markdown writes the table in GitHub's dialect: the title in bold above it, each
// note as a paragraph below. Cells are taken literally.
func (t *Table) markdown(p *printer) {
	t = t.joined()
	if t.Title != "" {
		p.line("**" + markdownSpecial.Replace(t.Title) + "**")
		p.line("")
	}
	names := escaped(markdownSpecial, t.names())
	rows := make([][]string, len(t.Rows))
	for i, r := range t.Rows {
		rows[i] = escaped(markdownSpecial, r)
	}
	widths := t.widths(names, rows)
	for j := range widths {
		widths[j] = max(widths[j], len("--:"))
	}
	row := func(cells []string) { p.line("| " + strings.Join(t.pad(cells, widths), " | ") + " |") }
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
		p.line("")
		p.line(markdownSpecial.Replace(n))
	}
}

func escaped(r *strings.Replacer, cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = r.Replace(c)
	}
	return out
}
