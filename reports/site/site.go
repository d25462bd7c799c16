// Package site writes results as a static web site: a folder that opens from disk, without a server.
//
// It has leaderboards, the algorithms, the claims of the papers, their figures and tables, instances
// with two schedules side by side, how real work scales, a page that runs schedulers on pasted tasks, and answers for
// clusters. The pages are html/template, which escapes whatever comes from results; a little plain
// JavaScript sorts, filters and draws. Without it everything but the Gantt charts and try.html can be read.
//
// Schedules must pass [schedule.Check]. The same [Data] gives the same bytes.
package site

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/reports"
	"miglab/reports/leaderboard"
)

// Data is the contents of a site. Everything appears in the given order. The pages say what is missing.
type Data struct {
	Boards []Board
	// Algorithms are listed on a page, to which the boards link.
	Algorithms []algo.Spec
	// Papers are in the order of their claims.
	Papers []Paper
	Claims []Claim
	// Verdicts is the order in which verdicts are listed. Other verdicts follow them.
	Verdicts []string
	Figures  []Figure
	// Premises is the artefact that has a page of its own, about how measured work scales: for example far/premises.
	Premises  string
	Instances []Instance
	// Suite has tables of the suite, its board first.
	Suite []reports.Table
	// Try is the program of try.html; without it the site does not have that page.
	Try *Program
}

// A Board has the leaderboards of a track under one model of GPU and reconfiguration, one for each dataset.
type Board struct {
	Track, GPU, Model string
	// Standings of a dataset follow each other.
	Standings []leaderboard.Standing
	// About says what datasets are, by their names.
	About map[string]string
}

// A Paper is the outcome of a paper in short: the first screen of its page.
type Paper struct {
	Name, Title, Cite string
	// About says in a sentence what the paper is about. Limits says what weakens our conclusions about it.
	About, Limits string
	// Brief says in a sentence or two what came out. It is empty after a part of a run.
	Brief string
	// Score summarizes the answers in words. Answers counts each answer.
	Score       string
	Answers     []NameCount
	Conclusions []Conclusion
	// Curve is the file of the [Figure] that draws the conclusions.
	Curve string
}

// A Conclusion is a sentence of a paper that was turned into a test. Empty values are missing.
type Conclusion struct {
	ID, Short, Sentence, Section string
	// Artefact is the one whose values decide.
	Artefact string
	// Answer says whether it holds, and Met under how many readings.
	Answer, Met string
	// Numbers lists the values that decide. Plain puts them in a sentence. Because is the whole explanation, and Reason
	// its first sentence. Varied names the points on which the readings differ.
	Reason, Numbers, Plain, Because, Varied string
}

// A Claim is a published number beside the measured one, under one reading. Empty values are missing.
type Claim struct {
	// Title is the artefact's title.
	Paper, Artefact, Title string
	// Name says what the number is. Kind is "printed", "stated" for a sentence that was turned into a test, or
	// "arithmetic" for a number that follows from other printed ones.
	Name, Kind string
	// Reading is how the paper is understood. Only the default reading is counted.
	Reading string
	Default bool
	// Published includes the relation, such as >=, and Margin is how far the measured value may lie from it.
	Published, Measured, Low, High, Margin, Unit string
	// Verdict is empty in a quick run.
	Verdict, Cause, Reason string
	// Evidence names the artefact that shows the cause, for example far/table5. Numbers lists the values that decide.
	Evidence, Numbers string
}

// A Figure is an artefact of a paper: a drawing or a table, not both.
type Figure struct {
	// File is the name of the figure, which no other figure of the paper has.
	Paper, Artefact, File, Title string
	// SVG is the drawing. It becomes a file and is only ever shown as an image.
	SVG   []byte
	Table *reports.Table
}

// An Instance is a problem with the schedules of algorithms.
type Instance struct {
	// Track is the algorithms' track.
	Track, Dataset string
	// Number is the instance's place in the dataset.
	Number  int
	Problem schedule.Problem
	// Lower is a certified lower bound on the makespan of any schedule; 0 if it is unknown.
	Lower mig.Seconds
	// Proven says that Lower is the optimum.
	Proven bool
	Plans  []Plan
}

// A Plan is an algorithm's schedule.
type Plan struct {
	// Algorithm is the ID, with parameters.
	Algorithm string
	Schedule  schedule.Schedule
}

// refuse returns the error about a part of the data, such as "instance 3 of drl/WIDETIMES".
func refuse(part, format string, args ...any) error {
	return fmt.Errorf("site: %s: "+format, append([]any{part}, args...)...)
}

