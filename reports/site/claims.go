package site

import (
	"fmt"
	"slices"
	"strings"

	"miglab/harness/nearest"
)

// claimsView is the page of the claims of all papers.
type claimsView struct {
	// Concluded are the papers with conclusions.
	Concluded        []Paper
	Verdicts, Papers []string
	// Counted is the number of claims that are counted, and Arithmetic of those that follow from other printed numbers.
	Counted, Arithmetic int
	Counts              []countView
	Causes              []NameCount
}

// A countView is a line of the counts, of one paper or of all.
type countView struct {
	// Paper is empty for all papers. Page is the address of its page, and NumbersPage of the page with all its claims.
	Paper, Page, NumbersPage string
	Total                    int
	Each                     []NameCount
}

// A NameCount counts what has a name: the claims with a verdict or a cause, or the conclusions with an answer.
type NameCount struct {
	Name string
	N    int
}

// arithmetic is the kind of claims that are judged but not counted: the measurement behind them is counted already.
const arithmetic = "arithmetic"

func (c Claim) verdict() string { return c.Verdict }

func (c Claim) cause() string { return c.Cause }

// counts reports whether the claim is counted: of the default reading, and not arithmetic.
func (c Claim) counts() bool { return c.Default && c.Kind != arithmetic }

// Total returns the number of conclusions with one of the answers.
func (p Paper) Total() (n int) {
	for _, a := range p.Answers {
		n += a.N
	}
	return n
}

// Page returns the address of the paper's page.
func (p Paper) Page() string { return paperFile("claims", p.Name) }

// paperView is a paper's page with its conclusions, and the page with the numbers of all its claims.
type paperView struct {
	Paper string
	// Page and NumbersPage are the addresses of the two pages.
	Page, NumbersPage string
	// Summary is the first screen of the paper's page; empty if only the paper's claims are known.
	Summary Paper
	// Curve is the address of the drawing of the conclusions; may be empty.
	Curve                   string
	Verdicts, Causes, Kinds []string
	Artefacts               []artefactView
}

// An artefactView has the claims of a table or a figure. Inputs are the numbers that the project takes from the paper.
type artefactView struct {
	Name, Title string
	// Figure is the address of the artefact's drawing or table; may be empty.
	Figure         string
	Claims, Inputs []claimView
	// Tally counts the claims by verdict and cause, in words; empty if there are fewer than two.
	Tally string
}

// tally counts the claims of an artefact by verdict and cause, in words. It returns "" for fewer than two claims.
func tally(claims []claimView, order []string) string {
	if len(claims) < 2 {
		return ""
	}
	var texts []string
	for _, verdict := range sortVerdicts(claims, order) {
		own := matching(claims, func(c claimView) bool { return c.Verdict == verdict })
		counts := countNames(own, distinct(own, claimView.cause), claimView.cause)
		causes := nearest.Names(counts, func(c NameCount) string { return fmt.Sprintf("%d %s", c.N, c.Name) })
		text := fmt.Sprintf("%d %s", len(own), verdict)
		if len(causes) > 0 {
			text += " (" + strings.Join(causes, ", ") + ")"
		}
		texts = append(texts, text)
	}
	return fmt.Sprintf("%d numbers: %s", len(claims), strings.Join(texts, ", "))
}

// A claimView is a claim under its default reading.
type claimView struct {
	Claim
	// Shown is the address of the evidence; may be empty.
	Shown string
	// Others are the same claim under other readings.
	Others []Claim
	// Again says that the claim above has the same verdict, cause, reason and evidence, and that there is a reason.
	Again bool
}

// Own reports whether the evidence is the claim's own artefact.
func (c claimView) Own() bool { return c.Evidence == c.Paper+"/"+c.Artefact }

// Interval returns the confidence interval as [low, high], or "" if there is none.
func (c claimView) Interval() string {
	if c.Low == "" && c.High == "" {
		return ""
	}
	return "[" + c.Low + ", " + c.High + "]"
}

// paperFile returns the address of a paper's page of claims, numbers or tables.
func paperFile(contents, paper string) string {
	return contents + "-" + slug(paper, map[string]bool{}) + ".html"
}

