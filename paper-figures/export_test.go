package figures

import (
	"math"
	"regexp"

	"miglab/paper-figures/verdict"
)

// Deviating returns the page and claims.csv of a paper in which every claim that can deviate does,
// under each of its readings. No cell is computed, and the page has only the tables that every
// artefact with claims has.
func Deviating(p *Paper) (text, claims string, err error) {
	record := PaperRecord{Name: p.Name, Title: p.Title, Cite: p.Cite, About: p.About, Limits: p.Limits, Terms: p.Terms}
	for i := range p.Artefacts {
		a := &p.Artefacts[i]
		d, o, err := p.declare(a, Scale{})
		if err != nil {
			return "", "", err
		}
		d.off(o, a.Name)
		r, own, err := d.record(p.Name, a, o)
		if err != nil {
			return "", "", err
		}
		r.Tables = own
		record.Artefacts = append(record.Artefacts, r)
	}
	record.conclude(p.claims())
	m := Manifest{Papers: []PaperRecord{record}}
	if claims, err = m.claimsCSV(); err != nil {
		return "", "", err
	}
	text, err = record.page(false, 0)
	return text, claims, err
}

// Unlinked is a page without the links to its terms.
func Unlinked(page string) string {
	return regexp.MustCompile(`\[([^\]]*)\]\(#term-[^)]*\)`).ReplaceAllString(page, "$1")
}

// off gives claims values, with an interval, that are far from print: that of the authors' code if it is far, too.
// What needs a GPU is measured.
func (d *Data) off(o *Output, artefact string) {
	claims := d.Claims.Of(artefact)
	for i := range claims {
		c := &claims[i]
		far := 10 * (1 + math.Abs(c.Published))
		if c.Relation == verdict.AtLeast {
			far = -far
		}
		for j, r := range o.Readings {
			m, ok := r.Values[c.Name]
			if ok || j == 0 && c.Basis == Hardware {
				v := c.Published + far
				r.Values[c.Name] = Measurement{Value: v, Low: v - 0.1, High: v + 0.2, Detail: m.Detail}
				if s := d.Claims.script(c); s != nil && s.SD > 0 && d.Claims.unpublished(c, s.measurement(Measurement{})) {
					r.Values[c.Name] = s.measurement(Measurement{})
				}
			}
		}
	}
}

// checkPaper builds the artefacts and checks the claims.
func checkPaper(p *Paper) error {
	decs, err := p.Declarations()
	if err != nil {
		return err
	}
	return p.Claims.Check(p.Name, decs)
}
