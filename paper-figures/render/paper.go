package render

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"miglab/harness/nearest"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// curveFile is the figure of a paper's conclusions, without extension.
const curveFile = "conclusions"

// A paper is one of the manifest as its pages show it.
type paper struct {
	*manifest.Paper
	Manifest *manifest.Manifest
	// common are the terms of all papers.
	common []manifest.Term
	// all are its conclusions. artefacts are the artefacts that have a page; see Pages.
	all       []*conclusion
	artefacts []*artefact
}

func newPaper(m *manifest.Manifest, p *manifest.Paper, common []manifest.Term) *paper {
	out := &paper{Paper: p, Manifest: m, common: common}
	for i := range p.Conclusions {
		out.all = append(out.all, newConclusion(p, &p.Conclusions[i]))
	}
	var inputs []*artefact
	for i := range p.Artefacts {
		a := newArtefact(out, &p.Artefacts[i])
		if len(a.Measured) == 0 && len(a.Inputs) > 0 {
			inputs = append(inputs, a)
		} else {
			out.artefacts = append(out.artefacts, a)
		}
	}
	out.artefacts = append(out.artefacts, inputs...)
	return out
}

// Conclusions are the paper's, in its order.
func (p *paper) Conclusions() []*conclusion { return p.all }

// Pages returns the artefacts that have a page, in order. Those that compare the paper's inputs alone come last.
func (p *paper) Pages() []*artefact { return p.artefacts }

// An answered group has the conclusions with one full answer, for example "holds in the model".
type answered struct {
	Answer      string
	Conclusions []*conclusion
}

// Count says how many there are: "1 holds", or "2 hold".
func (a answered) Count() string {
	answer := a.Answer
	if len(a.Conclusions) != 1 {
		answer = strings.NewReplacer("holds", "hold", "does", "do").Replace(answer)
	}
	return fmt.Sprintf("%d %s", len(a.Conclusions), answer)
}

// answeredBy returns the conclusions with a full answer.
func (p *paper) answeredBy(answer string) []*conclusion {
	return slices.DeleteFunc(slices.Clone(p.all), func(c *conclusion) bool { return c.FullAnswer() != answer })
}

// Answered groups the conclusions by full answer, in the order of summaries.
func (p *paper) Answered() (out []answered) {
	for _, answer := range append(slices.Clone(verdict.Answers), verdict.NotCounted) {
		full := []string{string(answer)}
		if answer == verdict.InTheModel {
			full = nearest.Names(verdict.Answers, func(part verdict.Answer) string {
				return string(part) + " " + string(answer)
			})
		}
		for _, a := range full {
			if own := p.answeredBy(a); len(own) > 0 {
				out = append(out, answered{a, own})
			}
		}
	}
	return out
}

// countAnswers counts the conclusions by answer.
func (p *paper) countAnswers() map[verdict.Answer]int {
	n := map[verdict.Answer]int{}
	for _, c := range p.all {
		n[c.Answer]++
	}
	return n
}

// Judged is how many conclusions have an answer that counts.
func (p *paper) Judged() int { return len(p.all) - p.countAnswers()[verdict.NotCounted] }

// pages returns the functions that make the pages of the paper, by name.
func (p *paper) pages() map[string]func() (string, error) {
	page := func(name string, data any) func() (string, error) {
		return func() (string, error) {
			text, err := show(name, data)
			return folded(p.linked(text, name == "TERMS.md.tmpl")), err
		}
	}
	out := map[string]func() (string, error){
		"README.md": page("PAPER.md.tmpl", p), "TERMS.md": page("TERMS.md.tmpl", p),
	}
	if len(p.all) > 0 {
		out["CONCLUSIONS.md"] = page("CONCLUSIONS.md.tmpl", p)
	}
	for _, a := range p.artefacts {
		out[a.Name+".md"] = page("ARTEFACT.md.tmpl", a)
		if a.Timed {
			continue
		}
		for _, t := range a.Tables {
			for extension, write := range map[string]func(io.Writer) error{
				".txt": t.WritePage,
				".tex": func(w io.Writer) error { return t.Encode(w, "latex") },
				".csv": func(w io.Writer) error { return t.Encode(w, "csv") },
			} {
				out[t.File+extension] = func() (string, error) {
					var b strings.Builder
					err := write(&b)
					return b.String(), err
				}
			}
		}
	}
	return out
}

