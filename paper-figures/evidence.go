package figures

import (
	"fmt"
	"slices"
	"strings"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/reports"
)

// prove adds to the deviations of a paper the numbers that their causes rest on, from the tables that causes.csv names.
// It leaves out numbers of artefacts that are not done. It empties [Table.About].
func prove(p *manifest.Paper, claims *claim.Set) error {
	tables := map[string]Table{}
	for i := range p.Artefacts {
		own := p.Artefacts[i].Tables
		for j, t := range own {
			tables[t.File] = t
			own[j].About = nil
		}
	}
	for i := range p.Artefacts {
		a := &p.Artefacts[i]
		for j := range a.Rows {
			r := &a.Rows[j]
			if r.Cause == "" || !r.Default {
				continue
			}
			c := claims.Find(claim.Key{Artefact: a.Name, Cell: r.Cell})
			e := claims.Explain(c, func(cause claim.Cause) bool { return cause == r.Cause })
			t, done := tables[e.Table]
			if !done {
				continue
			}
			r.Numbers = numbersAbout(&t, c.Home.Cell, strings.Split(e.Columns, ";"))
			if r.Numbers == nil {
				reason := fmt.Sprintf("has no row in %s, which causes.csv names", e.Table)
				return &KeyError{p.Name, r.Artefact, r.Claim, reason}
			}
		}
	}
	return nil
}

// numbersAbout returns the numbers in rows about a claim, of the columns that begin with one of the names.
func numbersAbout(t *Table, cell claim.Cell, names []string) (out []manifest.Evidence) {
	for i, about := range t.About {
		if about.Has(cell) {
			values := namedNumbers(t.Table.Columns, t.Table.Rows[i], names)
			out = append(out, manifest.Evidence{Label: about.Label, Values: values})
		}
	}
	return out
}

// namedNumbers returns the numbers of a row in the columns that begin with one of the names.
func namedNumbers(columns reports.Columns, row, names []string) (out []manifest.NamedNumber) {
	for i, c := range columns {
		name, unit, _ := strings.Cut(c.Name, " [")
		begins := slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(name, n) })
		switch last := len(out) - 1; {
		case row[i] == "" || !c.Right || !begins:
		case c.Join == "±":
			out[last].Half = row[i]
		case c.Join == "(":
			out[last].Published = row[i]
		default:
			out = append(out, manifest.NamedNumber{Name: name, Value: row[i], Unit: strings.TrimSuffix(unit, "]")})
		}
	}
	return out
}
