package claim

import (
	"errors"

	"miglab/paper-figures/verdict"
)

// Cause is a kind of explanation for a deviation.
type Cause string

// The causes of deviations. The first six explain a number; the others say what is missing to explain it.
const (
	FromScript        Cause = "script"
	FromContradiction Cause = "contradiction"
	FromImpossible    Cause = "impossible"
	FromError         Cause = "error"
	FromBudget        Cause = "budget"
	FromModel         Cause = "model"
	FromInput         Cause = "input"
	// FromUnpublished means that the authors' public code gives the number measured here and not the printed one.
	FromUnpublished Cause = "unpublished"
	Unknown         Cause = "unknown"
)

// Causes lists the causes in the order of summaries.
var Causes = []Cause{
	FromScript, FromContradiction, FromImpossible, FromError, FromInput, FromUnpublished, FromBudget, FromModel, Unknown,
}

// Explains reports whether the cause says why a number differs.
func (c Cause) Explains() bool { return c != FromUnpublished && c != FromInput && c != Unknown }

// An Explanation says why claims deviate: a line of causes.csv.
type Explanation struct {
	Artefact string `csv:"artefact"`
	Selection
	Cause Cause `csv:"cause"`
	// Evidence names the artefact that shows it as --only of miglab reproduce does, for example far/table5.
	Evidence string `csv:"evidence"`
	// Table names the table of the evidence in which the numbers stand that decide, and Columns its columns,
	// separated by semicolons. Both may be empty.
	Table   string `csv:"table"`
	Columns string `csv:"columns"`
	// Reason is one plain sentence.
	Reason string `csv:"reason"`
}

// addCause adds a line of causes.csv, or returns the column that is wrong.
func (s *Set) addCause(r *Explanation) (column string, err error) {
	if err := OneOf(r.Cause, Causes...); err != nil {
		return "cause", err
	}
	if r.Reason == "" {
		return "reason", errors.New("a cause needs a reason")
	}
	if column, err := r.check(s.cells(r.Artefact)); err != nil {
		return column, err
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

// Cause explains a measured number that deviates. The cause unpublished is passed over where the authors' code does not
// show it, and the cause input where it does: their code was run, and other data are a guess.
func (s *Set) Cause(c *Claim, m verdict.Measurement) Explanation {
	shown := s.IsUnpublished(c, m)
	return s.Explain(c, func(cause Cause) bool {
		return !(cause == FromUnpublished && !shown || cause == FromInput && shown)
	})
}