// reference matches the names of artefacts in brackets that texts refer to, and the names of tables of times.
var reference = regexp.MustCompile(`\(see ([\w-]+)\)|\btable (timing[\w-]*)`)

// linked links what a page refers to, if it was written, and the first use of each term.
func (p *paper) linked(page string, terms bool) string {
	page = reference.ReplaceAllStringFunc(page, func(text string) string {
		groups := reference.FindStringSubmatch(text)
		switch {
		case p.has(groups[1]):
			return "(see [" + groups[1] + "](" + groups[1] + ".md))"
		case groups[2] != "" && p.hasTimed(groups[2]):
			return "table [" + groups[2] + "](../" + groups[2] + ".md)"
		}
		return text
	})
	if terms {
		return page
	}
	return linkTerms(page, p.Terms(), "TERMS.md")
}

func (p *paper) has(artefact string) bool {
	return slices.ContainsFunc(p.Artefacts, func(a manifest.Artefact) bool { return a.Name == artefact })
}

// hasTimed reports whether a table of wall times was written.
func (p *paper) hasTimed(file string) bool {
	return slices.ContainsFunc(p.Artefacts, func(a manifest.Artefact) bool {
		return slices.Contains(a.TimedTables, file)
	})
}

// Terms are the paper's terms, and then the ones that all papers have.
func (p *paper) Terms() []manifest.Term { return slices.Concat(p.Paper.Terms, p.common) }

// saveCurve draws the conclusions, if there are any. It writes only if the SVG changes or one of the files is missing.
func (p *paper) saveCurve(dir string) error {
	if len(p.all) == 0 {
		return nil
	}
	f := reports.Curve{Title: p.Name + ": conclusions, a mark for each reading"}
	for _, c := range p.all {
		row := reports.CurveRow{Name: c.ID, Text: c.Name(), Answer: c.FullAnswer()}
		for _, r := range c.Readings {
			row.Dots = append(row.Dots, reports.CurveDot{Default: r.Default, Aside: r.Aside, State: r.mark()})
		}
		slices.SortStableFunc(row.Dots, func(a, b reports.CurveDot) int {
			return slices.Index(marks, a.State) - slices.Index(marks, b.State)
		})
		f.Rows = append(f.Rows, row)
	}
	base := dir + "/" + curveFile
	var svg bytes.Buffer
	if err := reports.Encode(&svg, "svg", f); err != nil {
		return err
	}
	old, err := os.ReadFile(base + ".svg")
	if err == nil && bytes.Equal(old, svg.Bytes()) && exist(base+".png", base+".pdf") {
		return nil
	}
	return reports.SaveFigure(base, f)
}

func exist(files ...string) bool {
	return !slices.ContainsFunc(files, func(file string) bool { _, err := os.Stat(file); return err != nil })
}

var marks = []reports.DotState{reports.DotMet, reports.DotPart, reports.DotOpen, reports.DotMissed}

// mark returns the mark of the reading. One that is missed is met in part if some values are on the side of the
// sentence, or all have its sign.
func (r *reading) mark() reports.DotState {
	switch {
	case r.State == verdict.Met:
		return reports.DotMet
	case r.State == verdict.Open:
		return reports.DotOpen
	case r.Right > 0 || r.Sign:
		return reports.DotPart
	}
	return reports.DotMissed
}

// Failing are the conclusions that do not hold.
func (p *paper) Failing() []*conclusion { return p.answeredBy(string(verdict.DoesNotHold)) }
