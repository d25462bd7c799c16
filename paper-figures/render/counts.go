package render

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"miglab/harness/nearest"
	"miglab/reports"
)

// countsTable returns an empty table of counts by paper and name.
func countsTable[N ~string](names []N) *reports.Table {
	// HANGS ON THE READING is too long for a heading.
	head := func(n N) string { return strings.TrimSuffix(string(n), " ON THE READING") }
	return &reports.Table{Columns: reports.Left("paper").Right(nearest.Names(names, head)...).Right("all")}
}

// countsRow adds the counts of a paper.
func countsRow[N ~string](t *reports.Table, names []N, paper string, counts map[N]int) {
	sum := 0
	for _, n := range names {
		sum += counts[n]
	}
	t.Row(paper, nearest.Names(names, func(n N) string { return strconv.Itoa(counts[n]) }), sum)
}

// blank returns a count, and "" for 0.
func blank(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// markdown returns a table as Markdown that fits a page.
func markdown(t *reports.Table) (string, error) {
	var b strings.Builder
	for _, piece := range t.Fit() {
		if err := piece.Encode(&b, "markdown"); err != nil {
			return "", err
		}
		b.WriteString("\n")
	}
	return strings.TrimSpace(b.String()), nil
}

// linkPapers links the names of papers that begin a row to their pages, and removes padding from these rows.
func (r *run) linkPapers(table string) string {
	for _, p := range r.Papers {
		begin := regexp.MustCompile(`(?m)^\| ` + p.Name + ` +\|.*$`)
		table = begin.ReplaceAllStringFunc(table, func(line string) string {
			_, rest, _ := strings.Cut(line[1:], "|")
			return strings.Join(strings.Fields(fmt.Sprintf("| [%s](%[1]s/README.md) |%s", p.Name, rest)), " ")
		})
	}
	return table
}
