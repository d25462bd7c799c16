package render

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"miglab/harness/nearest"
	"miglab/paper-figures/claim"
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
	common      []manifest.Term
	Conclusions []*conclusion
	// Pages are the artefacts in the order of their pages. Artefacts of inputs alone come last.
	Pages []*artefact
}

func newPaper(m *manifest.Manifest, p *manifest.Paper, common []manifest.Term) *paper {
	if m.Left > 0 { // the brief and the summary speak of all artefacts
		part := *p
		part.Brief, part.Summary = "", ""
		p = &part
	}
	out := &paper{Paper: p, Manifest: m, common: common}
	for i := range p.Conclusions {
		out.Conclusions = append(out.Conclusions, newConclusion(p, &p.Conclusions[i]))
	}
	var inputs []*artefact
	for i := range p.Artefacts {
		a := newArtefact(out, &p.Artefacts[i])
		if len(a.Measured) == 0 && len(a.Inputs) > 0 {
			inputs = append(inputs, a)
		} else {
			out.Pages = append(out.Pages, a)
		}
	}
	out.Pages = append(out.Pages, inputs...)
	return out
}

// An answered group has the conclusions with one full answer, for example "holds in the model".
type answered struct {
	Answer      string
	Conclusions []*conclusion
}

// Count words the number of conclusions with the answer: "1 holds", or "2 hold".
func (a answered) Count() string {
	answer := a.Answer
	if len(a.Conclusions) != 1 {
		answer = strings.NewReplacer("holds", "hold", "does", "do").Replace(answer)
	}
	return fmt.Sprintf("%d %s", len(a.Conclusions), answer)
}

// AnsweredBy returns the conclusions with a full answer.
func (p *paper) AnsweredBy(answer string) []*conclusion {
	return slices.DeleteFunc(slices.Clone(p.Conclusions), func(c *conclusion) bool { return c.FullAnswer() != answer })
}

// Answered groups the conclusions by full answer, in the order of summaries.
func (p *paper) Answered() (out []answered) {
	for _, answer := range append(slices.Clone(verdict.Answers), verdict.NotCounted) {
		full := []string{string(answer)}
		if answer == verdict.InTheModel {
			full = nearest.Names(verdict.Answers,
				func(part verdict.Answer) string { return string(part) + " " + string(answer) })
		}
		for _, a := range full {
			if own := p.AnsweredBy(a); len(own) > 0 {
				out = append(out, answered{a, own})
			}
		}
	}
	return out
}

func (p *paper) countVerdicts(kind claim.Kind) manifest.Tally {
	return (&manifest.Manifest{Papers: []manifest.Paper{*p.Paper}}).Count(kind)
}

func (p *paper) countAnswers() map[verdict.Answer]int {
	n := map[verdict.Answer]int{}
	for _, c := range p.Conclusions {
		n[c.Answer]++
	}
	return n
}

// BriefIn returns the brief with links from the folder above the paper's.
func (p *paper) BriefIn(folder string) string {
	return strings.ReplaceAll(p.Brief, "(CONCLUSIONS.md", "("+folder+"/CONCLUSIONS.md")
}

var conclusionLink = regexp.MustCompile(`\[(\w+)\]\(CONCLUSIONS\.md#\w+\)`)

// Unlinked returns the brief with the names of conclusions in place of links.
func (p *paper) Unlinked() string {
	return conclusionLink.ReplaceAllString(p.Brief, "$1")
}

// Judged counts the conclusions with an answer that counts.
func (p *paper) Judged() int { return len(p.Conclusions) - p.countAnswers()[verdict.NotCounted] }

// termsPage is the page that explains the terms, to which the other pages link.
const termsPage = "TERMS.md"

// addPages adds the pages of the paper and the files of its tables.
func (p *paper) addPages(out *folder) {
	add := func(name, template string, data any) {
		text, err := show(template, data)
		text = p.linkReferences(text)
		if name != termsPage {
			text = linkTerms(text, p.Terms(), termsPage)
		}
		out.add(filepath.Join(p.Name, name), fold(text), err)
	}
	add("README.md", "PAPER.md.tmpl", p)
	add(termsPage, "TERMS.md.tmpl", p)
	if len(p.Conclusions) > 0 {
		add("CONCLUSIONS.md", "CONCLUSIONS.md.tmpl", p)
	}
	for _, a := range p.Pages {
		add(a.Name+".md", "ARTEFACT.md.tmpl", a)
		if a.Timed {
			continue
		}
		if file := a.ReadingsFile(); file != "" {
			out.addTable(filepath.Join(p.Name, file), "csv", a.byReading())
		}
		for _, t := range a.Tables {
			base := filepath.Join(p.Name, t.File)
			out.addTable(base+".tex", "latex", &t.Table)
			out.addTable(base+".csv", "csv", &t.Table)
		}
	}
}

// reference matches the names of artefacts in brackets that texts refer to, and the names of tables of times.
var reference = regexp.MustCompile(`\(see ([\w-]+)\)|\btable (timing[\w-]*)`)

// linkReferences links the artefacts and tables that a page refers to, if they were written.
func (p *paper) linkReferences(page string) string {
	return reference.ReplaceAllStringFunc(page, func(text string) string {
		groups := reference.FindStringSubmatch(text)
		switch {
		case p.has(groups[1]):
			return "(see [" + groups[1] + "](" + groups[1] + ".md))"
		case groups[2] != "" && slices.ContainsFunc(p.Artefacts, func(a manifest.Artefact) bool {
			return slices.Contains(a.TimedTables, groups[2])
		}):
			return "table [" + groups[2] + "](../" + groups[2] + ".md)"
		}
		return text
	})
}

func (p *paper) has(artefact string) bool {
	return slices.ContainsFunc(p.Artefacts, func(a manifest.Artefact) bool { return a.Name == artefact })
}

// Terms are the paper's terms, and then the ones that all papers have.
func (p *paper) Terms() []manifest.Term { return slices.Concat(p.Paper.Terms, p.common) }

// saveCurve draws the conclusions, if there are any. It writes only if the SVG changes or one of the files is missing.
func (p *paper) saveCurve(dir string) error {
	if len(p.Conclusions) == 0 {
		return nil
	}
	f := reports.Curve{Title: p.Name + ": conclusions, a mark for each reading"}
	for _, c := range p.Conclusions {
		row := reports.CurveRow{Name: c.ID, Text: c.Name(), Answer: c.FullAnswer()}
		for _, r := range c.Readings {
			row.Dots = append(row.Dots, reports.CurveDot{Default: r.Default, Aside: r.Aside, State: r.mark()})
		}
		slices.SortStableFunc(row.Dots, func(a, b reports.CurveDot) int {
			return slices.Index(marks, a.State) - slices.Index(marks, b.State)
		})
		f.Rows = append(f.Rows, row)
	}
	base := filepath.Join(dir, curveFile)
	var svg bytes.Buffer
	if err := reports.Encode(&svg, "svg", f); err != nil {
		return err
	}
	old, err := os.ReadFile(base + ".svg")
	if err != nil || !bytes.Equal(old, svg.Bytes()) || missing(base+".pdf") {
		return reports.SaveFigure(base, f)
	}
	return nil
}

func missing(file string) bool {
	_, err := os.Stat(file)
	return err != nil
}

// marks lists the marks in the order in which a row has them.
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
