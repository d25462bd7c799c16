package site

import (
	"fmt"
	"strings"
)

type figuresView struct {
	Papers  []string
	Figures []figureView
	// at has the address of the first figure of each paper and artefact, and of each file of an
	// artefact, and titles its title.
	at, titles map[[2]string]string
}

type figureView struct {
	// ID is unique on the page.
	ID string
	Figure
	// File is the file of a drawing; empty for a table.
	File string
	// Page is the page of a table; empty for a drawing.
	Page string
	// Text is the table, aligned by spaces.
	Text string
}

func tablesPage(paper string) string { return "tables-" + slug(paper, map[string]bool{}) + ".html" }

func viewFigures(figures []Figure) (figuresView, []file, error) {
	v := figuresView{
		Papers: distinct(figures, func(f Figure) string { return f.Paper }),
		at:     map[[2]string]string{}, titles: map[[2]string]string{},
	}
	var files []file
	taken := map[string]bool{}
	for i, f := range figures {
		if (len(f.SVG) > 0) == (f.Table != nil) {
			return v, nil, refuse(fmt.Sprintf("figure %d, %q", i+1, f.Title), "it needs either a drawing or a table, not both")
		}
		out := figureView{ID: "figure-" + slug(f.Paper+" "+f.Artefact, taken), Figure: f}
		address := "figures.html#" + out.ID
		if len(f.SVG) > 0 {
			out.File = "figures/" + strings.TrimPrefix(out.ID, "figure-") + ".svg"
			files = append(files, file{out.File, f.SVG})
		} else {
			out.Page = tablesPage(f.Paper)
			var text strings.Builder
			if err := f.Table.Text(&text); err != nil {
				return v, nil, err
			}
			out.Text = text.String()
			address = out.Page + "#" + out.ID
		}
		// The table contradiction-table5 is of the artefact contradiction.
		whole, _, _ := strings.Cut(f.Artefact, "-")
		for _, name := range []string{f.Artefact, whole} {
			if key := [2]string{f.Paper, name}; v.at[key] == "" {
				v.at[key], v.titles[key] = address, f.Title
			}
		}
		v.Figures = append(v.Figures, out)
	}
	return v, files, nil
}
