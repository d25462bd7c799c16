package figures_test

import (
	"encoding/csv"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "miglab/algorithms"
	_ "miglab/algorithms/corun"
	_ "miglab/algorithms/dispatch"
	_ "miglab/algorithms/placement"
	_ "miglab/algorithms/rl/agents"
	_ "miglab/bounds"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/deadline"
	"miglab/paper-figures/drl"
	"miglab/paper-figures/far"
	"miglab/paper-figures/figurestest"
	"miglab/paper-figures/hierarchical"
	"miglab/paper-figures/mfi"
)

func papers(t *testing.T) (out []figures.Paper) {
	t.Helper()
	for _, load := range []func() (figures.Paper, error){far.Paper, drl.Paper, mfi.Paper, deadline.Paper, hierarchical.Paper} {
		out = append(out, figurestest.Load(t, load))
	}
	return out
}

// TestNumbersAreComplete counts the numbers and statements that an artefact shows, and those that belong
// to it: a range is one number, and a number that is printed again belongs to one artefact.
func TestNumbersAreComplete(t *testing.T) {
	type count struct {
		Paper    string `csv:"paper"`
		Artefact string `csv:"artefact"`
		Shown    int    `csv:"shown"`
		Own      int    `csv:"own"`
		What     string `csv:"what"`
	}
	counts, err := claim.ReadCSV[count]("testdata", os.DirFS("testdata"), "numbers.csv")
	if err != nil {
		t.Fatal(err)
	}
	all := papers(t)
	for _, want := range counts.Rows {
		at := slices.IndexFunc(all, func(p figures.Paper) bool { return p.Name == want.Paper })
		shown := all[at].Claims.Of(want.Artefact)
		if own := figures.Count(shown, func(c claim.Claim) bool { return !c.Repeats() }); len(shown) != want.Shown || own != want.Own {
			t.Errorf("%s/%s shows %d numbers, %d of its own; want %d, %d (%s)", want.Paper, want.Artefact, len(shown), own, want.Shown, want.Own, want.What)
		}
	}
}

// TestCellsExist: the artefacts ask for algorithms of their tracks, and for instances that datasets have.
func TestCellsExist(t *testing.T) {
	r := figures.Reproduction{Papers: papers(t)}
	if spans, err := r.Cells(); err != nil || len(spans) < 1000 {
		t.Errorf("%d spans of cells, %v", len(spans), err)
	}
}

