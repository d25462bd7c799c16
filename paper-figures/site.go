package figures

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"miglab/reports/site"
)

// AddToSite adds the claims and figures of a folder of results to the web site, if there are any.
func AddToSite(d *site.Data, results string) error {
	m, err := ReadManifest(results)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for r := range m.Rows() {
		if r.Repeats {
			continue
		}
		cells := r.Cells()
		d.Claims = append(d.Claims, site.Claim{
			Paper: r.Paper, Artefact: r.Artefact, Name: r.Claim, Kind: string(r.Kind), Reading: r.Reading, Default: r.Default,
			Published: cells.Published, Measured: cells.Measured, Low: cells.Low, High: cells.High, Margin: cells.Margin,
			Unit: r.Unit, Verdict: string(r.Verdict), Cause: string(r.Cause), Reason: r.Reason,
			Evidence: r.Evidence, Numbers: r.Numbers,
		})
	}
	for _, p := range m.Papers {
		if err := addFigures(d, filepath.Join(results, p.Name), p); err != nil {
			return err
		}
	}
	return nil
}

// addFigures adds the figures of a paper, in the order of its page, and then its tables by
// name.
func addFigures(d *site.Data, dir string, p PaperRecord) error {
	var tables []site.Figure
	for _, a := range p.Artefacts {
		for _, f := range a.Figures {
			svg, err := os.ReadFile(filepath.Join(dir, f.File+".svg"))
			if err != nil {
				return fmt.Errorf("%w; miglab reproduce writes it again", err)
			}
			d.Figures = append(d.Figures, site.Figure{Paper: p.Name, Artefact: f.File, Title: f.Title, SVG: svg})
		}
		for _, t := range a.Tables {
			title := t.Table.Title
			t.Table.Title = "" // stands above the table
			tables = append(tables, site.Figure{Paper: p.Name, Artefact: t.File, Title: title, Table: &t.Table})
		}
	}
	slices.SortFunc(tables, func(a, b site.Figure) int { return strings.Compare(a.Artefact, b.Artefact) })
	d.Figures = append(d.Figures, tables...)
	return nil
}