// Write makes dir a site, in place of an earlier one: it replaces and removes files that an earlier Write wrote, and
// no others. Missing folders are made. A folder that holds something else than a site is refused, and so are data
// that contradict themselves: an invalid schedule, or a makespan below a certified bound. Nothing is written then.
func Write(dir string, d Data) error {
	files, err := render(d)
	if err != nil {
		return err
	}
	return writeFolder(dir, files)
}

// algorithmsView lists the algorithms by track.
type algorithmsView struct {
	Tracks     []string
	Algorithms []algo.Spec
}

type file struct {
	// path is relative to the site's folder and has slashes.
	path string
	data []byte
}

func render(d Data) ([]file, error) {
	names := map[string]string{}
	for _, a := range d.Algorithms {
		names[a.Name] = "algorithms.html#" + a.Name
	}
	boards := make([]boardView, len(d.Boards))
	for i, b := range d.Boards {
		boards[i] = viewBoard(b, names)
	}
	datasets, files, err := viewInstances(d.Instances)
	if err != nil {
		return nil, err
	}
	figures, drawings, err := viewFigures(d.Figures)
	if err != nil {
		return nil, err
	}
	files = append(files, drawings...)
	tabs, pages := boardPages(boards)
	home, err := viewHome(&d, tabs)
	if err != nil {
		return nil, err
	}
	pages = append(pages, []page{
		{File: "index.html", Title: "Schedulers for Multi-Instance GPUs", Body: home},
		{File: "suite.html", Title: "The suite", Body: d.Suite},
		{File: "algorithms.html", Title: "Algorithms", Body: algorithmsView{
			distinct(d.Algorithms, func(a algo.Spec) string { return a.Track }), d.Algorithms,
		}},
		{File: "claims.html", Title: "Claims", Body: viewClaims(&d)},
		{File: "figures.html", Title: "Figures", Body: figures},
		{File: "premises.html", Title: "Real work", Body: viewPremises(&d, figures)},
		{File: "instances.html", Title: "Instances", Body: datasets, Scripts: []string{"gantt.js", "instances.js"}},
		{File: "clusters.html", Title: "What a cluster wants to know", Body: document(clusters)},
	}...)
	pages = append(pages, paperPages(&d, figures)...)
	if d.Try != nil {
		try, script, err := viewTry(&d)
		if err != nil {
			return nil, err
		}
		pages, files = append(pages, try), append(files, script)
	}
	html, err := encode(pages, tabs, d.Try != nil)
	return slices.Concat(files, html, assetFiles()), err
}

// encode returns the pages as HTML. try says that try.html is one of them.
func encode(pages []page, tabs []tab, try bool) (files []file, err error) {
	for _, p := range pages {
		p.Try = try
		if len(tabs) > 0 {
			p.Boards = tabs[0].File
		}
		var html bytes.Buffer
		if err := templatePages.ExecuteTemplate(&html, "layout.html", p); err != nil {
			return nil, fmt.Errorf("site: %s: %w", p.File, err)
		}
		files = append(files, file{p.File, html.Bytes()})
	}
	return files, nil
}

// paperPages returns the pages of claims, of numbers and of tables of each paper.
func paperPages(d *Data, figures figuresView) (pages []page) {
	for _, paper := range distinct(d.Claims, func(c Claim) string { return c.Paper }) {
		v := viewPaper(paper, d, figures)
		pages = append(pages,
			page{File: v.Page, Title: "Claims of " + paper, Template: "paper.html", Under: "claims.html", Body: v},
			page{
				File: v.NumbersPage, Title: "Numbers of " + paper, Template: "numbers.html", Under: "claims.html", Body: v,
			})
	}
	return append(pages, tablePages(figures)...)
}

// tablePages returns a page of tables for each paper.
func tablePages(figures figuresView) (pages []page) {
	for _, paper := range figures.Papers {
		own := matching(figures.Figures, func(f figureView) bool { return f.Paper == paper && f.Page != "" })
		pages = append(pages, page{
			File: paperFile("tables", paper), Title: "Tables of " + paper, Template: "tables.html", Under: "figures.html",
			Body: figuresView{Papers: []string{paper}, Figures: own},
		})
	}
	return pages
}

// slug makes a name that files, addresses and IDs can hold, different from those already taken, and takes it.
func slug(text string, taken map[string]bool) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
			b.WriteByte('-')
		}
	}
	const longest = 60
	base := b.String()
	base = strings.Trim(base[:min(len(base), longest)], "-")
	if base == "" {
		base = "unnamed"
	}
	name := base
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	taken[name] = true
	return name
}

// distinct returns the values that are not empty in order of appearance, each once.
func distinct[T any](all []T, of func(T) string) []string {
	var out []string
	for _, v := range all {
		s := of(v)
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// matching returns the values that a condition holds for.
func matching[T any](all []T, holds func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool { return !holds(v) })
}