// TestPagesHaveEveryReason: if all claims deviate, the page of each paper has every reason that
// claims.csv has, and every cause of causes.csv with its evidence. It names what was measured, the
// difference with its interval, the cause and the reason of every deviation.
func TestPagesHaveEveryReason(t *testing.T) {
	for _, p := range papers(t) {
		linked, claims, err := figures.Deviating(&p)
		if err != nil {
			t.Fatal(err)
		}
		checkScreen(t, &p, linked)
		page := figures.Unlinked(linked)
		lines, err := csv.NewReader(strings.NewReader(claims)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		deviations, shown := 0, shownDeviations(page)
		for _, l := range lines[1:] {
			artefact, cell, judged, cause, reason, evidence := l[1], l[2], l[13], l[14], l[15], l[19]
			if judged == "DEVIATES" {
				deviations++
			}
			if judged == "DEVIATES" && cause != "" {
				checkShown(t, l, shown[artefact+": "+cell])
			}
			if reason == "" || !strings.Contains(page, reason) {
				t.Errorf("%s/%s, %s: the page lacks the reason %q", p.Name, artefact, cell, reason)
			}
			if cause != "" && !strings.Contains(page, "`miglab reproduce --only "+evidence+"`") {
				t.Errorf("%s/%s, %s: the page lacks the evidence %q", p.Name, artefact, cell, evidence)
			}
		}
		for _, e := range p.Claims.Explanations {
			if !strings.Contains(page, ", cause `"+string(e.Cause)+"` (") || !strings.Contains(page, "): "+e.Reason) {
				t.Errorf("%s/%s, %s: the page lacks the cause %s with the reason %q", p.Name, e.Artefact, e.Selection, e.Cause, e.Reason)
			}
		}
		if least := len(p.Claims.All) / 10; deviations < least {
			t.Errorf("%s: %d claims deviate, want %d or more", p.Name, deviations, least)
		}
	}
}

// wordsBefore is how many words of a page stand before a text.
func wordsBefore(t *testing.T, page, text string) int {
	t.Helper()
	before, _, found := strings.Cut(page, text)
	if !found {
		t.Errorf("the page lacks %q", text)
	}
	return len(strings.Fields(before))
}

// checkScreen checks the first screen of a page, and that its links lead to places on it, each of which is there once.
func checkScreen(t *testing.T, p *figures.Paper, page string) {
	t.Helper()
	first := "**Verdicts**"
	if conclusions := strings.Index(page, " conclusions: "); conclusions >= 0 {
		first = " conclusions: "
		if wordsBefore(t, page, "## Conclusions") > 1000 || strings.Index(page, "conclusions.svg") > strings.Index(page, "## Conclusions") {
			t.Errorf("%s: the first screen is long, or lacks the figure", p.Name)
		}
	}
	if n := wordsBefore(t, page, first); n > 400 {
		t.Errorf("%s: %d words stand before the first answer", p.Name, n)
	}
	if p.About == "" || p.Limits == "" || !strings.Contains(figures.Unlinked(page), p.About) {
		t.Errorf("%s: the page says neither what the paper is about nor what limits it", p.Name)
	}
	anchors := map[string]int{"conclusions": 1}
	for _, m := range regexp.MustCompile(`<a id="([^"]+)"></a>`).FindAllStringSubmatch(page, -1) {
		anchors[m[1]]++
	}
	links := map[string]int{}
	for _, m := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(page, -1) {
		if links[m[1]]++; anchors[m[1]] != 1 {
			t.Errorf("%s: a link leads to %q, which is there %d times", p.Name, m[1], anchors[m[1]])
		}
	}
	body, terms, _ := strings.Cut(page, "## Terms")
	for _, term := range p.Terms {
		if !strings.Contains(terms, "</a>**"+term.Name+"**: ") {
			t.Errorf("%s: the terms at the end lack %q", p.Name, term.Name)
		}
	}
	if least := len(p.Terms) / 2; strings.Count(body, "](#term-") < least {
		t.Errorf("%s: %d terms are linked, want at least %d", p.Name, strings.Count(body, "](#term-"), least)
	}
}

// A shownDeviation is what a page says of a deviation: the line of its group, with the cause and the
// reason, and the line with its numbers.
type shownDeviation struct{ group, numbers string }

// shownDeviations reads the deviations of a page by artefact and claim.
func shownDeviations(page string) map[string]shownDeviation {
	out := map[string]shownDeviation{}
	var artefact, group string
	for line := range strings.Lines(page) {
		if heading, ok := strings.CutPrefix(line, "### "); ok {
			artefact, _, _ = strings.Cut(heading, ":")
		} else if strings.HasPrefix(line, "- ") {
			group = line
		} else if cell, numbers, ok := strings.Cut(strings.TrimPrefix(line, "  - "), ": measured "); ok {
			out[artefact+": "+cell] = shownDeviation{group, numbers}
		}
	}
	return out
}

// deviationNumbers are the measured number, its difference from the published one, and the interval
// of the difference.
var deviationNumbers = regexp.MustCompile(`^(\S+)(?: [^,]+)?, published .+; difference (\S+)(?: [^\[]+)? \[(\S+) to (\S+)\], allowed \d`)

// checkShown compares what a page shows of a deviation with its line of claims.csv.
func checkShown(t *testing.T, line []string, shown shownDeviation) {
	t.Helper()
	published, to, measured, low, high, cause, reason := line[6], line[17], line[7], line[8], line[9], line[14], line[15]
	if !strings.HasPrefix(shown.group, "- DEVIATES, cause `"+cause+"` (") || !strings.HasSuffix(shown.group, "): "+reason+"\n") {
		t.Errorf("%q: the page shows cause and reason as %q", line, shown.group)
	}
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Errorf("%q: the page shows %q: %v", line, shown.numbers, err)
		}
		return v
	}
	end := number(published)
	if to != "" && number(measured) > end {
		end = number(to)
	}
	got := deviationNumbers.FindStringSubmatch(shown.numbers)
	if got == nil {
		t.Errorf("%q: the page shows %q", line, shown.numbers)
		return
	}
	for i, want := range []float64{number(measured), number(measured) - end, number(low) - end, number(high) - end} {
		// claims.csv has six digits of each number, and the page at least two after the point.
		if tolerance := 0.0051 + 1e-5*math.Abs(number(measured)); math.Abs(number(got[i+1])-want) > tolerance {
			t.Errorf("%q: the page shows %q, and number %d should be %v", line, shown.numbers, i+1, want)
		}
	}
}
