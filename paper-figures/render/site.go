package render

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"miglab/harness/nearest"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
	"miglab/reports/site"
)

// AddToSite adds the claims and figures of a folder of results to the web site, if there are any.
func AddToSite(d *site.Data, results string) error {
	m, err := manifest.Read(results)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	d.Verdicts, d.Premises = nearest.Names(verdict.All, asText), "far/premises"
	for _, p := range newRun(m).Papers {
		d.Papers = append(d.Papers, p.onSite())
		for _, a := range p.Artefacts {
			for i := range a.Rows {
				if r := &a.Rows[i]; !r.Repeats {
					d.Claims = append(d.Claims, p.claimOnSite(r, a.Title))
				}
			}
		}
		if err := p.addFigures(d, filepath.Join(results, p.Name)); err != nil {
			return err
		}
	}
	return nil
}

// onSite returns the first screen of the paper as the site shows it.
func (p *paper) onSite() site.Paper {
	out := site.Paper{
		Name: p.Name, Title: p.Title, Cite: p.Cite, About: p.About, Limits: p.Limits, Curve: curveFile,
		Brief: p.Unlinked(), Score: words("score", p),
	}
	for _, a := range verdict.Answers {
		out.Answers = append(out.Answers, site.NameCount{Name: string(a), N: p.countAnswers()[a]})
	}
	for _, c := range p.Conclusions {
		met := c.Share()
		if c.Part != "" && met != string(c.Part) {
			met += ", " + string(c.Part)
		}
		one := site.Conclusion{
			ID: c.ID, Short: c.Name(), Sentence: c.Sentence, Section: c.Section, Answer: string(c.Answer), Met: met,
			Because: c.Because, Varied: c.Varied, Numbers: c.DecidingValues(), Plain: c.Plain(), Reason: c.Reason(),
		}
		if len(c.Limits) > 0 {
			one.Artefact = c.Limits[0].Artefact
		}
		out.Conclusions = append(out.Conclusions, one)
	}
	return out
}

// claimOnSite returns the row of an artefact with a title as the site shows it.
func (p *paper) claimOnSite(r *manifest.Row, title string) site.Claim {
	return site.Claim{
		Paper: r.Paper, Artefact: r.Artefact, Title: title, Name: r.Claim, Kind: string(r.Kind), Reading: r.Reading,
		Default: r.Default, Published: publishedText(r), Measured: numberText(r, r.Measured), Low: numberText(r, r.Low),
		High: numberText(r, r.High), Margin: numberText(r, r.Margin), Unit: r.Unit, Verdict: string(r.Verdict),
		Cause:  string(r.Cause),
		Reason: reason(p.Paper, r), Evidence: r.Evidence, Numbers: words("evidence", r.Numbers),
	}
}

// addFigures adds the drawing of the paper's conclusions, its figures, and then its tables by name.
func (p *paper) addFigures(d *site.Data, dir string) error {
	add := func(artefact string, f manifest.Figure) error {
		svg, err := os.ReadFile(filepath.Join(dir, f.File+".svg"))
		if err != nil {
			return fmt.Errorf("%w; miglab reproduce writes it again", err)
		}
		fig := site.Figure{Paper: p.Name, Artefact: artefact, File: f.File, Title: f.Title, SVG: svg}
		d.Figures = append(d.Figures, fig)
		return nil
	}
	if len(p.Conclusions) > 0 {
		curve := manifest.Figure{File: curveFile, Title: "Each conclusion of the paper, with a mark for each reading"}
		if err := add(curveFile, curve); err != nil {
			return err
		}
	}
	var tables []site.Figure
	for _, a := range p.Pages {
		for _, f := range a.Figures {
			if err := add(a.Name, f); err != nil {
				return err
			}
		}
		for _, t := range a.Tables {
			untitled := t.Table
			untitled.Title = "" // it stands above the table
			tables = append(tables, site.Figure{
				Paper: p.Name, Artefact: a.Name, File: t.File, Title: t.Title, Table: &untitled,
			})
		}
	}
	slices.SortFunc(tables, func(a, b site.Figure) int { return strings.Compare(a.File, b.File) })
	d.Figures = append(d.Figures, tables...)
	return nil
}
