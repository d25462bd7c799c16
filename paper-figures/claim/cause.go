package claim

import (
	"errors"
	"fmt"
	"slices"

	"miglab/paper-figures/verdict"
)

// Cause is a kind of explanation for a deviation.
type Cause string

// The causes of deviations. render/METHOD.md.tmpl defines them.
const (
	FromScript        Cause = "script"          // the authors' script does something else than their text
	FromContradiction Cause = "contradiction"   // the paper contradicts the number
	FromImpossible    Cause = "impossible"      // the number lies beyond a bound that holds whatever the data
	FromDrawn         Cause = "impossible-here" // the number lies beyond a certified bound on the data drawn here
	FromError         Cause = "error"           // the print has a slip
	FromModel         Cause = "model"           // measured in the paper and simulated here
	FromInput         Cause = "input"           // the number depends on data that are not public
	FromUnpublished   Cause = "unpublished"     // the authors' public code gives the number measured here
	Unknown           Cause = "unknown"         // no cause could be shown
)

// Causes lists the causes in the order of summaries.
var Causes = []Cause{
	FromScript, FromContradiction, FromImpossible, FromDrawn, FromError, FromInput, FromUnpublished, FromModel,
	Unknown,
}

// Explains reports whether the cause says why a number differs. The others say what is missing to explain it.
func (c Cause) Explains() bool { return c != FromUnpublished && c != FromInput && c != Unknown }

// An Explanation says why claims deviate: a line of causes.csv.
type Explanation struct {
	Artefact string `csv:"artefact"`
	Selection
	Cause Cause `csv:"cause"`
	// Evidence names the artefact that shows it as --only of miglab reproduce does, for example far/table5.
	Evidence string `csv:"evidence"`
	// Table names the table of the evidence with the numbers that decide, and Columns the beginnings of the names of
	// their columns, separated by semicolons. Both may be empty.
	Table   string `csv:"table"`
	Columns string `csv:"columns"`
	Reason  string `csv:"reason"` // one plain sentence
}

// addCause adds a line of causes.csv, or returns the column that is wrong.
func (s *Set) addCause(r *Explanation) (column string, err error) {
	if err := OneOf(r.Cause, Causes...); err != nil {
		return "cause", err
	}
	if r.Reason == "" {
		return "reason", errors.New("a cause needs a reason")
	}
	if !slices.ContainsFunc(s.Of(r.Artefact), func(c Claim) bool { return r.Has(c.Cell) }) {
		return "quantity", fmt.Errorf("%q selects no claim of the artefact", r.String())
	}
	s.Explanations = append(s.Explanations, *r)
	if r.Cause != FromUnpublished {
		return "", nil
	}
	for i := range s.Scripts {
		if s.Scripts[i].Artefact == r.Artefact && r.Has(s.Scripts[i].Cell) {
			return "", nil
		}
	}
	return "cause", errors.New("script.csv does not say what the authors' code gave")
}

// Explain returns the first line of causes.csv about a claim whose cause is possible, or says that its cause is
// unknown.
func (s *Set) Explain(c *Claim, possible func(Cause) bool) Explanation {
	for _, e := range s.Explanations {
		if e.Artefact == c.Home.Artefact && e.Has(c.Home.Cell) && possible(e.Cause) {
			return e
		}
	}
	return Explanation{Cause: Unknown, Evidence: c.Paper + "/" + c.Home.Artefact}
}

// ExplainMeasured explains a measured number that deviates. The cause unpublished is possible only if the authors' code
// shows it. The cause input is then impossible: their code was run, and other data are a guess.
func (s *Set) ExplainMeasured(c *Claim, m verdict.Measurement) Explanation {
	shown := s.IsUnpublished(c, m)
	return s.Explain(c, func(cause Cause) bool {
		switch cause {
		case FromUnpublished:
			return shown
		case FromInput:
			return !shown
		}
		return true
	})
}

// A Script is a line of script.csv: what the authors' public code gave for a claim when it was run.
type Script struct {
	Key
	// Repository, Commit, File and Function say which code it is.
	Repository string `csv:"repository"`
	Commit     string `csv:"commit"`
	File       string `csv:"file"`
	Function   string `csv:"function"`
	Settings   string `csv:"settings"` // says how it was run, and every change to the code
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
