package claim

import (
	"errors"
	"fmt"

	"miglab/paper-figures/verdict"
)

// A Script is a line of script.csv: what the authors' public code gave for a claim when it was run.
type Script struct {
	Key
	// Repository, Commit, File and Function say which code it is.
	Repository string `csv:"repository"`
	Commit     string `csv:"commit"`
	File       string `csv:"file"`
	Function   string `csv:"function"`
	// Settings says how it was run, and every change to the code.
	Settings string `csv:"settings"`
	// Runs counts its executions. Mean and SD are the mean and deviation of the number over them, in the claim's unit.
	Runs int     `csv:"runs"`
	Mean float64 `csv:"mean"`
	SD   float64 `csv:"sd"`
}

// addScript adds a line of script.csv, or returns the column that is wrong.
func (s *Set) addScript(r *Script) (column string, err error) {
	claim := s.Find(r.Key)
	switch {
	case claim == nil:
		return "quantity", fmt.Errorf("%s has no claim %q", r.Artefact, r.Cell)
	case s.Script(claim) != nil:
		return "quantity", fmt.Errorf("%q of %s is listed twice", r.Cell, r.Artefact)
	case r.Repository == "" || r.File == "" || r.Function == "":
		return "repository", errors.New("repository, file and function must say which code was run")
	case len(r.Commit) != 40:
		return "commit", fmt.Errorf("%q is no full hash of a commit", r.Commit)
	case r.Runs < verdict.Executions.Fewest():
		return "runs", fmt.Errorf("%d runs have no interval", r.Runs)
	case r.SD < 0:
		return "sd", fmt.Errorf("%v is negative", r.SD)
	}
	s.Scripts = append(s.Scripts, *r)
	return "", nil
}

// Script returns what the authors' code gave for a claim, or nil.
func (s *Set) Script(c *Claim) *Script {
	for i := range s.Scripts {
		if s.Scripts[i].Key == c.Home {
			return &s.Scripts[i]
		}
	}
	return nil
}

// Measurement returns what the authors' code gave. The printed number has the sampling error that it has against ours.
func (r *Script) Measurement(ours verdict.Measurement) verdict.Measurement {
	return verdict.Sampled(r.Mean, r.SD, r.Runs, verdict.Executions, ours.PrintSE)
}

// IsUnpublished reports whether a printed number is from code or data that are not public: the authors' public code
// deviates from print, and agrees with the number measured here.
func (s *Set) IsUnpublished(c *Claim, ours verdict.Measurement) bool {
	r := s.Script(c)
	if r == nil {
		return false
	}
	theirs := r.Measurement(ours)
	return verdict.Judge(c.Claim, theirs).Verdict == verdict.Deviates && theirs.Agrees(ours, c.Allowed())
}
