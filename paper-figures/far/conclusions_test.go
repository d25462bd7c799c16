package far

import (
	"testing"

	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
)

// A bound alone never refutes a limit on the ratio to the optimum, and a schedule alone never confirms one.
func TestLimitsOnTheRatioToTheOptimum(t *testing.T) {
	at := func(v float64) figures.Measurement {
		return verdict.Sampled(v, 0.05, bounded, verdict.Executions, 0) // ± 0.02
	}
	for _, c := range []struct {
		found, proven float64
		want          verdict.Verdict
		// settles says that more executions would decide.
		settles bool
	}{
		{1.04, 1.05, verdict.Reproduced, false},
		{1.04, 1.15, verdict.Inconclusive, false},
		{1.00, 1.40, verdict.Inconclusive, false},
		{1.14, 1.15, verdict.Deviates, false},
		{1.11, 1.111, verdict.Inconclusive, true},
	} {
		row := claim.Test{TestLine: claim.TestLine{Relation: verdict.AtMost}}
		j := row.Judge(bracket(at(c.found), at(c.proven)), 1.10)
		if j.Verdict != c.want || j.Enough > 0 != c.settles {
			t.Errorf("%v over a schedule and %v over a bound: %s, %d executions would settle it; want %s", c.found, c.proven,
				j.Verdict, j.Enough, c.want)
		}
	}
}
