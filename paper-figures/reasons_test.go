package figures_test

import (
	"encoding/csv"
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
	"miglab/paper-figures/miso"
)

func papers(t *testing.T) (out []figures.Paper) {
	t.Helper()
	for _, load := range []func() (figures.Paper, error){far.Paper, drl.Paper, mfi.Paper, deadline.Paper, hierarchical.Paper, miso.Paper} {
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

// TestPagesHaveEveryReason: if all claims deviate, the page of each artefact has every reason that claims.csv has about it,
// with the cause, the evidence and what was measured with its interval.
func TestPagesHaveEveryReason(t *testing.T) {
	for _, p := range papers(t) {
		files := figures.Deviating(t, &p)
		pages := map[string]string{}
		for _, a := range p.Artefacts {
			pages[a.Name] = figures.Plain(files[p.Name+"/"+a.Name+".md"])
		}
		lines, err := csv.NewReader(strings.NewReader(files["claims.csv"])).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		deviations := 0
		for _, l := range lines[1:] {
			artefact, cell, reading, judged, cause, reason, evidence := l[1], l[2], l[4], l[13], l[14], l[15], l[19]
			page := pages[artefact]
			if strings.HasPrefix(reason, "Not counted: ") || reading != "default" && cause == "" {
				continue
			}
			for sentence := range strings.SplitSeq(figures.Plain(reason), ". ") { // a row's detail may stand by itself
				if reason == "" || !strings.Contains(page, strings.TrimSuffix(sentence, ".")) {
					t.Errorf("%s/%s, %s: the page lacks %q", p.Name, artefact, cell, sentence)
				}
			}
			if judged != "DEVIATES" {
				continue
			}
			deviations++
			shown := "DEVIATES, cause `" + cause + "`"
			if _, own, _ := strings.Cut(evidence, "/"); own == artefact {
				shown += "|Evidence: this page."
			} else {
				shown += "|Evidence: " + own + "."
			}
			for want := range strings.SplitSeq(shown, "|") {
				if !strings.Contains(page, want) {
					t.Errorf("%s/%s, %s: the page lacks %q", p.Name, artefact, cell, want)
				}
			}
			checkShown(t, l, page)
		}
		if least := len(p.Claims.All) / 10; deviations < least {
			t.Errorf("%s: %d claims deviate, want %d or more", p.Name, deviations, least)
		}
		checkTerms(t, &p, files)
	}
}

// TestReasonsSayWhatIsLeft: where a cause does not explain a number, its reason names an experiment that is left, or says
// that the authors alone can tell.
func TestReasonsSayWhatIsLeft(t *testing.T) {
	for _, p := range papers(t) {
		for _, e := range p.Claims.Explanations {
			if !e.Cause.Explains() && !strings.Contains(e.Reason, "Left to try") && !strings.Contains(e.Reason, "authors alone can tell") {
				t.Errorf("%s/%s, %v: nothing is left to try in %q", p.Name, e.Artefact, e.Selection, e.Reason)
			}
		}
	}
}

// unknownValue returns a value of a selection that no claim has; "" if there is none.
func unknownValue(claims []claim.Claim, s claim.Selection) string {
	for i, list := range []string{s.Row, s.Column, s.Quantity} {
		for value := range strings.SplitSeq(list, ";") {
			if value != "" && !slices.ContainsFunc(claims, func(c claim.Claim) bool {
				return []string{c.Row, c.Column, c.Cell.Quantity}[i] == value
			}) {
				return value
			}
		}
	}
	return ""
}

// TestCausesNameCellsOfClaims: claims have each value that a line of causes.csv lists, and a mistyped one is noticed.
func TestCausesNameCellsOfClaims(t *testing.T) {
	tried := 0
	for _, p := range papers(t) {
		for _, e := range p.Claims.Explanations {
			own := p.Claims.Of(e.Artefact)
			if value := unknownValue(own, e.Selection); value != "" {
				t.Errorf("%s/%s: no claim has the %q that causes.csv names", p.Name, e.Artefact, value)
			}
			if e.Row != "" {
				tried++
				e.Row = mistype(e.Row)
				if unknownValue(own, e.Selection) == "" {
					t.Errorf("%s/%s: the row %q is accepted", p.Name, e.Artefact, e.Row)
				}
			}
		}
	}
	if tried == 0 {
		t.Error("no cause names a row")
	}
}

// checkTerms checks that all terms are explained, and that pages link at least half of them.
func checkTerms(t *testing.T, p *figures.Paper, files map[string]string) {
	t.Helper()
	linked := map[string]bool{}
	for _, page := range files {
		for _, m := range regexp.MustCompile(`TERMS\.md#(term-[^)]+)\)`).FindAllStringSubmatch(page, -1) {
			linked[m[1]] = true
		}
	}
	for _, term := range p.Terms {
		if !strings.Contains(figures.Plain(files[p.Name+"/TERMS.md"]), "</a>**"+term.Name+"**: ") {
			t.Errorf("%s: the terms lack %q", p.Name, term.Name)
		}
	}
	if len(linked) < len(p.Terms)/2 {
		t.Errorf("%s: %d of %d terms are linked", p.Name, len(linked), len(p.Terms))
	}
	for _, named := range regexp.MustCompile(`CONCLUSIONS\.md#(\w+)`).FindAllStringSubmatch(p.Brief+p.Summary, -1) {
		if !slices.ContainsFunc(p.Claims.Tests, func(c claim.Test) bool { return strings.ToLower(c.ID) == named[1] }) {
			t.Errorf("%s: the summary names a conclusion %q", p.Name, named[1])
		}
	}
	if p.Brief == "" || p.Summary == "" || p.About == "" || p.Limits == "" || !strings.Contains(figures.Plain(files[p.Name+"/README.md"]), figures.Plain(p.About)) {
		t.Errorf("%s: the page says neither what the paper is about nor what limits it", p.Name)
	}
}

// checkShown checks that a page has the measured number of a line of claims.csv with its interval.
func checkShown(t *testing.T, line []string, page string) {
	t.Helper()
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Errorf("%q: %v", line, err)
		}
		return v
	}
	digits := 1
	if _, decimals, ok := strings.Cut(line[6], "."); ok {
		digits += len(decimals)
	}
	// claims.csv has six digits, so that the last digit of the page may be the next one.
	found := func(factor float64) bool {
		shown := func(v float64) string { return strconv.FormatFloat(v, 'f', max(2, digits), 64) }
		measured, low, high := factor*number(line[7]), factor*number(line[8]), factor*number(line[9])
		interval := " " + shown(low) + " to " + shown(high) + " |"
		if shown(low) == shown(high) {
			interval = "" // a page leaves it out
		}
		return regexp.MustCompile(`\| ` + shown(measured) + ` \| DEVIATES \(\d+\) \|` + regexp.QuoteMeta(interval)).MatchString(page)
	}
	if !found(1) && !found(1+4e-6) && !found(1-4e-6) {
		t.Errorf("%q: the page lacks what was measured with its interval", line)
	}
}
