package claim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"miglab/harness/strictcsv"
	"miglab/paper-figures/verdict"
)

// Weight says how much a reading counts.
type Weight string

// The weights of readings, in the column part of readings.csv.
const (
	// Whole readings compete with the default one.
	Whole Weight = ""
	// OfPart is the weight of a reading of some replicates or claims, which does not compete.
	OfPart Weight = "part"
	// PostHoc is the weight of readings found after the run. They are shown and do not decide.
	PostHoc Weight = "post hoc"
	// OtherExperiment is the weight of readings whose experiment is not the paper's. They are shown and do not decide.
	OtherExperiment Weight = "beside"
	// Control is the weight of readings that nothing of the authors speaks for. They are shown and do not decide.
	Control Weight = "control"
	// AnotherDefault is the weight of a reading with as good a provenance as the first one, the default.
	AnotherDefault Weight = "default"
)

// Counts reports whether a reading competes with the default one.
func (w Weight) Counts() bool { return w == Whole || w == AnotherDefault }

// A Reading is a line of readings.csv: one way to understand what the paper did.
type Reading struct {
	// Artefact lists the artefacts, separated by semicolons; empty for all. The first line that fits counts.
	Artefact string `csv:"artefact"`
	Name     string `csv:"reading"`
	Weight   Weight `csv:"part"`
	// Basis says where the reading comes from: the authors' script, a printed example, a formula or prose.
	Basis string `csv:"basis"`
}

func (s *Set) addReading(r *Reading) (column string, err error) {
	s.Readings = append(s.Readings, *r)
	return "part", OneOf(r.Weight, Whole, OfPart, PostHoc, OtherExperiment, Control, AnotherDefault)
}

// Reading returns the line about a reading of an artefact, or nil.
func (s *Set) Reading(artefact, name string) *Reading {
	for i := range s.Readings {
		if r := &s.Readings[i]; r.Name == name && lists(r.Artefact, artefact) {
			return r
		}
	}
	return nil
}

// Status says what is special about a conclusion or one of its tests.
type Status string

// The statuses of conclusions.
const (
	// Usual tests decide by the measured value.
	Usual Status = ""
	// OfModel marks a conclusion about a model whose constants were chosen with the paper's result in view.
	OfModel Status = "model"
	// OfBudget marks a conclusion about agents that learned less than the paper's. It is undecided where any other
	// conclusion would not hold.
	OfBudget Status = "budget"
	// Later marks a test that was found after the run. It does not decide.
	Later Status = "post hoc"
	// Beside marks a test whose experiment is not the paper's. It does not decide.
	Beside Status = "beside"
	// Impossible marks a conclusion that cannot be measured here. The column varied says why.
	Impossible Status = "missing"
)

// A TestLine is a line of conclusions.csv: a test of a sentence. Lines of one ID are one conclusion.
type TestLine struct {
	ID string `csv:"id"`
	// Sentence is in the paper's words, and Section says where it stands. Only the first line of an ID has them.
	// The sentence is empty if it is this project's, not the paper's.
	Sentence string `csv:"sentence"`
	Section  string `csv:"section"`
	// Artefact and Selection name the cells whose values are tested.
	Artefact string `csv:"artefact"`
	Selection
	// The sentence holds for a value that has the relation to the threshold.
	Relation  verdict.Relation `csv:"relation"`
	Threshold string           `csv:"threshold"`
	// Neutral is the value for no difference, for example 0 % or a ratio of 1; empty if there is none. A value above it
	// has the sign of the sentence if the relation is at least, a value below it if the relation is at most.
	Neutral string `csv:"neutral"`
	// Rounding is half the last digit of a threshold that the paper measured and printed; the test allows it. It is
	// empty for a limit that the paper sets, and for one that this project reads into the sentence.
	Rounding string `csv:"rounding"`
	// OursFrom marks a threshold that this project reads into the sentence, such as a limit for "adapts well". It is
	// empty for the paper's thresholds. The sentence is also tested with a threshold half and twice as far from this
	// number.
	OursFrom string `csv:"ours_from"`
	Varied   string `csv:"varied"` // says what the readings vary, or what is missing for an Impossible conclusion
	Status   Status `csv:"status"`
	// SizeWord is the sentence's word for a size, such as "large", if no number says how large and the test asks for
	// the sign alone.
	SizeWord string `csv:"size_word"`
	Short    string `csv:"short"` // the sentence in a few words, for lists
	// Because says why the answer is Explains. It is shown if that is the answer. Both may be empty, and further lines
	// may explain other answers.
	Explains verdict.Answer `csv:"explains"`
	Because  string         `csv:"because"`
}

