package render

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// whole reads a manifest: that of a folder of results named by MIGLAB_RESULTS, or else a sample, whose rows, tables and
// conclusions are those of a reproduction of one paper.
func whole(t testing.TB) *manifest.Manifest {
	t.Helper()
	if dir := os.Getenv("MIGLAB_RESULTS"); dir != "" {
		m, err := manifest.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	file, err := os.Open(filepath.Join("testdata", "manifest.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	m := &manifest.Manifest{}
	if err := json.NewDecoder(unzipped).Decode(m); err != nil {
		t.Fatal(err)
	}
	return m
}

// rendered writes everything of a manifest, and returns the texts by path. Drawings of artefacts, which a manifest lacks,
// are empty files.
func rendered(t testing.TB, m *manifest.Manifest) (dir string, texts map[string]string) {
	t.Helper()
	dir = t.TempDir()
	for _, p := range m.Papers {
		for _, a := range p.Artefacts {
			for _, f := range a.Figures {
				for _, format := range reports.FigureFormats {
					if err := writeIfChanged(filepath.Join(dir, p.Name, f.File+"."+format), " "); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, file := range a.TimedTables {
				if err := writeIfChanged(filepath.Join(dir, file+".md"), " "); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := Write(dir, m); err != nil {
		t.Fatal(err)
	}
	texts = map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && slices.Contains([]string{".md", ".tex"}, filepath.Ext(path)) {
			raw, err := os.ReadFile(path)
			name, _ := filepath.Rel(dir, path)
			texts[name] = string(raw)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir, texts
}

// TestPagesFitAScreen: words of the first pages, lines and tables.
func TestPagesFitAScreen(t *testing.T) {
	_, texts := rendered(t, whole(t))
	for name, text := range texts {
		words, most := len(strings.Fields(text)), 0
		switch {
		case name == "README.md":
			most = 700
		case filepath.Base(name) == "README.md":
			most = 1500
		}
		if most > 0 && words > most {
			t.Errorf("%s has %d words, want at most %d", name, words, most)
		}
		for line := range strings.Lines(text) {
			limit := 400
			if strings.HasPrefix(line, "|") {
				limit = reports.PageColumns
			}
			if n := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); n > limit {
				t.Errorf("%s: a line of %d characters, want at most %d: %s", name, n, limit, line)
			}
		}
	}
}

// links matches the targets of links and images.
var links = regexp.MustCompile(`\]\(([^)]+)\)|(?:href|src)="([^"]+)"`)

// TestLinksLeadSomewhere: to a file that was written, and to a place on it that is there once.
func TestLinksLeadSomewhere(t *testing.T) {
	m := whole(t)
	for range 2 { // the second time of the last paper alone, as after --only
		dir, texts := rendered(t, m)
		n := 0
		for name, text := range texts {
			if !strings.HasSuffix(name, ".md") {
				continue
			}
			for _, l := range links.FindAllStringSubmatch(text, -1) {
				file, place, _ := strings.Cut(l[1]+l[2], "#")
				path := filepath.Join(filepath.Dir(name), file)
				n++
				if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
					t.Errorf("%s links to %s, which was not written", name, path)
				}
				if place != "" && strings.Count(texts[path], `<a id="`+place+`"></a>`) != 1 {
					t.Errorf("%s links to %q of %s, which is there %d times", name, place, path, strings.Count(texts[path], `"`+place+`"`))
				}
			}
		}
		if n < 20 {
			t.Errorf("only %d links", n)
		}
		if m.Left > 0 && (strings.Contains(texts["README.md"], "By sign alone") || strings.Contains(texts["README.md"], "The brief")) {
			t.Errorf("a part of a run claims what it did not compute:\n%s", texts["README.md"])
		}
		last := &m.Papers[len(m.Papers)-1]
		m.Left, last.Brief = 1, "The brief ([A](CONCLUSIONS.md#gone))."
		last.Artefacts, last.Conclusions = last.Artefacts[:2], nil
		for i := range m.Papers[:len(m.Papers)-1] {
			m.Papers[i].Artefacts, m.Papers[i].Conclusions = nil, nil
		}
	}
}

// TestDeviationsAddUp: those that are explained and those that are not are all.
func TestDeviationsAddUp(t *testing.T) {
	m := whole(t)
	_, texts := rendered(t, m)
	count := func(pattern string) (sum int) {
		for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(texts["README.md"], -1) {
			n, _ := strconv.Atoi(found[1])
			sum += n
		}
		return sum
	}
	all := m.Count("")[verdict.Deviates]
	if got := count(`\*\*(\d+) deviations are `); got != all || all == 0 {
		t.Errorf("%d deviations on the first screen, %d in the manifest", got, all)
	}
	if got := count("`[a-z]+` (\\d+)"); got != all {
		t.Errorf("the causes of the first screen add up to %d of %d", got, all)
	}
	if !regexp.MustCompile("(?s)not explained:.*`unpublished`.*`unknown`").MatchString(texts["README.md"]) {
		t.Error("the first screen does not say that unpublished and unknown are not explained")
	}
}

// TestMarksDiffer: a conclusion that holds, holds in part, does not hold or is open has a mark of its own in the figure.
func TestMarksDiffer(t *testing.T) {
	drawn := map[string]string{}
	for _, r := range []reading{
		{ReadingOutcome: manifest.ReadingOutcome{Outcome: verdict.Outcome{State: verdict.Met}}},
		{ReadingOutcome: manifest.ReadingOutcome{Outcome: verdict.Outcome{State: verdict.Missed, Right: 1, Values: 2}}},
		{ReadingOutcome: manifest.ReadingOutcome{Outcome: verdict.Outcome{State: verdict.Missed, Values: 2}}},
		{ReadingOutcome: manifest.ReadingOutcome{Outcome: verdict.Outcome{State: verdict.Open}}},
	} {
		var svg bytes.Buffer
		row := reports.CurveRow{Name: "F1", Text: "it", Dots: []reports.CurveDot{{State: r.mark()}}}
		if err := reports.Encode(&svg, "svg", reports.Curve{Rows: []reports.CurveRow{row}}); err != nil {
			t.Fatal(err)
		}
		if before, ok := drawn[svg.String()]; ok {
			t.Errorf("%v is drawn as %s", r.ReadingOutcome, before)
		}
		drawn[svg.String()] = fmt.Sprint(r.ReadingOutcome)
	}
}

// computerModern returns the widths of its characters in hundredths of a point.
func computerModern(t *testing.T) map[rune]float64 {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "reports", "latexwidths.txt"))
	if err != nil {
		t.Fatal(err)
	}
	widths := map[rune]float64{' ': 333}
	for line := range strings.Lines(string(raw)) {
		width, characters, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, r := range characters {
			widths[r], _ = strconv.ParseFloat(width, 64)
		}
	}
	return widths
}

// TestLatexFitsAPage measures the tables in LaTeX by the widths of Computer Modern. test-long compiles them.
func TestLatexFitsAPage(t *testing.T) {
	widths := computerModern(t)
	_, texts := rendered(t, whole(t))
	tables := 0
	for name, text := range texts {
		for _, tabular := range strings.Split(text, `\begin{tabular}`)[1:] {
			tables++
			if wide := latexWidth(tabular, widths); wide > reports.PageCentimetres {
				t.Errorf("%s is %.1f cm wide", name, wide)
			}
		}
	}
	if tables == 0 {
		t.Error("there is no table")
	}
}

// TestLatexWidthByColumn: the second row has empty cells. Each cell counts in its own column.
func TestLatexWidthByColumn(t *testing.T) {
	widths := computerModern(t)
	readings := reports.Table{Columns: reports.Left("reading").Right("REPRODUCED", "of", "mean error").Left("unit", "from")}
	readings.Row("executions", 8, 54, "7.31", "%", "the text")
	readings.Row("", "", "", "0.0941", "", "")
	var latex bytes.Buffer
	if err := readings.Encode(&latex, "latex"); err != nil {
		t.Fatal(err)
	}
	_, tabular, _ := strings.Cut(latex.String(), `\begin{tabular}`)
	got, want := latexWidth(tabular, widths)*pointsCM, 6*12.0
	for _, widest := range []string{"executions", "REPRODUCED", "54", "mean error", "unit", "the text"} {
		for _, r := range widest {
			want += widths[r] / 100
		}
	}
	if math.Abs(got-want) > 0.01 {
		t.Errorf("%.2f points wide, want %.2f", got, want)
	}
}

// TestLatexCompiles, with booktabs and margins of 2 cm, if pdflatex is there: no box is overfull.
func TestLatexCompiles(t *testing.T) {
	pdflatex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("pdflatex is not installed")
	}
	dir, texts := rendered(t, whole(t))
	document := "\\documentclass[a4paper]{article}\n\\usepackage[margin=2cm]{geometry}\n\\usepackage{booktabs}\n\\begin{document}\n"
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if strings.HasSuffix(name, ".tex") {
			document += texts[name] + "\\clearpage\n"
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "all.tex"), []byte(document+"\\end{document}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), pdflatex, "-interaction=nonstopmode", "-halt-on-error", "all.tex")
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil || strings.Contains(string(out), "Overfull \\hbox") {
		t.Errorf("%v\n%s", err, out)
	}
}

var (
	formula  = regexp.MustCompile(`\$[^$]+\$`)
	escaped  = regexp.MustCompile(`\\(?:text[a-z]+\{\}|ldots\{\})|\\([%&_#{}$])|[{}]`)
	pointsCM = 72.27 / 2.54
)

// latexWidth estimates the width of a tabular in centimetres.
func latexWidth(tabular string, widths map[rune]float64) float64 {
	var columns []float64
	for line := range strings.Lines(tabular) {
		// A row whose first cell is empty begins with a space.
		row, ok := strings.CutSuffix(strings.TrimSuffix(line, "\n"), ` \\`)
		if !ok {
			continue
		}
		for j, cell := range strings.Split(row, " & ") {
			if j == len(columns) {
				columns = append(columns, 0)
			}
			cell = strings.TrimPrefix(cell, `\shortstack[r]`)
			cell = strings.TrimPrefix(cell, `\shortstack[l]`)
			for part := range strings.SplitSeq(cell, `\\`) {
				sum := 0.0
				part = escaped.ReplaceAllString(formula.ReplaceAllString(part, "±"), "$1")
				for _, r := range part {
					sum += widths[r] / 100
				}
				columns[j] = max(columns[j], sum)
			}
		}
	}
	total := 0.0
	for _, c := range columns {
		total += c + 12
	}
	return total / pointsCM
}
