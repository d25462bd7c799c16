package manifest

import "miglab/paper-figures/verdict"

// Why says what the verdict of a row rests on. Package render puts it in words.
type Why struct {
	// Text is a sentence of a data file: why a number deviates, what is missing, or what an input is used for.
	Text string `json:"text,omitempty"`
	// Detail is [verdict.Measurement.Detail].
	Detail string `json:"detail,omitempty"`
	// Margin is the reason of a margin that is not the default one.
	Margin string `json:"margin,omitempty"`
	// Open has the reason of an INCONCLUSIVE number.
	Open *Open `json:"open,omitempty"`
	// Defaults lists the verdicts of a number that hangs on the reading, each with the first default reading that has
	// it.
	Defaults []DefaultVerdict `json:"defaults,omitempty"`
	// Uncounted marks a row of a reading that does not decide.
	Uncounted bool `json:"uncounted,omitempty"`
}

// Open says why a number is INCONCLUSIVE and how to settle it.
type Open struct {
	// Fewest is how many replicates a verdict needs if there are fewer, and otherwise 0.
	Fewest int `json:"fewest,omitempty"`
	// Tie is set if both values are equal in every replicate.
	Tie bool `json:"tie,omitempty"`
	// Enough and Outside are the judgement's, see [verdict.Judgement].
	Enough  int  `json:"enough,omitempty"`
	Outside bool `json:"outside,omitempty"`
	// PrintSE is the standard error of the printed number, if no number of replicates would be enough.
	PrintSE float64 `json:"print_se,omitempty"`
}

// A DefaultVerdict is the verdict under a reading that is a default.
type DefaultVerdict struct {
	Reading string          `json:"reading"`
	Verdict verdict.Verdict `json:"verdict"`
}

// Evidence has the numbers in a row of a table about a claim.
type Evidence struct {
	// Label tells rows about the same claim apart.
	Label  string        `json:"label,omitempty"`
	Values []NamedNumber `json:"values"`
}

// A NamedNumber is a cell of a table with the cells that are joined to it.
type NamedNumber struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Unit  string `json:"unit,omitempty"`
	// Half is half of an interval, and Published a number to compare with.
	Half      string `json:"half,omitempty"`
	Published string `json:"published,omitempty"`
}
