package site

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"strings"
)

//go:embed assets
var assets embed.FS

//go:embed templates
var templates embed.FS

var templatePages = template.Must(template.New("").Funcs(template.FuncMap{
	"code":         code,
	"unknownCause": func(c string) (string, error) { return "", fmt.Errorf("claims.html lacks the cause %q", c) },
}).ParseFS(templates, "templates/*.html"))

// code marks up what stands between two backquotes.
func code(text string) template.HTML {
	parts := strings.Split(text, "`")
	for i := range parts {
		if parts[i] = template.HTMLEscapeString(parts[i]); i%2 == 1 && i+1 < len(parts) {
			parts[i] = "<code>" + parts[i] + "</code>"
		}
	}
	return template.HTML(strings.Join(parts, ""))
}

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
	// Boards is the page of the first track; may be empty.
	Boards string
	// Try says that the site has try.html.
	Try bool
}

type link struct{ File, Title string }

// Links are the pages of the navigation.
func (p page) Links() (out []link) {
	if p.Boards != "" {
		out = append(out, link{p.Boards, "Leaderboards"})
	}
	out = append(out, []link{
		{"suite.html", "Suite"},
		{"algorithms.html", "Algorithms"},
		{"claims.html", "Claims"},
		{"figures.html", "Figures"},
		{"premises.html", "Real work"},
		{"instances.html", "Instances"},
		{"clusters.html", "Clusters"},
	}...)
	if p.Try {
		out = append(out, link{"try.html", "Try it"})
	}
	return out
}

// Current is the page that the navigation marks.
func (p page) Current() string { return cmp.Or(p.Under, p.File) }

func (p page) Main() (template.HTML, error) {
	var b bytes.Buffer
	err := templatePages.ExecuteTemplate(&b, cmp.Or(p.Template, p.File), p.Body)
	return template.HTML(b.String()), err
}
