package render

import (
	"errors"
	"io/fs"
	"os"

	"miglab/paper-figures/manifest"
	"miglab/reports/site"
)

// AddToSite adds the pages and numbers of a folder of results to the web site, if there are any.
func AddToSite(d *site.Data, results string) error {
	m, err := manifest.Read(results)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	d.Results, d.Left = os.DirFS(results), m.Left
	for _, p := range m.Papers {
		if len(p.Artefacts) == 0 {
			d.Absent = append(d.Absent, p.Name)
		}
	}
	r := newRun(m)
	for _, p := range r.Papers {
		one := site.Paper{Name: p.Name, Title: p.Heading, Brief: p.Unlinked()}
		if len(p.Conclusions) > 0 {
			one.Score = words("score", p)
		}
		d.Papers = append(d.Papers, one)
	}
	for row := range r.countedRows {
		d.Numbers = append(d.Numbers, site.Number{
			Paper: row.Paper, Artefact: row.Artefact, Claim: row.Claim, Published: withUnit(row),
			Measured: numberText(row, row.Measured), Interval: intervalText(row), Verdict: string(row.Verdict),
			Cause: string(row.Cause),
		})
	}
	return nil
}
