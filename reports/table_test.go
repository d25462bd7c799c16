package reports

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"miglab/harness/mig"
)

// awkward has what each format must escape, and characters of every width.
var awkward = Table{
	Title: "Table 4: ρ & σ of FAR (100 % of 16 kernels, p_sup = 0)",
	Columns: []Column{
		{Name: "workload"},
		{Name: "ρ [1]", Right: true},
		{Name: "ρ half-width", Right: true, Join: "±"},
		{Name: "95 % interval"},
		{Name: "n", Right: true},
	},
	Rows: [][]string{
		{"MIXEDSCALING + WIDETIMES", Fixed(1.0649, 2), Fixed(0.031, 2), "[1.03, 1.10]", "10"},
		{"[p_sup = 50 %] {a|b} ~ ^ \\ $x# *", Fixed(1.2, 2), "", Missing, "1000"},
		{"日本語, \"quoted\" <b> `code`", Fixed(math.Inf(1), 2), "", "ω ≥ 3 µs × 2 → 6", "7"},
		{"", Fixed(math.NaN(), 2), "", "Σ − é", "-3"},
	},
	Notes: []string{"σ is the ratio of makespans; 1 % of runs_failed.", "Source: FAR & others."},
}

// golden compares with a file; what differs is written beside it as .got.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	want, err := os.ReadFile(path)
	if err == nil && bytes.Equal(got, want) {
		os.Remove(path + ".got")
		return
	}
	if werr := os.WriteFile(path+".got", got, 0o644); werr != nil {
		t.Error(werr)
	}
	t.Errorf("%s differs from %s.got (%v)", path, path, err)
}

func TestTableFormats(t *testing.T) {
	base := filepath.Join(t.TempDir(), "table")
	if err := awkward.Save(base); err != nil {
		t.Fatal(err)
	}
	extensions := map[string]string{"text": ".txt", "csv": ".csv", "markdown": ".md", "latex": ".tex", "json": ".json"}
	for _, format := range TableFormats {
		var b bytes.Buffer
		if err := awkward.Encode(&b, format); err != nil {
			t.Fatal(err)
		}
		golden(t, "table"+extensions[format], b.Bytes())
		saved, err := os.ReadFile(base + extensions[format])
		if format == "json" || format == "text" {
			if !os.IsNotExist(err) {
				t.Errorf("Save wrote %s (%v)", format, err)
			}
			continue
		}
		if err != nil || !bytes.Equal(saved, b.Bytes()) {
			t.Errorf("Save wrote something else for %s (%v)", format, err)
		}
	}
}

func TestEmptyTable(t *testing.T) {
	empty := Table{Columns: []Column{{Name: "a"}, {Name: ""}}}
	for format, want := range map[string]string{
		"text":     "a\n-  -\n",
		"csv":      "a,\n",
		"json":     "[\n]\n",
		"markdown": "| a   |     |\n| --- | --- |\n",
		"latex":    "\\begin{table}\n\\centering\n\\begin{tabular}{ll}\n\\toprule\na &  \\\\\n\\midrule\n\\bottomrule\n\\end{tabular}\n\\end{table}\n",
	} {
		var b bytes.Buffer
		if err := empty.Encode(&b, format); err != nil || b.String() != want {
			t.Errorf("%s: %q, %v; want %q", format, b.String(), err, want)
		}
	}
}

