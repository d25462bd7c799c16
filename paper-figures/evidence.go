package figures

import (
	"fmt"
	"slices"
	"strings"

	"miglab/paper-figures/claim"
	"miglab/reports"
)

// prove adds to the deviations of a paper the numbers that their causes rest on, out of the
// tables that causes.csv names. Numbers of artefacts that are not done are left out.
func prove(p *PaperRecord, claims *claim.Set) error {
	tables := map[string]Table{}
	for i := range p.Artefacts {
		own := p.Artefacts[i].Tables
		for j, t := range own {
			tables[t.File] = t
			own[j].About = nil // the claims get what people read of it
		}
	}
	for i := range p.Artefacts {
		a := &p.Artefacts[i]
		of := claims.Of(a.Name)
		for j := range a.Rows {
			r := &a.Rows[j]
			c := of[slices.IndexFunc(of, func(c claim.Claim) bool { return c.Cell == r.Cell })]
			e := claims.Explain(&c, func(cause claim.Cause) bool { return cause == r.Cause })
			t, done := tables[e.Table]
			if r.Cause == "" || !r.Default || !done {
				continue
			}
			if r.Numbers = numbersAbout(&t, c.Home.Cell, strings.Split(e.Columns, ";")); r.Numbers == "" {
				return &KeyError{
					p.Name, r.Artefact, r.Claim,
					fmt.Sprintf("has no row in %s, which causes.csv names", e.Table),
				}
			}
		}
	}
	return nil
}

// numbersAbout puts in words the columns, of rows about a claim, that begin with one of the names.
func numbersAbout(t *Table, cell claim.Cell, names []string) string {
	var out []string
	for i, about := range t.About {
		if !about.Has(cell) {
			continue
		}
		text := numbersInWords(t.Table.Columns, t.Table.Rows[i], names)
		if about.Label != "" {
			text = about.Label + ": " + text
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// numbersInWords puts the numbers of a row in words, in the columns that begin with one of the names.
func numbersInWords(columns reports.Columns, row, names []string) string {
	var numbers []string
	for i, c := range columns {
		name, unit, _ := strings.Cut(c.Name, " [")
		begins := slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(name, n) })
		last := len(numbers) - 1
		switch cell := row[i]; {
		case cell == "" || !c.Right || !begins:
		case c.Join == "±":
			numbers[last] += " ± " + cell
		case c.Join == "(":
			numbers[last] += " (published " + cell + ")"
		default:
			numbers = append(numbers, strings.TrimSpace(name+" "+cell+" "+strings.TrimSuffix(unit, "]")))
		}
	}
	return strings.Join(numbers, ", ")
}
