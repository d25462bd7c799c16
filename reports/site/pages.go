package site

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"slices"
	"strings"
	"sync"
)

//go:embed assets
var assets embed.FS

//go:embed templates
var templates embed.FS

var templatePages = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(templates, "templates/*.html"))
})

func assetFiles() (out []file) {
	entries, err := assets.ReadDir("assets")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	for _, e := range entries {
		data, err := assets.ReadFile("assets/" + e.Name())
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
	// Scripts are the page's own, in the order in which they run.
	Scripts []string
	// Links are the pages of the navigation.
	Links []link
}

type link struct{ File, Title string }

// papersPage says what came out of the papers, and premisesPage compares their workloads with real work.
const (
	papersPage   = papersFolder + "index.html"
	premisesPage = papersFolder + "far/premises.html"
)

// navigation returns the links to the main pages that the site has, the first track's before the others.
func navigation(tabs []tab, pages []page) (links []link) {
	if len(tabs) > 0 {
		links = append(links, link{tabs[0].File, "Leaderboards"})
	}
	links = append(links, []link{
		{"suite.html", "Suite"},
		{"algorithms.html", "Algorithms"},
		{papersPage, "Papers"},
		{"numbers.html", "Numbers"},
		{premisesPage, "Real work"},
		{"instances.html", "Instances"},
		{"clusters.html", "Clusters"},
		{"try.html", "Try it"},
	}...)
	return matching(links, func(l link) bool {
		return slices.ContainsFunc(pages, func(p page) bool { return p.File == l.File })
	})
}

// Root leads from the page to the site's folder.
func (p page) Root() string { return strings.Repeat("../", strings.Count(p.File, "/")) }

// Current is the page that the navigation marks.
func (p page) Current() string { return cmp.Or(p.Under, p.File) }

func (p page) Main() (template.HTML, error) {
	var b bytes.Buffer
	err := templatePages().ExecuteTemplate(&b, cmp.Or(p.Template, p.File), p.Body)
	return template.HTML(b.String()), err
}
