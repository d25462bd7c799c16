package figures

import (
	"errors"
	"fmt"

	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// fromUnpublished is the cause of a number that the authors' public code does not give, although it gives ours.
const fromUnpublished Cause = "unpublished"

// A scriptRow is a line of script.csv: what the authors' public code gave for a claim when it was run.
type scriptRow struct {
	Artefact string `csv:"artefact"`
	Claim    string `csv:"claim"`
	// Repository, Commit, File and Function say which code it is.
	Repository string `csv:"repository"`
	Commit     string `csv:"commit"`
	File       string `csv:"file"`
	Function   string `csv:"function"`
	// Settings says how it was run, and every change to the code.
	Settings string `csv:"settings"`
	// Runs is the number of its executions, and Mean and SD are those of the number over them, in the claim's unit.
	Runs int     `csv:"runs"`
	Mean float64 `csv:"mean"`
	SD   float64 `csv:"sd"`
}

// addScript adds a row of script.csv, or returns the column that is wrong.
func (c *Claims) addScript(r *scriptRow) (column string, err error) {
	claim := c.find(r.Artefact, r.Claim)
	switch {
	case claim == nil:
		return "claim", fmt.Errorf("%s has no claim %q", r.Artefact, r.Claim)
	case c.script(claim) != nil:
		return "claim", fmt.Errorf("%q of %s is listed twice", r.Claim, r.Artefact)
	case r.Repository == "" || r.File == "" || r.Function == "":
		return "repository", errors.New("repository, file and function must say which code was run")
	case len(r.Commit) != 40:
		return "commit", fmt.Errorf("%q is no full hash of a commit", r.Commit)
	case r.Runs < verdict.Executions.Fewest():
		return "runs", fmt.Errorf("%d runs have no interval", r.Runs)
	case r.SD < 0:
		return "sd", fmt.Errorf("%v is negative", r.SD)
	}
	c.scripts = append(c.scripts, *r)
	return "", nil
}

// script returns what the authors' code gave for a claim, or nil.
func (c *Claims) script(claim *Claim) *scriptRow {
	for i := range c.scripts {
		if r := &c.scripts[i]; r.Artefact == claim.Artefact && r.Claim == claim.Home {
			return r
		}
	}
	return nil
}

// measurement is what the authors' code gave. The printed number has the sampling error that it has against ours.
func (r *scriptRow) measurement(ours Measurement) Measurement {
	return verdict.Sampled(r.Mean, r.SD, r.Runs, verdict.Executions, ours.PrintSE)
}

// unpublished reports whether what made a printed number is not public: the authors' public code deviates from print,
// and agrees with what is measured here.
func (c *Claims) unpublished(claim *Claim, ours Measurement) bool {
	r := c.script(claim)
	if r == nil {
		return false
	}
	theirs := r.measurement(ours)
	return verdict.Judge(claim.Claim, theirs).Verdict == verdict.Deviates && theirs.Agrees(ours, claim.Allowed())
}

// Script builds the evidence for the cause unpublished: what print, the authors' public code and the default reading
// here give for each line of script.csv. The builds are those of the artefacts to which the lines belong; only their
// first readings are used.
func Script(builds Builds) Build {
	return func(d *Data) (*Output, error) {
		out, tables := new(Output), map[string]*Table{}
		for i := range d.Claims.scripts {
			r := &d.Claims.scripts[i]
			if tables[r.Artefact] != nil {
				continue
			}
			o, err := builds[r.Artefact](d)
			if err != nil {
				return nil, err
			}
			tables[r.Artefact] = d.Claims.scriptTable(r.Artefact, o.Readings[0].Values)
			out.Table(tables[r.Artefact])
		}
		return out, nil
	}
}

// scriptTable has the lines of script.csv about an artefact.
func (c *Claims) scriptTable(artefact string, values Values) *Table {
	t := &Table{File: "script-" + artefact, Table: reports.Table{
		Title: fmt.Sprintf("The authors' public code and print: %s, %s", artefact, c.Title(artefact)),
		Columns: reports.Left("claim").Right("published").PlusMinus("authors' code").Right("runs").PlusMinus("here").
			PlusMinus("authors' code less here").Left("against print", "as here", "code", "settings"),
		Notes: []string{
			"±: half of the 95 % interval",
			"against print: the verdict on the authors' code, by the rules for what is measured here",
			"as here: the interval of the difference contains 0, or lies within what the claim allows",
			"code, settings: those of the row above where they are empty",
		},
	}}
	var above [2]string
	for i := range c.scripts {
		r := &c.scripts[i]
		if r.Artefact != artefact {
			continue
		}
		claim, ours := c.find(artefact, r.Claim), values[r.Claim]
		theirs := r.measurement(ours)
		difference, half := theirs.Less(ours)
		source := [2]string{fmt.Sprintf("%s@%.7s, %s, %s", r.Repository, r.Commit, r.File, r.Function), r.Settings}
		shown := source
		if source == above {
			shown = [2]string{}
		}
		above = source
		t.RowAbout(About{Claim: r.Claim}, r.Claim, reports.Fixed(claim.Published, claim.Decimals),
			PlusMinus(theirs, claim.Decimals+1), r.Runs, PlusMinus(ours, claim.Decimals+1),
			reports.Cells(claim.Decimals+1, difference, half), verdict.Judge(claim.Claim, theirs).Verdict,
			map[bool]string{true: "yes", false: "no"}[theirs.Agrees(ours, claim.Allowed())], shown[:])
	}
	return t
}
