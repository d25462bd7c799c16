package site

import (
	"fmt"
	"slices"
	"strings"
)

// claimsView is the page of all papers.
type claimsView struct {
	// Verdicts and Papers are those of the claims. Numbers is the number of claims that are
	// counted, and Follow the number of those that follow from other printed numbers.
	Verdicts, Papers []string
	Numbers, Follow  int
	Counts           []countView
	Causes           []causeCount
}

// A countView is a line of the counts, of one paper or of all.
type countView struct {
	// Paper is empty for all papers, and File is the page of its claims.
	Paper, File string
	Total       int
	Each        []verdictCount
}

type verdictCount struct {
	Verdict string
	N       int
}

type causeCount struct {
	Cause string
	N     int
}

// Means says what the cause is.
func (c causeCount) Means() string { return causeMeanings[c.Cause] }

// causeMeanings explains the causes of deviations.
var causeMeanings = map[string]string{
	"script":        "The authors' public script does something else than the text, and the reading that follows the script reproduces the number.",
	"contradiction": "Two printed numbers exclude one another, or the number is of the same runs as one that is shown to be impossible.",
	"impossible":    "On the data drawn here, the number lies beyond a certified bound or, for an optimum, beyond a schedule that was found.",
	"error":         "The print has a slip: a unit, a transposition, or something counted twice.",
	"input":         "The number depends on data that are not public, and a stand-in is shown.",
	"budget":        "The agent was trained less here than in the paper, and its learning curve still falls.",
	"model":         "The number was measured on hardware in the paper and is simulated here.",
	"unknown":       "No cause could be shown. The claim's row says what was tried.",
}

// arithmetic is the kind of claims that follow from other printed numbers. They are judged, but
// not counted: the measurement behind them is counted already.
const arithmetic = "arithmetic"

// counted reports whether the claim is one of those that are counted.
func (c Claim) counted() bool { return c.Default && c.Kind != arithmetic }

// paperView is the page of a paper's claims.
type paperView struct {
	Paper                   string
	Verdicts, Causes, Kinds []string
	Artefacts               []artefactView
}

// An artefactView has the claims of a table or a figure. Inputs are those that are taken from the
// paper.
type artefactView struct {
	Name, Title string
	// Figure is the address of the artefact's drawing or table; empty for none.
	Figure         string
	Claims, Inputs []claimView
}

// Tally counts the claims by verdict and cause, in words.
func (a artefactView) Tally() string {
	var verdicts []string
	for _, verdict := range ordered(claimsOf(a.Claims, "")) {
		own := claimsOf(a.Claims, verdict)
		text := fmt.Sprintf("%d %s", len(own), verdict)
		var causes []string
		for _, cause := range distinct(own, func(c Claim) string { return c.Cause }) {
			n := 0
			for _, c := range own {
				if c.Cause == cause {
					n++
				}
			}
			if cause != "" {
				causes = append(causes, fmt.Sprintf("%d %s", n, cause))
			}
		}
		if len(causes) > 0 {
			text += " (" + strings.Join(causes, ", ") + ")"
		}
		verdicts = append(verdicts, text)
	}
	if len(a.Claims) < 2 || len(verdicts) == 0 {
		return ""
	}
	return fmt.Sprintf("%d numbers: %s", len(a.Claims), strings.Join(verdicts, ", "))
}

// claimsOf returns the claims with a verdict, or all of them for "".
func claimsOf(all []claimView, verdict string) []Claim {
	var out []Claim
	for i := range all {
		if verdict == "" || all[i].Verdict == verdict {
			out = append(out, all[i].Claim)
		}
	}
	return out
}

type claimView struct {
	Claim
	// Shown is the address of the evidence; empty for none.
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

// claimsPage is the page of a paper's claims.
func claimsPage(paper string) string { return "claims-" + slug(paper, map[string]bool{}) + ".html" }

func viewClaims(claims []Claim) claimsView {
	v := claimsView{Papers: distinct(claims, func(c Claim) string { return c.Paper }), Verdicts: ordered(claims)}
	count := func(paper string) countView {
		c := countView{Paper: paper}
		if paper != "" {
			c.File = claimsPage(paper)
		}
		for _, w := range v.Verdicts {
			c.Each = append(c.Each, verdictCount{Verdict: w})
		}
		for _, claim := range claims {
			if !claim.counted() || paper != "" && claim.Paper != paper {
				continue
			}
			c.Total++
			if i := slices.Index(v.Verdicts, claim.Verdict); i >= 0 {
				c.Each[i].N++
			}
		}
		return c
	}
	for _, p := range append(slices.Clone(v.Papers), "") {
		v.Counts = append(v.Counts, count(p))
	}
	v.Numbers = v.Counts[len(v.Counts)-1].Total
	for _, c := range claims {
		if c.Default && c.Kind == arithmetic {
			v.Follow++
		}
	}
	for _, cause := range distinct(claims, func(c Claim) string { return c.Cause }) {
		n := 0
		for _, c := range claims {
			if c.counted() && c.Cause == cause {
				n++
			}
		}
		if cause != "" && n > 0 {
			v.Causes = append(v.Causes, causeCount{cause, n})
		}
	}
	slices.SortStableFunc(v.Causes, func(a, b causeCount) int { return b.N - a.N })
	return v
}

// ordered returns the verdicts of claims in their order.
func ordered(claims []Claim) []string {
	found := distinct(claims, func(c Claim) string { return c.Verdict })
	var out []string
	for _, w := range append(slices.Clone(verdicts), found...) {
		if w != "" && slices.Contains(found, w) && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// viewPaper groups the claims of a paper by artefact. Other readings of a claim are with the
// default one.
func viewPaper(paper string, all []Claim, figures figuresView) paperView {
	var own []Claim
	for _, c := range all {
		if c.Paper == paper {
			own = append(own, c)
		}
	}
	v := paperView{Paper: paper, Verdicts: ordered(own), Kinds: distinct(own, func(c Claim) string { return c.Kind })}
	for _, cause := range distinct(own, func(c Claim) string { return c.Cause }) {
		if cause != "" {
			v.Causes = append(v.Causes, cause)
		}
	}
	for _, name := range distinct(own, func(c Claim) string { return c.Artefact }) {
		a := artefactView{Name: name, Figure: figures.at[[2]string{paper, name}], Title: strings.TrimSuffix(figures.titles[[2]string{paper, name}], ", claim by claim")}
		place := map[string]*claimView{}
		var order []*claimView
		for _, c := range own {
			if c.Artefact != name {
				continue
			}
			of := place[c.Name]
			if of == nil {
				of = new(claimView)
				place[c.Name] = of
				order = append(order, of)
			}
			if c.Default || of.Name == "" {
				from, artefact, _ := strings.Cut(c.Evidence, "/")
				of.Claim, of.Shown = c, figures.at[[2]string{from, artefact}]
			} else {
				of.Others = append(of.Others, c)
			}
		}
		for _, c := range order {
			if c.Verdict == "INPUT" {
				a.Inputs = append(a.Inputs, *c)
				continue
			}
			if n := len(a.Claims); n > 0 {
				last := &a.Claims[n-1]
				c.Again = c.Reason != "" && last.Verdict == c.Verdict && last.Cause == c.Cause && last.Reason == c.Reason && last.Evidence == c.Evidence
			}
			a.Claims = append(a.Claims, *c)
		}
		v.Artefacts = append(v.Artefacts, a)
	}
	return v
}
