package figures

import (
	"fmt"
	"slices"
	"strings"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// A KeyError says that the claims of an artefact and its declaration do not match.
type KeyError struct {
	Paper, Artefact, Key string
	// Reason says what is wrong with the key.
	Reason string
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("%s/%s: %q %s", e.Paper, e.Artefact, e.Key, e.Reason)
}

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

// Script builds the evidence for the cause unpublished: for each line of script.csv, the numbers of print, of the
// authors' public code and of the default reading here. It builds the artefacts to which the lines belong.
func Script(d *Data) {
	d.DefaultAlone = true
	built := map[string]bool{}
	for i := range d.Claims.Scripts {
		name := d.Claims.Scripts[i].Artefact
		if built[name] {
			continue
		}
		built[name] = true
		a := d.others[slices.IndexFunc(d.others, func(a Artefact) bool { return a.Name == name })]
		own := d.Output
		d.Output = Output{}
		a.Build(d)
		values := d.Readings[0].Values
		d.Output = own
		d.scriptTable(&a, values)
	}
}

// scriptTable lists the lines of script.csv about an artefact.
func (d *Data) scriptTable(a *Artefact, values Values) {
	c := d.Claims
	t := d.Table("script-"+a.Name,
		fmt.Sprintf("The authors' public code and print: %s, %s", a.Name, a.Title),
		reports.Left("claim").Right("published").PlusMinus("authors' code").Right("runs").PlusMinus("here").
			PlusMinus("authors' code less here").Left("against print", "as here", "code", "settings"),
		"authors' code: stored numbers; paper-figures/authors/README.md has the commands that make them again",
		"±: half of the 95 % interval",
		"against print: the verdict on the authors' code, by the rules for what is measured here",
		"as here: the interval of the difference contains 0, or lies within what the claim allows",
		"code, settings: those of the row above where they are empty")
	above := ""
	for i := range c.Scripts {
		r := &c.Scripts[i]
		if r.Artefact != a.Name {
			continue
		}
		printed, ours := c.Find(r.Key), values[r.Cell]
		theirs := r.Measurement(ours)
		difference, half := theirs.Minus(ours)
		agrees := "no"
		if theirs.Agrees(ours, printed.Allowed()) {
			agrees = "yes"
		}
		code, settings := fmt.Sprintf("%s@%.7s, %s, %s", r.Repository, r.Commit, r.File, r.Function), r.Settings
		source := code + settings
		if source == above {
			code, settings = "", ""
		}
		above = source
		t.RowAbout(claim.Selection(r.Cell), "", r.Cell, reports.Fixed(printed.Published, printed.Decimals),
			PlusMinus(theirs, printed.Decimals+1), r.Runs, PlusMinus(ours, printed.Decimals+1),
			reports.Cells(printed.Decimals+1, difference, half), verdict.Judge(printed.Claim, theirs).Verdict,
			agrees, code, settings)
	}
}
