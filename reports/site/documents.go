package site

import (
	"bytes"
	"cmp"
	_ "embed"
	"html"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	renderer "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// clusters is a page of the documentation and of every site.
//
//go:embed CLUSTERS.md
var clusters []byte

// papersFolder is the folder of the site with the pages of the results, which are there under the same paths.
const papersFolder = "papers/"

// markdown leaves out HTML, except what [convert] allows.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(renderer.WithXHTML()),
)

// A document is a page in Markdown as HTML.
type document struct {
	title string
	body  template.HTML
	// files are the files that it links or shows, relative to its own folder.
	files []string
}

var (
	thumbnail = regexp.MustCompile(`<img src="([^"]+)" alt="([^"]*)" width="150">`)
	anchor    = regexp.MustCompile(`^(<a id="[\w-]+">|</a>)$`)
	heading   = regexp.MustCompile(`<h1[^>]*>(.*)</h1>`)
	tag       = regexp.MustCompile(`<[^>]*>`)
)

// convert returns a page in Markdown as HTML in which tables and blocks of code scroll in boxes of their own. Of HTML
// in the page it keeps thumbnails and anchors.
func convert(source []byte) (d document, err error) {
	source = thumbnail.ReplaceAll(source, []byte("![$2]($1)"))
	root := markdown.Parser().Parse(text.NewReader(source))
	var tags []*ast.RawHTML
	err = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = d.follow(n.Destination)
		case *ast.Image:
			n.Destination = d.follow(n.Destination)
			n.SetAttributeString("loading", []byte("lazy"))
		case *ast.RawHTML:
			tags = append(tags, n)
		case *ast.FencedCodeBlock:
			box(n, "scroll", "Commands, or what they print")
		case *tables.Table:
			n.SetAttributeString("class", []byte("data"))
			box(n, "scroll short", "Table")
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return d, err
	}
	for _, n := range tags {
		if text := n.Segments.Value(source); anchor.Match(text) {
			n.Parent().ReplaceChild(n.Parent(), n, verbatim(string(text)))
		}
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, root); err != nil {
		return d, err
	}
	if found := heading.FindSubmatch(b.Bytes()); found != nil {
		d.title = html.UnescapeString(tag.ReplaceAllString(string(found[1]), ""))
	}
	d.body = template.HTML(b.String())
	return d, nil
}

// follow returns the address on the site of one in a page of results, and notes its file.
func (d *document) follow(address []byte) []byte {
	to := string(address)
	if name, _, _ := strings.Cut(to, "#"); name != "" && !strings.Contains(name, ":") {
		d.files = append(d.files, name)
		to = strings.Replace(to, name, onSite(name), 1)
	}
	return []byte(to)
}

// onSite returns the name on the site of a file of the results.
func onSite(name string) string {
	return strings.NewReplacer("README.md", "index.html", ".md", ".html").Replace(name)
}

// box puts a block into a box that scrolls.
func box(n ast.Node, class, label string) {
	open := `<div class="` + class + `" tabindex="0" role="region" aria-label="` + label + `">`
	n.Parent().InsertBefore(n.Parent(), n, verbatim(open))
	n.Parent().InsertAfter(n.Parent(), n, verbatim("</div>\n"))
}

// verbatim returns a node that becomes the given HTML.
func verbatim(html string) ast.Node {
	n := ast.NewString([]byte(html))
	n.SetCode(true)
	return n
}

// viewResults returns the page README.md of the results, the pages to which links lead from there, and the other files
// that they link or show.
func viewResults(results fs.FS) (pages []page, files []file, err error) {
	names := []string{"README.md"}
	for i := 0; i < len(names); i++ {
		name := names[i]
		data, err := fs.ReadFile(results, name)
		if err != nil {
			return nil, nil, refuse(name, "%w; miglab reproduce writes it again", err)
		}
		at := papersFolder + onSite(name)
		if path.Ext(name) != ".md" {
			files = append(files, file{at, data})
			continue
		}
		d, err := convert(data)
		if err != nil {
			return nil, nil, refuse(name, "%w", err)
		}
		for _, to := range d.files {
			if to = path.Join(path.Dir(name), to); !slices.Contains(names, to) {
				names = append(names, to)
			}
		}
		p := page{File: at, Title: cmp.Or(d.title, name), Template: "document.html", Body: d.body}
		if at != premisesPage {
			p.Under = papersPage
		}
		pages = append(pages, p)
	}
	return pages, files, nil
}
