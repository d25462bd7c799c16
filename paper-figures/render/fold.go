package render

import (
	"regexp"
	"strings"

	"miglab/reports"
)

// notFolded matches lines that must stay whole: rows of tables, headings, images and tags.
var notFolded = regexp.MustCompile(`^(\||#|!\[|<|\[<)`)

// item matches the mark of a list's item, with its indentation.
var item = regexp.MustCompile(`^ *(?:[-*] |\d+\. )?`)

// startsBlock matches words that would begin a list, a heading or a quote at the beginning of a line.
var startsBlock = regexp.MustCompile(`^(?:[-+*=#>|]+|\d+[.)])$`)

// fold breaks the long lines of a page, and leaves one blank line between blocks. Further lines of a list's item are
// indented.
func fold(page string) string {
	var out []string
	blank := false
	for line := range strings.SplitSeq(page, "\n") {
		if line = strings.TrimRight(line, " "); line == "" {
			blank = true
			continue
		}
		if blank && out != nil {
			out = append(out, "")
		}
		blank = false
		if notFolded.MatchString(line) {
			out = append(out, line)
			continue
		}
		start := item.FindString(line)
		for _, part := range foldLine(line[len(start):], reports.PageColumns-len(start)) {
			out = append(out, start+part)
			start = strings.Repeat(" ", len(start))
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// foldLine breaks a line between words, and never before one that would begin a block.
func foldLine(line string, width int) (out []string) {
	current := ""
	for _, word := range strings.Fields(line) {
		switch {
		case current == "":
			current = word
		case len([]rune(current))+1+len([]rune(word)) > width && !startsBlock.MatchString(word):
			out = append(out, current)
			current = word
		default:
			current += " " + word
		}
	}
	return append(out, current)
}
