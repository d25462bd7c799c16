package manifest

import "miglab/paper-figures/verdict"

// A Test is a value under a reading, judged against a row of conclusions.csv.
type Test struct {
	// Row is the row's number, from 0.
	Row int `json:"row"`
	// Measure is the text of the cell.
	Measure string `json:"measure"`
	Reading string `json:"reading"`
	// Default marks the default reading, or one with as good a provenance. PostHoc marks a test that does not decide.
	Default bool `json:"default,omitempty"`
	PostHoc bool `json:"post_hoc,omitempty"`
	// Shared marks a measurement that an earlier reading has, too. It counts once, there.
	Shared bool `json:"shared,omitempty"`
	// Verdict is REPRODUCED if the interval is on the side of the sentence, DEVIATES on the other one or for a tie.
	Verdict verdict.Verdict `json:"verdict"`
	// AtHalf and AtTwice are the verdicts with a threshold half and twice as far, if the threshold is this project's.
	AtHalf  verdict.Verdict `json:"at_half,omitempty"`
	AtTwice verdict.Verdict `json:"at_twice,omitempty"`
	// Sign is set if the whole interval is on the right side of the neutral number.
	Sign  bool    `json:"sign,omitempty"`
	Value float64 `json:"value"`
	// Distance is the value's distance from the limit as a share of it, or in the value's unit if the limit is 0.
	// It is positive on the side of the sentence.
	Distance float64  `json:"distance"`
	Low      *float64 `json:"ci_low,omitempty"`
	High     *float64 `json:"ci_high,omitempty"`
	// Enough is how many replicates would decide; 0 if no number would.
	Enough int          `json:"enough,omitempty"`
	Unit   verdict.Unit `json:"unit,omitempty"`
	// Runs are the values of the training runs of a value about an agent.
	Runs []float64 `json:"runs,omitempty"`
}

// A Limit is a row of conclusions.csv: a quantity, and the number that it must not pass.
type Limit struct {
	// Row is the row's number, from 0.
	Row      int    `json:"row"`
	Artefact string `json:"artefact"`
	// Measure describes the cells that are tested.
	Measure  string           `json:"measure"`
	Relation verdict.Relation `json:"relation"`
	// Threshold, Neutral and Rounding are as the file has them. Number is the threshold with its rounding.
	Threshold string  `json:"threshold"`
	Neutral   string  `json:"neutral"`
	Rounding  string  `json:"rounding"`
	Number    float64 `json:"number"`
	// OursFrom is the number from which this project's threshold is measured, to put it half and twice as far; empty
	// for a threshold of the paper.
	OursFrom string `json:"ours_from,omitempty"`
	// IsNeutral is set if the threshold is Neutral, the number for no difference.
	IsNeutral bool `json:"is_neutral,omitempty"`
}

// A ReadingOutcome is the outcome of a conclusion under a reading of an artefact: a dot of the conclusion's chart.
type ReadingOutcome struct {
	Artefact string `json:"artefact"`
	Reading  string `json:"reading"`
	verdict.Outcome
	// Distance is the [Test.Distance] of the least favourable value.
	Distance float64 `json:"distance"`
}

// A Conclusion is a sentence of a paper with its answer.
type Conclusion struct {
	Paper    string `json:"paper"`
	ID       string `json:"id"`
	Sentence string `json:"sentence"`
	Section  string `json:"section"`
	// Short is the sentence in a few words, for lists.
	Short string `json:"short,omitempty"`
	verdict.Conclusion
	// AtHalf and AtTwice are the answers with this project's thresholds half and twice as far.
	AtHalf  verdict.Answer `json:"at_half,omitempty"`
	AtTwice verdict.Answer `json:"at_twice,omitempty"`
	// Because says why the conclusion has its answer; empty for most.
	Because string `json:"because,omitempty"`
	// Varied says what the readings vary, or what is missing if the conclusion cannot be measured.
	Varied string `json:"varied,omitempty"`
	// SizeWord is the sentence's word for a size without a number, such as "large": only the sign was tested.
	SizeWord string `json:"size_word,omitempty"`
	// ShortOfBudget is set if the agents learned less than the paper's.
	ShortOfBudget bool             `json:"of_budget,omitempty"`
	Limits        []Limit          `json:"limits,omitempty"`
	Outcomes      []ReadingOutcome `json:"dots,omitempty"`
}
