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
	var latex bytes.Buffer
	table.Encode(&latex, "latex")
	got := pieces.String()
	for line := range strings.Lines(got) {
		if n := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); strings.HasPrefix(line, "|") && n > PageColumns {
			t.Errorf("a line of %d: %s", n, line)
		}
	}
	if n := strings.Count(got, "12.345 (23.456)"); n != 18 {
		t.Errorf("%d of 18 cells", n)
	}
	if n := strings.Count(got, "GOODSCALING WIDETIMES"); n < 2 {
		t.Errorf("a piece lacks the names of its rows:\n%s", got)
	}
	if !strings.Contains(latex.String(), `\small`) || !strings.Contains(latex.String(), `\shortstack[r]{`) {
		t.Errorf("the LaTeX has no heading over several lines:\n%s", latex.String())
	}
}

// TestPiecesNameTheirRows: each piece of a table that is too wide begins with the columns of text and with the number
// of tasks, n, by which its rows differ.
func TestPiecesNameTheirRows(t *testing.T) {
	table := Table{Columns: Left("workload", "batches").Right("n")}
	for _, limit := range []string{"reversing", "any number", "the work spread evenly", "so many"} {
		table.Columns = table.Columns.Right("moves and swaps gain at most with "+limit, "print beside "+limit)
	}
	for _, n := range []string{"10", "20", "30"} {
		table.Rows = append(table.Rows, append([]string{"POORSCALING WIDETIMES", "text, p_sup = 50 %", n}, strings.Fields("1 2 3 4 5 6 7 8")...))
	}
	pieces := table.Fit()
	if len(pieces) < 2 {
		t.Errorf("%d pieces", len(pieces))
	}
	for i, p := range pieces {
		if p.Columns[1].Name != "batches" || p.Columns[2].Name != "n" || p.Rows[1][2] != "20" {
			t.Errorf("piece %d has the columns %v", i, p.Columns)
		}
	}
}

// TestLaterPiecesLeaveOutEmptyRows: a piece after the first one has no row that is only named.
func TestLaterPiecesLeaveOutEmptyRows(t *testing.T) {
	table := Table{Columns: Left("number").Right(strings.Repeat("measured ", 8), strings.Repeat("enough ", 8))}
	table.Rows = [][]string{{"a", "1", ""}, {"b", "2", "20"}, {"c", "3", ""}}
	pieces := table.Fit()
	if len(pieces) != 2 || len(pieces[0].Rows) != 3 || len(pieces[1].Rows) != 1 || pieces[1].Rows[0][0] != "b" {
		t.Errorf("pieces %v", pieces)
	}
}
