package figures

import (
	"strings"
	"testing"

	"miglab/paper-figures/verdict"
)

// TestUndecided: a number of replicates where one would do, and no certainty about agents before ten training runs.
func TestUndecided(t *testing.T) {
	claim := verdict.Claim{Relation: verdict.Equal, Published: 10, Decimals: 1, Margin: 0.2}
	limit := verdict.Claim{Relation: verdict.AtMost, Published: 17}
	of := func(value, sd, printSE float64, n int, unit verdict.Unit) Measurement {
		return verdict.Sampled(value, sd, n, unit, printSE)
	}
	for _, c := range []struct {
		claim verdict.Claim
		m     Measurement
		want  string
	}{
		{claim, of(12, 3, 3, 6, verdict.TrainingRuns), "By present estimates, of 6 training runs"},
		{claim, of(12, 3, 3, 10, verdict.TrainingRuns), "no further run of ours can settle it"},
		{claim, of(12, 3, 3, 1000, verdict.Executions), "no further run of ours can settle it"},
		{limit, of(16.5, 2, 2, 12, verdict.TrainingRuns), "no further run of ours can settle it"},
		{claim, of(10.4, 1, 0, 100, verdict.Executions), "in place of 100 would settle it"},
		{claim, of(10.35, 1.5, 0, 1000, verdict.Executions), "in place of 1000 would settle it"},
	} {
		j := verdict.Judge(c.claim, c.m)
		got := undecided(&j, c.m)
		if j.Verdict != verdict.Inconclusive || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s, %s", c.m, j.Verdict, got)
		}
	}
}