func TestMalformedTable(t *testing.T) {
	two := []Column{{Name: "a"}, {Name: "b"}}
	for _, c := range []struct {
		table Table
		want  string
	}{
		{Table{Title: "T"}, `table "T": it has no columns`},
		{Table{Title: "T", Columns: two, Rows: [][]string{{"1", "2"}, {"3"}}}, `table "T": row 2 has 1 cells, and the table 2 columns`},
		{Table{Title: "T", Columns: two, Rows: [][]string{{"1", "2\n3"}}}, `table "T": "2\n3" holds a line break or a tab`},
		{Table{Title: "T", Columns: []Column{{Name: "a\tb"}}}, `table "T": "a\tb" holds a line break or a tab`},
		{Table{Title: "T", Columns: two, Notes: []string{"x\r"}}, `table "T": "x\r" holds a line break or a tab`},
	} {
		for _, format := range TableFormats {
			var b bytes.Buffer
			err := c.table.Encode(&b, format)
			if err == nil || err.Error() != c.want {
				t.Errorf("%s: %v, want %s", format, err, c.want)
			}
			if b.Len() > 0 {
				t.Errorf("%s: %q was written", format, b.String())
			}
		}
	}
	if err := awkward.Encode(&bytes.Buffer{}, "html"); err == nil || !strings.HasPrefix(err.Error(), `unknown format "html"`) {
		t.Errorf("the error is %v", err)
	}
	base := filepath.Join(t.TempDir(), "t")
	if err := (&Table{}).Save(base); err == nil {
		t.Error("a table without columns was saved")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteErrorsArePassedOn(t *testing.T) {
	for _, format := range TableFormats {
		if err := awkward.Encode(brokenWriter{}, format); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: the error is %v", format, err)
		}
	}
	if err := awkward.TextWithin(brokenWriter{}, 40); !errors.Is(err, os.ErrClosed) {
		t.Errorf("within 40 columns: the error is %v", err)
	}
}

func TestCSVReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.StringMatching(`[a-z,";' é日]{0,6}`)
		n := rapid.IntRange(2, 4).Draw(t, "columns")
		table := Table{Columns: make([]Column, n)}
		for j := range table.Columns {
			table.Columns[j].Name = cells.Draw(t, "name")
		}
		table.Rows = rapid.SliceOf(rapid.SliceOfN(cells, n, n)).Draw(t, "rows")
		var b bytes.Buffer
		if err := table.Encode(&b, "csv"); err != nil {
			t.Fatal(err)
		}
		got, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, append([][]string{table.names()}, table.Rows...), slices.Equal) {
			t.Fatalf("read back %q", got)
		}
	})
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Fixed(1.005, 2), "1.00"},
		{Fixed(-0.001, 2), "0.00"},
		{Fixed(-0.01, 2), "-0.01"},
		{Fixed(math.Copysign(0, -1), 0), "0"},
		{Fixed(math.NaN(), 3), "–"},
		{Fixed(math.Inf(-1), 3), "-inf"},
		{Fixed(12, 0), "12"},
		{Duration(mig.Seconds(0.236)), "0.24 s"},
		{Duration(mig.Seconds(33.14)), "33.1 s"},
		{Duration(mig.Seconds(1210.4)), "1210 s"},
		{tickLabel(2e-7), "2e-07"},
		{tickLabel(0.30000000000000004), "0.3"},
		{tickLabel(3e100), "3e+100"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestLaTeXSpecials compares a cell a rule with what LaTeX's manual prescribes.
func TestLaTeXSpecials(t *testing.T) {
	for in, want := range map[string]string{
		"a_b": `a\_b`, "50 %": `50 \%`, "R&D": `R\&D`, "$1": `\$1`, "#1": `\#1`, "{x}": `\{x\}`,
		"~": `\textasciitilde{}`, "^": `\textasciicircum{}`, `\`: `\textbackslash{}`, "ρ": `$\rho$`, "σ": `$\sigma$`,
		"±": `$\pm$`, "[a]": `{[}a{]}`, "<": `$<$`,
	} {
		if got := latexSpecial.Replace(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if strings.Contains(latexSpecial.Replace(awkward.Title), "ρ") {
		t.Error("a Greek letter was left")
	}
}

func TestJSONOfNumbers(t *testing.T) {
	table := Table{Columns: Left("name").Right("n"), Rows: [][]string{{"1", "1.50"}, {Missing, Missing}, {"<a>", "inf"}, {"", "\"2\""}}}
	var b bytes.Buffer
	if err := table.Encode(&b, "json"); err != nil {
		t.Fatal(err)
	}
	want := "[\n  {\"name\": \"1\", \"n\": 1.50},\n  {\"name\": \"" + Missing + "\", \"n\": null},\n" +
		"  {\"name\": \"<a>\", \"n\": \"inf\"},\n  {\"name\": \"\", \"n\": \"\\\"2\\\"\"}\n]\n"
	if b.String() != want || !json.Valid(b.Bytes()) {
		t.Errorf("%s, want %s", b.String(), want)
	}
}

func TestTextWithin(t *testing.T) {
	words := Table{Columns: Left("what it is").Right("n"), Rows: [][]string{{"one two three four five six", "12345"}, {"seven", "1"}, {"aaaaaaaaaaaaaaaaaaaa", "2"}}}
	var b strings.Builder
	if err := words.TextWithin(&b, 24); err != nil {
		t.Fatal(err)
	}
	want := `what it is             n
-----------------  -----
one two three      12345
four five six
seven                  1
aaaaaaaaaaaaaaaaaaaa      2
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.StringMatching(`([a-zé日]{0,8} ){0,8}`)
		table := Table{Columns: Left("a", "b"), Rows: rapid.SliceOfN(rapid.SliceOfN(cell, 2, 2), 1, 4).Draw(t, "rows")}
		width := rapid.IntRange(1, 80).Draw(t, "width")
		var b strings.Builder
		if err := table.TextWithin(&b, width); err != nil {
			t.Fatal(err)
		}
		letters := func(s string) (n [128]int) {
			for _, r := range s {
				if r > ' ' && r != '-' {
					n[r%128]++
				}
			}
			return n
		}
		whole := "ab"
		for _, row := range table.Rows {
			whole += row[0] + row[1]
		}
		if letters(whole) != letters(b.String()) {
			t.Fatalf("letters were lost in\n%s", b.String())
		}
		for line := range strings.Lines(b.String()) {
			if n := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); n > max(width, 2*16+2) {
				t.Fatalf("a line is %d columns wide, more than %d:\n%s", n, width, b.String())
			}
		}
	})
}
