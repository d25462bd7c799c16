package figures

import (
	"fmt"
	"slices"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

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
		difference, half := theirs.Less(ours)
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
		about := About{Selection: claim.Selection(r.Cell)}
		t.RowAbout(about, r.Cell, reports.Fixed(printed.Published, printed.Decimals),
			PlusMinus(theirs, printed.Decimals+1), r.Runs, PlusMinus(ours, printed.Decimals+1),
			reports.Cells(printed.Decimals+1, difference, half), verdict.Judge(printed.Claim, theirs).Verdict,
			agrees, code, settings)
	}
}
