package far

import (
	"slices"

	"miglab/harness/strictcsv"
)

// A longerRun is a line of executions.csv: a cell of Table 6, or of Tables 7 and 8, which have the same pairs. All
// readings with this generator, by the script or not, measure it on ten times the executions or pairs of print.
type longerRun struct {
	Tables    string `csv:"tables"`
	Scaling   string `csv:"scaling"`
	Times     string `csv:"times"`
	N         int    `csv:"n"`
	Generator string `csv:"generator"`
	Script    bool   `csv:"script"`
}

var longerRuns = strictcsv.Embedded[longerRun](files, "executions.csv", "generator")

// executions returns ten times the executions of print for a line of executions.csv, and else the given number.
func (l longerRun) executions(otherwise int) int {
	if slices.Contains(longerRuns, l) {
		return 10 * executions
	}
	return otherwise
}
