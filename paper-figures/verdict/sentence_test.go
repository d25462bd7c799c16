package verdict

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// outcome returns the outcome of one value under a reading that is the default or another one.
func outcome(s State, byDefault, sign bool) Outcome {
	right := 0
	if s == Met {
		right = 1
	}
	o := Outcome{State: s, Default: byDefault, Right: right, Values: 1, Sign: sign || s == Met}
	if s == Open {
		o.Open = 1
	}
	return o
}

// others returns n outcomes in one state that are no default.
func others(n int, s State) []Outcome { return slices.Repeat([]Outcome{outcome(s, false, false)}, n) }

// TestSentence has the rule of conclusions.
func TestSentence(t *testing.T) {
	met, missed, open := outcome(Met, true, true), outcome(Missed, true, false), outcome(Open, true, false)
	sign := outcome(Missed, true, true)
	some := Outcome{State: Missed, Default: true, Right: 1, Values: 2}
	aside := Outcome{State: Met, Aside: true, Right: 1, Values: 1, Sign: true}
	for name, c := range map[string]struct {
		outcomes []Outcome
		inModel  bool
		short    bool
		want     Answer
		part     Part
		met, of  int
	}{
		"one reading":             {outcomes: []Outcome{met}, want: Holds, met: 1, of: 1},
		"nine of ten":             {outcomes: append(append(others(8, Met), met), others(1, Missed)...), want: Holds, met: 9, of: 10},
		"eight of nine":           {outcomes: append(append(others(7, Met), met), others(1, Missed)...), want: HoldsInPart, part: SomeReadings, met: 8, of: 9},
		"the default misses":      {outcomes: append(others(9, Met), missed), want: HoldsInPart, part: SomeReadings, met: 9, of: 10},
		"a second default misses": {outcomes: append(others(18, Met), met, missed), want: HoldsInPart, part: SomeReadings, met: 19, of: 20},
		"a second default open":   {outcomes: append(others(18, Met), met, open), want: Undecided, met: 19, of: 20},
		"another reading alone":   {outcomes: []Outcome{missed, outcome(Met, false, true)}, want: HoldsInPart, part: SomeReadings, met: 1, of: 2},
		"some values":             {outcomes: []Outcome{some}, want: HoldsInPart, part: SomeValues, of: 1},
		"its sign":                {outcomes: append(others(1, Missed), sign), want: HoldsInPart, part: SignAlone, of: 2},
		"one of two signs":        {outcomes: []Outcome{sign, missed}, want: DoesNotHold, of: 2},
		"the other sign":          {outcomes: append(others(1, Missed), missed), want: DoesNotHold, of: 2},
		"open":                    {outcomes: append(others(1, Met), open), want: Undecided, met: 1, of: 2},
		"open, too many miss":     {outcomes: append(others(1, Missed), open), want: Undecided, of: 2},
		"others open":             {outcomes: append(others(1, Open), met), want: Undecided, met: 1, of: 2},
		"missed, one value open":  {outcomes: []Outcome{{State: Missed, Default: true, Open: 1, Values: 2}}, want: Undecided, of: 1},
		"missed, others open":     {outcomes: append(others(9, Open), missed), want: DoesNotHold, of: 10},
		"aside does not count":    {outcomes: []Outcome{missed, aside}, want: DoesNotHold, of: 1},
		"aside alone":             {outcomes: []Outcome{aside}, want: NotCounted, met: 1, of: 1},
		"aside and no default":    {outcomes: append(others(1, Met), aside), want: CannotRun, met: 1, of: 1},
		"nothing":                 {want: CannotRun},
		"in a model":              {outcomes: []Outcome{met}, inModel: true, want: InTheModel, part: Part(Holds), met: 1, of: 1},
		"missed in a model":       {outcomes: []Outcome{missed}, inModel: true, short: true, want: InTheModel, part: Part(Undecided), of: 1},
		"nothing in a model":      {inModel: true, want: CannotRun},
		"less training":           {outcomes: append(others(1, Missed), missed), short: true, want: Undecided, of: 2},
		"less training, enough":   {outcomes: []Outcome{met}, short: true, want: Holds, met: 1, of: 1},
		"less training, its sign": {outcomes: []Outcome{sign}, short: true, want: HoldsInPart, part: SignAlone, of: 1},
	} {
		got := Sentence(c.outcomes, c.inModel, c.short)
		if got.Answer != c.want || got.Part != c.part || got.Met != c.met || got.Readings != c.of {
			t.Errorf("%s: %+v; want %s %s, %d of %d", name, got, c.want, c.part, c.met, c.of)
		}
	}
}