// viewClaims returns the page of all papers. Claims are counted by paper and verdict, and causes over all papers.
func viewClaims(d *Data) claimsView {
	v := claimsView{
		Papers:   distinct(d.Claims, func(c Claim) string { return c.Paper }),
		Verdicts: sortVerdicts(d.Claims, d.Verdicts),
	}
	v.Concluded = matching(d.Papers, func(p Paper) bool { return len(p.Conclusions) > 0 })
	counted := matching(d.Claims, Claim.counts)
	v.Counted = len(counted)
	v.Arithmetic = len(matching(d.Claims, func(c Claim) bool { return c.Default && c.Kind == arithmetic }))
	for _, paper := range append(slices.Clone(v.Papers), "") {
		own, line := counted, countView{Paper: paper}
		if paper != "" {
			own = matching(counted, func(c Claim) bool { return c.Paper == paper })
			line.Page, line.NumbersPage = paperFile("claims", paper), paperFile("numbers", paper)
		}
		line.Total = len(own)
		line.Each = countNames(own, v.Verdicts, Claim.verdict)
		v.Counts = append(v.Counts, line)
	}
	v.Causes = countNames(counted, distinct(counted, Claim.cause), Claim.cause)
	slices.SortStableFunc(v.Causes, func(a, b NameCount) int { return b.N - a.N })
	return v
}

// countNames counts the claims with each of the names.
func countNames[C any](claims []C, names []string, of func(C) string) (out []NameCount) {
	for _, name := range names {
		out = append(out, NameCount{name, len(matching(claims, func(c C) bool { return of(c) == name }))})
	}
	return out
}

// sortVerdicts returns the different verdicts of claims: first those in order, then the others as they occur.
func sortVerdicts[C interface{ verdict() string }](claims []C, order []string) []string {
	found := distinct(claims, C.verdict)
	known := matching(order, func(v string) bool { return slices.Contains(found, v) })
	return append(known, matching(found, func(v string) bool { return !slices.Contains(order, v) })...)
}

// viewPaper returns the pages of a paper: its summary, if there is one, and its claims by artefact.
func viewPaper(paper string, d *Data, figures figuresView) paperView {
	own := matching(d.Claims, func(c Claim) bool { return c.Paper == paper })
	v := paperView{
		Paper: paper, Page: paperFile("claims", paper), NumbersPage: paperFile("numbers", paper),
		Verdicts: sortVerdicts(own, d.Verdicts), Causes: distinct(own, Claim.cause),
		Kinds: distinct(own, func(c Claim) string { return c.Kind }),
	}
	if i := slices.IndexFunc(d.Papers, func(p Paper) bool { return p.Name == paper }); i >= 0 {
		v.Summary = d.Papers[i]
	}
	for _, f := range figures.Figures {
		if f.Paper == paper && f.File == v.Summary.Curve {
			v.Curve = f.Image
		}
	}
	for _, name := range distinct(own, func(c Claim) string { return c.Artefact }) {
		claims := matching(own, func(c Claim) bool { return c.Artefact == name })
		a := viewArtefact(name, claims, figures)
		a.Tally = tally(a.Claims, d.Verdicts)
		v.Artefacts = append(v.Artefacts, a)
	}
	return v
}

// viewArtefact returns the claims of an artefact, each once and with its other readings.
func viewArtefact(name string, claims []Claim, figures figuresView) artefactView {
	a := artefactView{Name: name, Figure: figures.at[claims[0].Paper+"/"+name]}
	for _, c := range mergeReadings(claims) {
		a.Title = c.Title
		c.Shown = figures.at[c.Evidence]
		if c.Verdict == "INPUT" {
			a.Inputs = append(a.Inputs, *c)
			continue
		}
		if n := len(a.Claims); n > 0 {
			last := &a.Claims[n-1]
			c.Again = c.Reason != "" && last.Verdict == c.Verdict && last.Cause == c.Cause &&
				last.Reason == c.Reason && last.Evidence == c.Evidence
		}
		a.Claims = append(a.Claims, *c)
	}
	return a
}

// mergeReadings returns one view for each name of claims, in the order of their first readings. It shows the default
// reading, or the first one until a default is found. The others become [claimView.Others].
func mergeReadings(claims []Claim) (out []*claimView) {
	views := map[string]*claimView{}
	for _, c := range claims {
		view := views[c.Name]
		switch {
		case view == nil:
			view = &claimView{Claim: c}
			views[c.Name] = view
			out = append(out, view)
		case c.Default:
			view.Others = append(view.Others, view.Claim)
			view.Claim = c
		default:
			view.Others = append(view.Others, c)
		}
	}
	return out
}
