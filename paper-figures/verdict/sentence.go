package verdict

import "slices"

// A State says whether a value agrees with a sentence of a paper under one reading. It is empty without a value.
type State string

// The states.
const (
	// Met: the whole interval is on the side of the sentence.
	Met State = "met"
	// Missed: the whole interval is on the other side.
	Missed State = "missed"
	// Open: neither.
	Open State = "open"
)

// Worse returns the worse of two states. A sentence is met by several values if it is met by all.
func (s State) Worse(o State) State {
	fromBest := []State{"", Met, Open, Missed}
	return fromBest[max(slices.Index(fromBest, s), slices.Index(fromBest, o))]
}

// State returns the state of a value whose test has the verdict.
func (v Verdict) State() State {
	switch v {
	case Reproduced:
		return Met
	case Deviates:
		return Missed
	}
	return Open
}

// An Answer says whether a conclusion of a paper holds.
type Answer string

// The answers. [Sentence] has the rule.
const (
	Holds       Answer = "holds"
	HoldsInPart Answer = "holds in part"
	DoesNotHold Answer = "does not hold"
	Undecided   Answer = "undecided"
	InTheModel  Answer = "in the model"
	CannotRun   Answer = "not runnable"
	NotCounted  Answer = "not counted"
)

// A Part says which part holds of a conclusion that holds in part.
type Part string

// The parts. If several apply, the first one counts.
const (
	SomeReadings Part = "under some readings"
	SomeValues   Part = "for some values"
	SignAlone    Part = "in sign alone"
	// SignTested is the part of a conclusion that holds and whose word for a size, such as "large", sets no limit.
	SignTested Part = "in sign"
)

// Answers lists the answers in the order of summaries. NotCounted is not listed.
var Answers = []Answer{Holds, HoldsInPart, DoesNotHold, Undecided, InTheModel, CannotRun}

// An Outcome sums up a sentence's values under one reading.
type Outcome struct {
	// State is the worst state of the reading's own values. Shared is the worst state of the values that it shares with
	// an earlier reading, which count there.
	State  State `json:"state"`
	Shared State `json:"-"`
	// Default marks the default reading or one that equals it, and Aside one that does not decide.
	Default bool `json:"default,omitempty"`
	Aside   bool `json:"post_hoc,omitempty"`
	// Right counts the Values that meet the sentence, and Open those that neither meet nor miss it. Sign is set if all
	// have its sign.
	Values int  `json:"values"`
	Right  int  `json:"right"`
	Open   int  `json:"-"`
	Sign   bool `json:"sign,omitempty"`
}

// A Conclusion is the answer to a sentence.
type Conclusion struct {
	Answer Answer `json:"answer"`
	// Part is set if the conclusion holds in part, and is the answer in the model for one in the model.
	Part Part `json:"part,omitempty"`
	// Met counts the Readings whose own values all meet the sentence; see [Outcome].
	Met int `json:"met"`
	// Whole counts the readings that meet the sentence in all values, also in those that they share with earlier ones.
	Whole    int `json:"whole"`
	Readings int `json:"readings"`
	// Right counts the Values under the defaults that meet it.
	Right  int `json:"right"`
	Values int `json:"values"`
	// Sign is set if all values under the defaults have the sign of the sentence.
	Sign bool `json:"-"`
}

// Sentence answers a conclusion by its outcomes under all readings. The first answer that applies is given:
//
//   - not counted: all outcomes are aside
//   - not runnable: no default was measured
//   - holds: at least 90 % of the readings meet it, all defaults among them
//   - undecided: no default misses it, and it would hold if the open readings met it
//   - holds in part: a reading meets all of it, or some values under the defaults do, or all of those have its sign
//   - undecided: a value under the defaults is open, or the agents learned less than the paper's (short of budget)
//   - does not hold
//
// A sentence about a model whose constants were chosen with the paper's result in view is in the model, if it counts
// and was measured. Its part is the answer above.
func Sentence(outcomes []Outcome, inModel, shortOfBudget bool) Conclusion {
	var all, defaults, counting counts
	for _, o := range outcomes {
		all.add(o)
		if o.Default {
			defaults.add(o)
		}
		if !o.Aside {
			counting.add(o)
		}
	}
	notCounted := counting.n == 0 && all.n > 0
	if notCounted {
		counting = all
	}
	c := Conclusion{
		Met: counting.met, Whole: counting.whole, Readings: counting.n, Right: defaults.right, Values: defaults.values,
		Sign: !defaults.wrongSign,
	}
	enough := func(k int) bool { return 10*k >= 9*c.Readings }
	switch {
	case notCounted:
		c.Answer = NotCounted
	case defaults.n == 0:
		c.Answer = CannotRun
	case defaults.met == defaults.n && enough(c.Met):
		c.Answer = Holds
	case defaults.missed == 0 && enough(c.Met+counting.open):
		c.Answer = Undecided
	case c.Whole > 0:
		c.Answer, c.Part = HoldsInPart, SomeReadings
	case c.Right > 0:
		c.Answer, c.Part = HoldsInPart, SomeValues
	case c.Sign:
		c.Answer, c.Part = HoldsInPart, SignAlone
	case defaults.openValues > 0 || shortOfBudget:
		c.Answer = Undecided
	default:
		c.Answer = DoesNotHold
	}
	if inModel && c.Answer != NotCounted && c.Answer != CannotRun {
		c.Answer, c.Part = InTheModel, Part(c.Answer)
	}
	return c
}

// counts adds up outcomes.
type counts struct {
	n, met, whole, missed, open, right, openValues, values int
	wrongSign                                              bool
}

func (c *counts) add(o Outcome) {
	c.n++
	switch o.State {
	case Met:
		c.met++
		if o.Shared.Worse(Met) == Met {
			c.whole++
		}
	case Missed:
		c.missed++
	case Open:
		c.open++
	}
	c.right, c.openValues, c.values = c.right+o.Right, c.openValues+o.Open, c.values+o.Values
	c.wrongSign = c.wrongSign || !o.Sign
}
