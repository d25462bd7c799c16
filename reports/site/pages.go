package site

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"path"
	"slices"
	"strings"
)

//go:embed assets
var assets embed.FS

//go:embed templates
var templates embed.FS

var pages = template.Must(template.ParseFS(templates, "templates/*.html"))

// assetFiles returns the files that are the same in every site.
func assetFiles() []file {
	entries, err := assets.ReadDir("assets")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var out []file
	for _, e := range entries {
		data, err := assets.ReadFile(path.Join("assets", e.Name()))
		if err != nil {
			panic(err)
		}
		out = append(out, file{e.Name(), data})
	}
	return out
}

// A page is a page of the site. Its body is a template with the name of its file.
type page struct {
	File, Title string
	// Template is the name of the body's template; empty where it is File.
	Template string
	// Under is the page of the navigation that this one belongs to; empty where it is itself.
	Under string
	Body  any
	// Script is the page's own script; empty for none.
	Script string
}

// A link is an entry of the navigation.
type link struct{ File, Title string }

// Links are those of the navigation.
func (p page) Links() []link {
	return []link{
		{"index.html", "Leaderboards"},
		{"algorithms.html", "Algorithms"},
		{"claims.html", "Claims"},
		{"figures.html", "Figures"},
		{"instances.html", "Instances"},
	}
}

// Current is the page that the navigation marks.
func (p page) Current() string { return cmp.Or(p.Under, p.File) }

// Mark is the line by which [Write] recognizes a site.
func (p page) Mark() template.HTML { return mark }

// Main is the page's content.
func (p page) Main() (template.HTML, error) {
	var b bytes.Buffer
	err := pages.ExecuteTemplate(&b, cmp.Or(p.Template, p.File), p.Body)
	return template.HTML(b.String()), err
}

func (p page) execute() ([]byte, error) {
	var b bytes.Buffer
	err := pages.ExecuteTemplate(&b, "layout.html", p)
	return b.Bytes(), err
}

type claimsView struct {
	// Verdicts and Papers are those of the claims. Numbers is the number of claims,
	// without other readings.
	Verdicts, Papers []string
	Numbers          int
	Counts           []countView
	Claims           []claimView
}

// A countView is a line of the counts, of one paper or of all.
type countView struct {
	// Paper is empty for all papers.
	Paper string
	Total int
	Each  []verdictCount
}

type verdictCount struct {
	Verdict string
	N       int
}

type claimView struct {
	Claim
	// Figure is the ID of the artefact's figure or table, and Shown that of the evidence; empty
	// for none.
	Figure, Shown string
}

// Interval is the confidence interval, as [low, high].
func (c claimView) Interval() string {
	if c.Low == "" && c.High == "" {
		return ""
	}
	return "[" + c.Low + ", " + c.High + "]"
}

// verdicts are in the order of the counts. Other verdicts follow them.
var verdicts = []string{"REPRODUCED", "DEVIATES", "INCONCLUSIVE", "CONSISTENT", "NOT RUNNABLE", "INPUT"}

func viewClaims(claims []Claim, figures figuresView) claimsView {
	v := claimsView{Papers: distinct(claims, func(c Claim) string { return c.Paper })}
	found := distinct(claims, func(c Claim) string { return c.Verdict })
	for _, w := range append(slices.Clone(verdicts), found...) {
		if w != "" && slices.Contains(found, w) && !slices.Contains(v.Verdicts, w) {
			v.Verdicts = append(v.Verdicts, w)
		}
	}
	count := func(paper string) countView {
		c := countView{Paper: paper}
		for _, w := range v.Verdicts {
			c.Each = append(c.Each, verdictCount{Verdict: w})
		}
		for _, claim := range claims {
			if !claim.Default || paper != "" && claim.Paper != paper {
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
		paper, artefact, _ := strings.Cut(c.Evidence, "/")
		v.Claims = append(v.Claims, claimView{c, figures.ids[[2]string{c.Paper, c.Artefact}], figures.ids[[2]string{paper, artefact}]})
	}
	return v
}

type figuresView struct {
	Papers  []string
	Figures []figureView
	// ids has the first figure of each paper and artefact, and of each file of an artefact.
	ids map[[2]string]string
}

type figureView struct {
	// ID is unique on the page.
	ID string
	Figure
	// File is the file of a drawing; empty for a table.
	File string
}

func viewFigures(figures []Figure) (figuresView, []file, error) {
	v := figuresView{Papers: distinct(figures, func(f Figure) string { return f.Paper }), ids: map[[2]string]string{}}
	var files []file
	taken := map[string]bool{}
	for i, f := range figures {
		if (len(f.SVG) > 0) == (f.Text != "") {
			return v, nil, refuse(fmt.Sprintf("figure %d, %q", i+1, f.Title), "it needs either a drawing or a table, not both")
		}
		out := figureView{ID: "figure-" + slug(f.Paper+" "+f.Artefact, taken), Figure: f}
		if len(f.SVG) > 0 {
			out.File = "figures/" + strings.TrimPrefix(out.ID, "figure-") + ".svg"
			files = append(files, file{out.File, f.SVG})
		}
		// The table contradiction-table5 is of the artefact contradiction.
		whole, _, _ := strings.Cut(f.Artefact, "-")
		for _, name := range []string{f.Artefact, whole} {
			if at := [2]string{f.Paper, name}; v.ids[at] == "" {
				v.ids[at] = out.ID
			}
		}
		v.Figures = append(v.Figures, out)
	}
	return v, files, nil
}

// A factGroup is facts under one heading.
type factGroup struct {
	Name  string
	Facts []Fact
}

func viewFacts(facts []Fact) []factGroup {
	var out []factGroup
	for _, name := range distinct(facts, func(f Fact) string { return f.Group }) {
		g := factGroup{Name: name}
		for _, f := range facts {
			if f.Group == name {
				g.Facts = append(g.Facts, f)
			}
		}
		out = append(out, g)
	}
	return out
}
