package site

import (
	"strings"
)

// figuresView has the figures and tables of all papers.
type figuresView struct {
	Papers  []string
	Figures []figureView
	// at has the address of the first figure of each artefact, for example of far/table5.
	at map[string]string
}

type figureView struct {
	// ID is unique on the page.
	ID string
	Figure
	// Image is the file of a drawing; empty for a table.
	Image string
	// Page is the page of a table; empty for a drawing.
	Page string
	// Text is the table, aligned by spaces.
	Text string
}

// viewFigures returns the figures with their addresses, and the files of the drawings.
func viewFigures(figures []Figure) (figuresView, []file, error) {
	v := figuresView{Papers: distinct(figures, func(f Figure) string { return f.Paper }), at: map[string]string{}}
	var files []file
	taken := map[string]bool{}
	for _, f := range figures {
		out := figureView{ID: "figure-" + slug(f.Paper+" "+f.File, taken), Figure: f}
		address := "figures.html#" + out.ID
		if len(f.SVG) > 0 {
			out.Image = "figures/" + strings.TrimPrefix(out.ID, "figure-") + ".svg"
			files = append(files, file{out.Image, f.SVG})
		} else {
			out.Page = paperFile("tables", f.Paper)
			var text strings.Builder
			if err := f.Table.Text(&text); err != nil {
				return v, nil, err
			}
			out.Text = text.String()
			address = out.Page + "#" + out.ID
		}
		key := f.Paper + "/" + f.Artefact
		if v.at[key] == "" {
			v.at[key] = address
		}
		v.Figures = append(v.Figures, out)
	}
	return v, files, nil
}
