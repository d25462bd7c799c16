package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// wide is a table that fits no page: long words, long headings and many columns.
func wide() Table {
	t := Table{Title: "wide", Columns: Left("workload", "where it comes from"), Notes: []string{strings.Repeat("a note that goes on ", 20)}}
	for _, n := range []string{"10", "15", "20", "25", "30", "35"} {
		t.Columns = t.Columns.Beside("n="+n+" p_multi-batch by the script", "published")
	}
	for _, w := range []string{"POORSCALING", "MIXEDSCALING", "GOODSCALING"} {
		row := []string{w + " WIDETIMES", strings.Repeat("words about "+w+" ", 9)}
		for range 6 {
			row = append(row, "12.345", "23.456")
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// TestTablesFitPages: no line of a wide table is wider than a page in any format, and every cell is still there.
func TestTablesFitPages(t *testing.T) {
	table := wide()
	var pieces strings.Builder
	for _, p := range table.Fit() {
		if err := p.Encode(&pieces, "markdown"); err != nil {
			t.Fatal(err)
		}
	}
	var text, latex bytes.Buffer
	table.write(&text, (*Table).pageText)
	table.Encode(&latex, "latex")
	for format, got := range map[string]string{"markdown": pieces.String(), "text": text.String()} {
		for line := range strings.Lines(got) {
			row := format == "text" || strings.HasPrefix(line, "|")
			if n := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); row && n > PageColumns {
				t.Errorf("%s: a line of %d: %s", format, n, line)
			}
		}
		if n := strings.Count(got, "12.345 (23.456)"); n != 18 {
			t.Errorf("%s: %d of 18 cells", format, n)
		}
		if n := strings.Count(got, "GOODSCALING WIDETIMES"); n < 2 {
			t.Errorf("%s: a piece lacks the names of its rows:\n%s", format, got)
		}
	}
	if !strings.Contains(latex.String(), `\small`) || !strings.Contains(latex.String(), `\shortstack[r]{`) {
		t.Errorf("the LaTeX has no heading over several lines:\n%s", latex.String())
	}
}
