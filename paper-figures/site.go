package figures

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"miglab/paper-figures/verdict"
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
	for _, p := range m.Papers {
		if len(p.Artefacts) == 0 {
			continue // nothing of it is done
		}
		d.Papers = append(d.Papers, p.onSite())
		for _, a := range p.Artefacts {
			for _, r := range a.Rows {
				if !r.Repeats {
					d.Claims = append(d.Claims, r.onSite(a.Title))
				}
			}
		}
		if err := addFigures(d, filepath.Join(results, p.Name), p); err != nil {
			return err
		}
	}
	return nil
}

// onSite is the first screen of the paper as the site shows it.
func (p *PaperRecord) onSite() site.Paper {
	out := site.Paper{
		Name: p.Name, Title: p.Title, Cite: p.Cite, About: p.About, Limits: p.Limits, Score: p.score(),
		Curve: curveFile,
	}
	for _, a := range verdict.Answers {
		out.Answers = append(out.Answers, site.NameCount{Name: string(a), N: p.answered(a)})
	}
	leading := Map(p.leading(), func(c Conclusion) string { return c.ID })
	for _, c := range p.Conclusions {
		out.Conclusions = append(out.Conclusions, site.Conclusion{
			ID: c.ID, Short: cmp.Or(c.Short, c.Sentence), Sentence: c.Sentence, Section: c.Section,
			Answer: string(c.Answer),
			Met:    strings.Trim(c.share()+", "+string(c.Part), ", "),
			Brief:  c.brief(), Numbers: c.Numbers, Plain: c.Plain, Because: c.Because, Varied: c.Varied,
			Leading: slices.Contains(leading, c.ID),
		})
	}
	return out
}

// onSite is the row of an artefact with a title as the site shows it.
func (r *Row) onSite(title string) site.Claim {
	cells := r.Cells()
	return site.Claim{
		Paper: r.Paper, Artefact: r.Artefact, Title: title, Name: r.Claim, Kind: string(r.Kind), Reading: r.Reading,
		Default: r.Default, Published: cells.Published, Measured: cells.Measured, Low: cells.Low, High: cells.High,
		Margin: cells.Margin, Unit: r.Unit, Verdict: string(r.Verdict), Cause: string(r.Cause), Reason: r.Reason,
		Evidence: r.Evidence, Numbers: r.Numbers,
	}
}

// addFigures adds the figures of a paper, in the order of its page, that of its conclusions first, and then its tables
// by name.
func addFigures(d *site.Data, dir string, p PaperRecord) error {
	curve := Record{Artefact: curveFile}
	if len(p.Conclusions) > 0 {
		curve.Figures = []Figure{{File: curveFile, Title: "Each conclusion of the paper, with a dot for each reading"}}
	}
	artefacts := slices.Concat([]Record{curve}, p.Artefacts)
	var tables []site.Figure
	for _, a := range artefacts {
		for _, f := range a.Figures {
			svg, err := os.ReadFile(filepath.Join(dir, f.File+".svg"))
			if err != nil {
				return fmt.Errorf("%w; miglab reproduce writes it again", err)
			}
			fig := site.Figure{Paper: p.Name, Artefact: a.Artefact, File: f.File, Title: f.Title, SVG: svg}
			d.Figures = append(d.Figures, fig)
		}
		for _, t := range a.Tables {
			fig := site.Figure{Paper: p.Name, Artefact: a.Artefact, File: t.File, Title: t.Table.Title, Table: &t.Table}
			t.Table.Title = "" // stands above the table
			tables = append(tables, fig)
		}
	}
	slices.SortFunc(tables, func(a, b site.Figure) int { return strings.Compare(a.File, b.File) })
	d.Figures = append(d.Figures, tables...)
	return nil
}
