package render

import (
	"strings"
	"testing"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
)

// TestReasons: each kind of fact has its words, one replicate is no plural, and the cost of a training run is said once,
// where more of them could settle a number.
func TestReasons(t *testing.T) {
	const cost = "A training run takes a minute."
	p := &manifest.Paper{Introduction: manifest.Introduction{TrainingRun: cost}}
	open := func(n int, unit verdict.Unit, o manifest.Open) manifest.Row {
		return manifest.Row{Verdict: verdict.Inconclusive, Replicates: n, Replicate: unit, Why: manifest.Why{Open: &o}}
	}
	told := open(1, verdict.TrainingRuns, manifest.Open{Fewest: 3, Enough: 3})
	told.Why.Detail = "Missing: 2 training runs. " + cost
	wide := open(100, verdict.Executions, manifest.Open{Enough: 1234})
	wide.Why.Margin = "a wide one"
	for want, r := range map[string]manifest.Row{
		"1 training run does not decide; a verdict needs at least 3. " + cost:                                                                                            open(1, verdict.TrainingRuns, manifest.Open{Fewest: 3, Enough: 3}),
		"1 training run does not decide; a verdict needs at least 3. Missing: 2 training runs. " + cost:                                                                  told,
		"0 batches do not decide; a verdict needs at least 2.":                                                                                                           open(0, "batches", manifest.Open{Fewest: 2, Enough: 2}),
		"Both are equal in every replicate, so that more of them would not settle it.":                                                                                   open(9, verdict.Days, manifest.Open{Tie: true}),
		"By present estimates, of 6 training runs, the paper's own sampling error, about ±5.9, is so large that more would not settle it; 10 would tell. " + cost:        open(6, verdict.TrainingRuns, manifest.Open{PrintSE: 3}),
		"The paper's own sampling error, about ±5.9, is too large, so that no further run of ours can settle it.":                                                        open(10, verdict.TrainingRuns, manifest.Open{PrintSE: 3}),
		"The interval reaches over the margin, and no number of replicates would settle it.":                                                                             open(100, verdict.Days, manifest.Open{}),
		"The interval reaches over the margin; about 1300 executions in place of 100 would settle it. Margin: a wide one.":                                               wide,
		"The 95 % interval lies outside, and a deviation from a number with two sides needs the 97.5 % interval there; about 110 draws in place of 100 would settle it.": open(100, verdict.Draws, manifest.Open{Enough: 50, Outside: true}),
		"The agents learned for 2 of the paper's 200 million steps, and longer training could give the printed number. " + cost:                                          open(12, verdict.TrainingRuns, manifest.Open{Steps: 2, PaperSteps: 200}),
		`REPRODUCED under "default", DEVIATES under "V-A".`:                                                                                                              {Verdict: verdict.Hangs, Why: manifest.Why{Defaults: []manifest.DefaultVerdict{{Reading: "default", Verdict: verdict.Reproduced}, {Reading: "V-A", Verdict: verdict.Deviates}}}},
		"Not counted: the verdict of the claim is that of the default reading.":                                                                                          {Verdict: verdict.Deviates, Why: manifest.Why{Uncounted: true}},
		"It could not have come out otherwise.":                                                                                                                          {Verdict: verdict.Consistent},
		"Nothing that was tried explains the difference. The other one is EFT.":                                                                                          {Verdict: verdict.Deviates, Cause: claim.Unknown, Why: manifest.Why{Detail: "The other one is EFT."}},
		"The script has it.": {Verdict: verdict.Deviates, Cause: claim.FromScript, Why: manifest.Why{Text: "The script has it."}},
		"quick run":          {},
		"":                   {Verdict: verdict.Reproduced},
	} {
		if got := reason(p, &r); got != want {
			t.Errorf("%+v: %q, want %q", r.Why, got, want)
		}
	}
}

// TestEvidence: numbers of a row stand with their unit, their interval and the number beside them.
func TestEvidence(t *testing.T) {
	got := words("evidence", []manifest.Evidence{
		{Label: "script", Values: []manifest.NamedNumber{{Name: "gains", Value: "1.5", Unit: "%"}, {Name: "mean", Value: "2", Half: "0.1"}}},
		{Values: []manifest.NamedNumber{{Name: "NOMIG", Value: "3", Published: "4"}}},
	})
	if want := "script: gains 1.5 %, mean 2 ± 0.1; NOMIG 3 (published 4)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A conclusion that holds in sign alone says so, because none of its readings meets it.
func TestShareInSignAlone(t *testing.T) {
	c := &conclusion{Conclusion: &manifest.Conclusion{}}
	c.Conclusion.Readings = 6
	c.Answer, c.Part = verdict.HoldsInPart, verdict.SignAlone
	if got := c.Share(); got != "in sign alone" {
		t.Errorf("%q", got)
	}
	c.Part, c.Met, c.Whole = verdict.SomeReadings, 2, 2
	if got := c.Share(); got != "2 of 6 readings" {
		t.Errorf("%q", got)
	}
	c.SizeWord, c.Answer, c.Part = "large", verdict.InTheModel, "holds"
	if got := c.Share(); got != "in sign, 2 of 6 readings" {
		t.Errorf("%q", got)
	}
}

// TestOwnSentence: a conclusion of this project has no quoted sentence.
func TestOwnSentence(t *testing.T) {
	c := manifest.Conclusion{ID: "X", Short: "it is ours", Section: "this project's own agent", Because: "Because."}
	c.Answer = verdict.Holds
	p := newPaper(&manifest.Manifest{}, &manifest.Paper{Conclusions: []manifest.Conclusion{c}}, nil)
	page, err := show("CONCLUSIONS.md.tmpl", p)
	if err != nil || !strings.Contains(page, "\n(this project's own agent) Because.") {
		t.Error(err, page)
	}
}
