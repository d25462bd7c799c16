package site

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"
)

// clusters is a page of the documentation and of every site.
//
//go:embed CLUSTERS.md
var clusters string

// document marks up what the page uses of Markdown: headings, paragraphs, lists of one level and fenced blocks.
func document(text string) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(text, "```") {
		if i%2 == 1 {
			_, part, _ = strings.Cut(part, "\n")
			b.WriteString(`<div class="scroll" tabindex="0" role="region" aria-label="Commands, or what they print">`)
			fmt.Fprintf(&b, "<pre>%s</pre></div>\n", template.HTMLEscapeString(part))
			continue
		}
		for _, block := range strings.Split(strings.Trim(part, "\n"), "\n\n") {
			kind, rest, _ := strings.Cut(block, " ")
			switch kind {
			case "":
			case "#", "##":
				fmt.Fprintf(&b, "<h%d>%s</h%[1]d>\n", len(kind), code(rest))
			case "-":
				fmt.Fprintf(&b, "<ul><li>%s</li></ul>\n", strings.ReplaceAll(string(code(rest)), "\n- ", "</li>\n<li>"))
			default:
				fmt.Fprintf(&b, "<p>%s</p>\n", code(block))
			}
		}
	}
	return template.HTML(b.String())
}
