package site

import (
	"fmt"
	"slices"
	"strings"

	"miglab/harness/nearest"
)

// claimsView is the page of all papers.
type claimsView struct {
	// Concluded are the papers with conclusions.
	Concluded        []Paper
	Verdicts, Papers []string
	// Numbers is how many claims are counted, and Follow how many are arithmetic.
	Numbers, Follow int
	Counts          []countView
	Causes          []NameCount
}

// A countView is a line of the counts, of one paper or of all.
type countView struct {
	// Paper is empty for all papers, File is its page, and Numbers the page of its claims.
	Paper, File, Numbers string
	Total                int
	Each                 []NameCount
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

// counted reports whether the claim is one of those that are counted.
func (c Claim) counted() bool { return c.Default && c.Kind != arithmetic }

// Counted is how many of the conclusions have one of the answers.
func (p Paper) Counted() (n int) {
	for _, a := range p.Answers {
		n += a.N
	}
	return n
}

// Page is the page of the paper's claims.
func (p Paper) Page() string { return claimsPage(p.Name) }

// paperView is a paper's page, and the page of its claims.
type paperView struct {
	Paper string
	// Page is the address of the first, and Numbers the address of the second.
	Page, Numbers string
	// Screen is empty if only the claims of the paper are known.
	Screen Paper
	// Curve is the address of the drawing of the conclusions; may be empty.
	Curve                   string
	Verdicts, Causes, Kinds []string
	Artefacts               []artefactView
}

// An artefactView has the claims of a table or a figure. Inputs are those that are taken from the paper.
type artefactView struct {
	Name, Title string
	// Figure is the address of the artefact's drawing or table; may be empty.
	Figure         string
	Claims, Inputs []claimView
}

// Tally counts the claims by verdict and cause, in words.
func (a artefactView) Tally() string {
	var texts []string
	for _, verdict := range sortVerdicts(a.Claims) {
		own := matching(a.Claims, func(c claimView) bool { return c.Verdict == verdict })
		counts := countNames(own, distinct(own, claimView.cause), claimView.cause)
		causes := nearest.Names(counts, func(c NameCount) string { return fmt.Sprintf("%d %s", c.N, c.Name) })
		text := fmt.Sprintf("%d %s", len(own), verdict)
		if len(causes) > 0 {
			text += " (" + strings.Join(causes, ", ") + ")"
		}
		texts = append(texts, text)
	}
	if len(a.Claims) < 2 || len(texts) == 0 {
		return ""
	}
	return fmt.Sprintf("%d numbers: %s", len(a.Claims), strings.Join(texts, ", "))
}

type claimView struct {
	Claim
	// Shown is the address of the evidence; may be empty.
	Shown string
	// Others are the same claim under other readings.
	Others []Claim
	// Again says that the claim above has the same cause and reason.
	Again bool
}

// Own says that the evidence is the claim's own table.
func (c claimView) Own() bool { return c.Evidence == c.Paper+"/"+c.Artefact }

// Interval is the confidence interval, as [low, high].
func (c claimView) Interval() string {
	if c.Low == "" && c.High == "" {
		return ""
	}
	return "[" + c.Low + ", " + c.High + "]"
}

// verdicts are in the order of the counts. Other verdicts follow them.
var verdicts = []string{"REPRODUCED", "DEVIATES", "INCONCLUSIVE", "CONSISTENT", "NOT RUNNABLE", "INPUT"}

func claimsPage(paper string) string { return "claims-" + slug(paper, map[string]bool{}) + ".html" }

// numbersPage returns the page of all claims of a paper.
func numbersPage(paper string) string { return "numbers-" + slug(paper, map[string]bool{}) + ".html" }

func viewClaims(papers []Paper, claims []Claim) claimsView {
	v := claimsView{Papers: distinct(claims, func(c Claim) string { return c.Paper }), Verdicts: sortVerdicts(claims)}
	v.Concluded = matching(papers, func(p Paper) bool { return len(p.Conclusions) > 0 })
	counted := matching(claims, Claim.counted)
	v.Numbers = len(counted)
	v.Follow = len(matching(claims, func(c Claim) bool { return c.Default && c.Kind == arithmetic }))
	for _, paper := range append(slices.Clone(v.Papers), "") {
		own, line := counted, countView{Paper: paper}
		if paper != "" {
			own = matching(counted, func(c Claim) bool { return c.Paper == paper })
			line.File, line.Numbers = claimsPage(paper), numbersPage(paper)
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

// sortVerdicts returns the verdicts of claims in their order.
func sortVerdicts[C interface{ verdict() string }](claims []C) []string {
	found := distinct(claims, C.verdict)
	known := matching(verdicts, func(v string) bool { return slices.Contains(found, v) })
	return append(known, matching(found, func(v string) bool { return !slices.Contains(verdicts, v) })...)
}

func viewPaper(paper string, d *Data, figures figuresView) paperView {
	own := matching(d.Claims, func(c Claim) bool { return c.Paper == paper })
	v := paperView{
		Paper: paper, Page: claimsPage(paper), Numbers: numbersPage(paper), Verdicts: sortVerdicts(own),
		Causes: distinct(own, Claim.cause), Kinds: distinct(own, func(c Claim) string { return c.Kind }),
	}
	if i := slices.IndexFunc(d.Papers, func(p Paper) bool { return p.Name == paper }); i >= 0 {
		v.Screen = d.Papers[i]
	}
	for _, f := range figures.Figures {
		if f.Paper == paper && f.File == v.Screen.Curve {
			v.Curve = f.Image
		}
	}
	for _, name := range distinct(own, func(c Claim) string { return c.Artefact }) {
		claims := matching(own, func(c Claim) bool { return c.Artefact == name })
		v.Artefacts = append(v.Artefacts, viewArtefact(name, claims, figures))
	}
	return v
}

// viewArtefact returns the claims of an artefact, other readings with the default one.
func viewArtefact(name string, claims []Claim, figures figuresView) artefactView {
	a := artefactView{Name: name, Figure: figures.at[claims[0].Paper+"/"+name]}
	at := map[string]*claimView{}
	var order []*claimView
	for _, c := range claims {
		a.Title = c.Title
		view := at[c.Name]
		if view == nil {
			view = new(claimView)
			at[c.Name], order = view, append(order, view)
		}
		if c.Default || view.Name == "" {
			if view.Name != "" {
				view.Others = append(view.Others, view.Claim)
			}
			view.Claim, view.Shown = c, figures.at[c.Evidence]
		} else {
			view.Others = append(view.Others, c)
		}
	}
	for _, c := range order {
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
