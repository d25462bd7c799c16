package figures

import (
	"fmt"
	"slices"
	"strings"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/reports"
)

// addEvidence adds, to each deviation whose cause names a table in causes.csv, the numbers of that table about the
// claim. It skips a table whose artefact was not computed in this run. It empties [Table.About], which is only an index
// for this. The error is a [*KeyError]: a table has no row about a claim.
func addEvidence(p *manifest.Paper, claims *claim.Set) error {
	tables := map[string]Table{}
	for i := range p.Artefacts {
		own := p.Artefacts[i].Tables
		for j, t := range own {
			tables[t.File] = t
			own[j].About = nil // t still has it.
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
			if !done { // or e names no table
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

// numbersAbout returns the numbers in rows about a claim, of the columns whose names begin with one of names.
func numbersAbout(t *Table, cell claim.Cell, names []string) (out []manifest.Evidence) {
	for i, about := range t.About {
		if about.Has(cell) {
			values := namedNumbers(t.Table.Columns, t.Table.Rows[i], names)
			out = append(out, manifest.Evidence{Label: about.Label, Values: values})
		}
	}
	return out
}

// namedNumbers returns the numbers of a row in the columns whose names begin with one of names. A joined column belongs
// to the number before it; it is left out if that number is.
func namedNumbers(columns reports.Columns, row, names []string) (out []manifest.NamedNumber) {
	shown := false // the last column that is not joined
	for i, c := range columns {
		name, unit, _ := strings.Cut(c.Name, " [")
		begins := slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(name, n) })
		chosen := row[i] != "" && c.Right && begins
		if c.Join == "" {
			shown = chosen
		}
		if !chosen || !shown {
			continue
		}
		switch last := len(out) - 1; c.Join {
		case "±":
			out[last].Half = row[i]
		case "(":
			out[last].Published = row[i]
		default:
			out = append(out, manifest.NamedNumber{Name: name, Value: row[i], Unit: strings.TrimSuffix(unit, "]")})
		}
	}
	return out
}