// drawOutcome draws an outcome whose numbers agree with its state.
func drawOutcome(t *rapid.T) Outcome {
	o := Outcome{
		State:   rapid.SampledFrom([]State{Met, Open, Missed}).Draw(t, "state"),
		Default: rapid.Bool().Draw(t, "default"), Values: rapid.IntRange(1, 3).Draw(t, "values"),
	}
	o.Right = o.Values
	if o.State != Met {
		o.Right = rapid.IntRange(0, o.Values-1).Draw(t, "right")
		o.Open = rapid.IntRange(0, o.Values-o.Right-1).Draw(t, "open")
	}
	if o.State == Open {
		o.Open = o.Values - o.Right
	}
	o.Sign = o.State == Met || rapid.Bool().Draw(t, "sign")
	return o
}

// TestSentenceIsMonotone: one more reading that meets the sentence, or a reading that comes out better, never makes the
// answer worse, and the order of the readings does not matter.
func TestSentenceIsMonotone(t *testing.T) {
	worth := map[Answer]int{DoesNotHold: 1, Undecided: 2, HoldsInPart: 2, Holds: 3}
	rapid.Check(t, func(t *rapid.T) {
		outcomes := rapid.SliceOfN(rapid.Custom(drawOutcome), 1, 12).Draw(t, "outcomes")
		outcomes[0].Default = true
		short := rapid.Bool().Draw(t, "short of budget")
		before := Sentence(outcomes, false, short)
		check := func(what string, changed []Outcome) {
			if after := Sentence(changed, false, short); worth[after.Answer] < worth[before.Answer] || worth[after.Answer] == 0 {
				t.Fatalf("%s: %+v becomes %+v", what, before, after)
			}
		}
		check("another reading meets it", append(slices.Clone(outcomes), outcome(Met, false, true)))
		check("another default meets it", append(slices.Clone(outcomes), outcome(Met, true, true)))
		better := slices.Clone(outcomes)
		at := &better[rapid.IntRange(0, len(better)-1).Draw(t, "changed")]
		at.State, at.Right, at.Open, at.Sign = Met, at.Values, 0, true
		check("a reading meets it", better)
		if after := Sentence(rapid.Permutation(outcomes).Draw(t, "order"), false, short); after != before {
			t.Fatalf("another order: %+v becomes %+v", before, after)
		}
		// What is found after the run changes the answer in no way.
		late := drawOutcome(t)
		late.Default, late.Aside = false, true
		if after := Sentence(append(slices.Clone(outcomes), late), false, short); after != before {
			t.Fatalf("found after the run: %+v becomes %+v", before, after)
		}
	})
}

// TestWorse: of two states the worse one, whichever comes first; a value beside none is what it is.
func TestWorse(t *testing.T) {
	order := []State{"", Met, Open, Missed}
	for i, a := range order {
		for j, b := range order {
			if want := order[max(i, j)]; a.Worse(b) != want {
				t.Errorf("the worse of %q and %q is %q, want %q", a, b, a.Worse(b), want)
			}
		}
	}
	for v, want := range map[Verdict]State{Reproduced: Met, Deviates: Missed, Inconclusive: Open, Consistent: Open} {
		if v.State() != want {
			t.Errorf("%s is %s, want %s", v, v.State(), want)
		}
	}
}
