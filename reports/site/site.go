// Package site writes results as a static web site: a folder that opens from disk, without a server.
//
// It has leaderboards, the algorithms, the pages of the papers, instances with two schedules side by side, a page that
// runs schedulers on pasted tasks, and answers for clusters. The pages are html/template or Markdown, which
// escape whatever comes from results; a little plain JavaScript sorts, filters and draws. Without it everything but the
// Gantt charts and try.html can be read.
//
// Schedules must pass [schedule.Check]. The same [Data] gives the same bytes.
package site

import (
	"bytes"
	"fmt"
	"io/fs"
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
	// Results is a folder of results, whose pages in Markdown are pages of the site as well; nil if there is none.
	Results fs.FS
	// Papers have pages in Results. Left is how many artefacts of papers are not done, and Absent names the papers of
	// which none is done.
	Papers []Paper
	Left   int
	Absent []string
	// Flags name the results to the commands that compute what is missing, for example "--results mine".
	Flags     string
	Numbers   []Number
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

// A Paper is a line of the first page. Empty values are missing.
type Paper struct {
	// Name is the folder of the paper's pages in the results.
	Name, Title string
	// Brief says in a sentence or two what came out, and Score counts the conclusions by answer, in words.
	Brief, Score string
}

// A Number is a published number beside the measured one. Empty values are missing.
type Number struct {
	// Paper and Artefact name a page in the results, and Claim says what the number is.
	Paper, Artefact, Claim string
	// Published includes the relation, such as >=, and the unit. Interval is the 95 % interval of Measured.
	Published, Measured, Interval string
	// Verdict is empty in a quick run.
	Verdict, Cause string
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
	answers, err := convert(clusters)
	if err != nil {
		return nil, err
	}
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
		{File: "instances.html", Title: "Instances", Body: datasets, Scripts: []string{"gantt.js", "instances.js"}},
		{File: "clusters.html", Title: answers.title, Template: "document.html", Body: answers.body},
	}...)
	if d.Results != nil {
		papers, shown, err := viewResults(d.Results)
		if err != nil {
			return nil, err
		}
		pages, files = append(pages, papers...), append(files, shown...)
		pages = append(pages, page{File: "numbers.html", Title: "Numbers", Body: d.Numbers})
	}
	if d.Try != nil {
		try, script, err := viewTry(&d)
		if err != nil {
			return nil, err
		}
		pages, files = append(pages, try), append(files, script)
	}
	html, err := encode(pages, navigation(tabs, pages))
	return slices.Concat(files, html, assetFiles()), err
}

// encode returns the pages as HTML, each with the links of the navigation.
func encode(pages []page, links []link) (files []file, err error) {
	for _, p := range pages {
		p.Links = links
		var html bytes.Buffer
		if err := templatePages().ExecuteTemplate(&html, "layout.html", p); err != nil {
			return nil, fmt.Errorf("site: %s: %w", p.File, err)
		}
		files = append(files, file{p.File, html.Bytes()})
	}
	return files, nil
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