// A Test is a line of conclusions.csv with its numbers.
type Test struct {
	TestLine
	Limit float64 // the threshold, made easier by the rounding; NaN for an Impossible conclusion
	// NoDifference is the column neutral, and From the column ours_from; NaN if they are empty.
	NoDifference, From float64
}

// IsOurs reports whether the threshold is this project's and not the paper's.
func (t *Test) IsOurs() bool { return t.OursFrom != "" }

// Scaled returns the limit if the threshold were so many times as far from [Test.From]. A limit of the paper stays.
func (t *Test) Scaled(factor float64) float64 {
	if !t.IsOurs() {
		return t.Limit
	}
	return t.From + float64(factor*(t.Limit-t.From))
}

// addTest adds a line of conclusions.csv, or returns the column that is wrong.
func (s *Set) addTest(r *TestLine) (column string, err error) {
	known := slices.ContainsFunc(s.Tests, func(o Test) bool { return o.ID == r.ID })
	follows := known && s.Tests[len(s.Tests)-1].ID == r.ID
	ofTest := r.Artefact + r.String() + string(r.Relation) + r.Threshold + r.Neutral + r.Rounding + r.OursFrom
	if err := OneOf(r.Status, Usual, OfModel, OfBudget, Later, Beside, Impossible); err != nil {
		return "status", err
	}
	switch {
	case r.ID == "" || known && !follows:
		return "id", fmt.Errorf("%q is empty, or its rows do not follow one another", r.ID)
	case known && r.Sentence+r.Section+r.Short != "", !known && (r.Sentence+r.Short == "" || r.Section == ""):
		return "sentence", errors.New("the first row of a conclusion alone has its sentence, section and short form")
	case (r.Explains == "") != (r.Because == "") || r.Because != "" && s.Because(r.ID, r.Explains) != "":
		return "because", errors.New("because and the answer that it explains go together, once for each answer")
	case r.Status == Impossible && ofTest != "":
		return "status", errors.New("a conclusion that is missing has no artefact, cells, relation or threshold")
	}
	if r.Explains != "" {
		if err := OneOf(r.Explains, append(verdict.Answers, verdict.NotCounted)...); err != nil {
			return "explains", err
		}
	}
	test := Test{TestLine: *r, Limit: math.NaN(), NoDifference: math.NaN(), From: math.NaN()}
	if r.Status != Impossible {
		if column, err = test.readNumbers(); err != nil {
			return column, err
		}
	}
	s.Tests = append(s.Tests, test)
	return "", nil
}

// readNumbers sets the numbers of a test, or returns the column that is wrong.
func (t *Test) readNumbers() (column string, err error) {
	if err := OneOf(t.Relation, verdict.AtMost, verdict.AtLeast); err != nil {
		return "relation", err
	}
	if t.Limit, err = strictcsv.Float(t.Threshold); err != nil {
		return "threshold", err
	}
	half := math.NaN()
	column, err = parse(field{"neutral", t.Neutral, &t.NoDifference}, field{"ours_from", t.OursFrom, &t.From},
		field{"rounding", t.Rounding, &half})
	if err != nil || t.Rounding == "" {
		return column, err
	}
	if half <= 0 || t.Limit == t.NoDifference {
		err = errors.New("a rounding is above 0, and the number for no difference has none")
	}
	if t.Relation == verdict.AtLeast {
		half = -half
	}
	t.Limit += half
	return "rounding", err
}

// Because returns why a conclusion got an answer; empty if the file does not say it.
func (s *Set) Because(id string, answer verdict.Answer) string {
	for _, t := range s.Tests {
		if t.ID == id && t.Explains == answer {
			return t.Because
		}
	}
	return ""
}

// Needs reports whether a conclusion needs a value of an artefact.
func (s *Set) Needs(artefact string, cell Cell) bool {
	return slices.ContainsFunc(s.Tests, func(t Test) bool { return t.Artefact == artefact && t.Has(cell) })
}

// Judge judges whether a value has the relation to a number: the limit of the test, or the number for no difference. A
// value that equals the latter does not have it.
func (t *Test) Judge(m verdict.Measurement, number float64) verdict.Judgement {
	return verdict.Judge(verdict.Claim{
		Relation: t.Relation, Published: number, Stated: true, Compares: number == t.NoDifference,
		Neutral: t.NoDifference,
	}, m)
}

// Distance returns how far a value is from the limit, positive on the side of the sentence, as a share of the limit if
// that is not 0.
func (t *Test) Distance(value float64) float64 {
	d := value - t.Limit
	if t.Relation == verdict.AtMost {
		d = -d
	}
	if t.Limit != 0 {
		d /= math.Abs(t.Limit)
	}
	return d
}
