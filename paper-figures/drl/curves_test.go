package drl

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"miglab/algorithms/rl/train/curve"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/figurestest"
	"miglab/paper-figures/verdict"
)

// TestMean has the mean of two runs, and the band between them.
func TestMean(t *testing.T) {
	mean, low, high := curves{"a": {*ofScores(30, 20), *ofScores(40, 10)}}.mean("a")
	if !slices.Equal(mean, []float64{35, 15}) || !slices.Equal(low, []float64{30, 10}) || !slices.Equal(high, []float64{40, 20}) {
		t.Errorf("mean %v, band from %v to %v", mean, low, high)
	}
}

// ofScores is the course of a curve with a point each 1000 steps.
func ofScores(scores ...float64) *course {
	c := &course{Scores: scores}
	for i := range scores {
		c.Steps = append(c.Steps, float64(1000*(i+1)))
	}
	return c
}

// ofSeed is a long run with such scores: a point each 2 million steps.
func ofSeed(seed int, scores ...float64) course {
	c := *ofScores(scores...)
	c.Seed = seed
	for i := range c.Steps {
		c.Steps[i] *= 2000
	}
	return c
}

// TestCurvesEndUnderTheDefaultsOfTable4: the curves of Fig. 13 end where Table 4 does, so what is open there is open here.
func TestCurvesEndUnderTheDefaultsOfTable4(t *testing.T) {
	claims := figurestest.Load(t, Paper).Claims
	for _, r := range readings[1:defaults] {
		if got := claims.Reading("figure13", r.name).Weight; got != claim.AnotherDefault {
			t.Errorf("figure13 has %q as %q, want %q", r.name, got, claim.AnotherDefault)
		}
	}
}

// TestRunsOfAnAgentAreEquallyLong: means over runs are by point.
func TestRunsOfAnAgentAreEquallyLong(t *testing.T) {
	for agent, runs := range shippedCurves() {
		for _, r := range runs {
			if len(r.Steps) != len(runs[0].Steps) {
				t.Errorf("%s, seed %d has %d points, and seed %d has %d", agent, r.Seed, len(r.Steps), runs[0].Seed, len(runs[0].Steps))
			}
		}
	}
}

// TestSlower: both reach 30, of which 33 is a tenth above.
func TestSlower(t *testing.T) {
	c := ofScores(80, 40, 21, 20, 20.5)
	if got := slower(ofScores(90, 80, 70, 30), c); got != 4./3 {
		t.Errorf("%v times as slow, want 4/3", got)
	}
	if got := slower(c, c); got != 1 {
		t.Errorf("as slow as itself: %v", got)
	}
}

// TestTogether compares agents seed by seed, for the seeds that both have.
func TestTogether(t *testing.T) {
	all := curves{
		"a": {ofSeed(1, 1), ofSeed(2, 2), ofSeed(3, 3)},
		"b": {ofSeed(2, 20), ofSeed(3, 30), ofSeed(4, 40)},
	}
	s := learningRow{Agent: "b", Other: "a", Shows: "difference at the end"}
	if got := s.values(all); !slices.Equal(got, []float64{18, 27}) {
		t.Errorf("b less a is %v", got)
	}
}

// TestShortTraining: a training of less than 2 million steps is no evidence, so that one run of it
// is measured, which decides nothing.
func TestShortTraining(t *testing.T) {
	short := ofSeed(1, 30)
	short.Steps[0]--
	all := curves{"a": {short, ofSeed(2, 20)}, "b": {ofSeed(1, 5), ofSeed(2, 6)}}
	if got := (&learningRow{Agent: "a", Other: "b", Shows: "difference at the end"}).values(all); !slices.Equal(got, []float64{25}) {
		t.Errorf("%v", got)
	}
}

// TestTrend has two runs of different heights that both fall by 2 points in a million steps at the
// end, one of them with a scatter of 0.1 around it.
func TestTrend(t *testing.T) {
	run := func(height, scatter float64) course {
		c := course{}
		for i := range 16 {
			steps := float64(i+1) * 1e5
			c.Steps = append(c.Steps, steps)
			score := height - 2*steps/1e6
			if i < 11 {
				score = 90
			}
			c.Scores = append(c.Scores, score+scatter*[]float64{1, -1, 0, -1, 1}[(i+4)%5])
		}
		return c
	}
	all := curves{"falls": {run(20, 0), run(30, 0.1)}, "flat": {run(20, 0)}}
	for i := range all["flat"][0].Scores {
		all["flat"][0].Scores[i] = 7
	}
	// Five points in each run: 8 - 1 + 1 degrees of freedom, a residual sum of squares of 0.04, and a
	// sum of squares of 0.2 for the steps.
	want := curve.Trend{Slope: -2, Half: 2.3646 * math.Sqrt(0.04/7/0.2)}
	if got := all.trend("falls"); math.Abs(got.Slope-want.Slope) > 1e-9 || math.Abs(got.Half-want.Half) > 1e-3 || !got.Falls() {
		t.Errorf("%+v, want %+v", got, want)
	}
	const fades = "while its learning rate falls to 0"
	if usual, released := trendSentence("", shippedCurves().trend("rl-float-WIDETIMES")), trendSentence("", shippedCurves().trend("rl-float-WIDETIMES-released")); !strings.Contains(usual, fades) || strings.Contains(released, fades) {
		t.Errorf("%s %s", usual, released)
	}
	if got := all.trend("flat"); got.Slope != 0 || got.Falls() {
		t.Errorf("a flat curve: %+v", got)
	}
}

// TestEqualSteps: the shorter training ends the comparison.
func TestEqualSteps(t *testing.T) {
	long, short := ofScores(90, 50, 30, 10), ofScores(80, 40)
	for share, want := range map[float64]float64{1: 10, 0.5: 10} {
		if got := leadAfter(share)([]*course{long, short}); got != want {
			t.Errorf("after %v of the shorter training the long one is %v above, want %v", share, got, want)
		}
	}
	if got := leadAfter(1)([]*course{short, long}); got != -10 {
		t.Errorf("the other way round %v", got)
	}
}

// TestLongerTraining: a score can fall to 0, a difference of two by the first score and rise by the second.
func TestLongerTraining(t *testing.T) {
	all := curves{"a": {*ofScores(90, 30)}, "b": {*ofScores(80, 20)}}
	for _, c := range []struct {
		row               learningRow
		present, from, to float64
	}{
		{learningRow{Shows: "end", Agent: "a"}, 30, 0, 30},
		{learningRow{Shows: "difference at the end", Agent: "a", Other: "b"}, 10, -20, 30},
		{learningRow{Shows: lessFAR, Agent: "a", Other: goodScaling}, -5, math.Inf(-1), -5},
		{learningRow{Shows: "steps to its own best", Agent: "a", Other: "b"}, 2, math.Inf(-1), math.Inf(1)},
	} {
		if from, to := c.row.longer(all)(c.present); from != c.from || to != c.to {
			t.Errorf("%s: %v to %v, want %v to %v", c.row.Shows, from, to, c.from, c.to)
		}
	}
}

// TestTrainingRuns: a claim about agents needs three runs, and says what is missing. The order of
// two agents prints no number that could have a sampling error.
func TestTrainingRuns(t *testing.T) {
	d := &figures.Data{Claims: figurestest.Load(t, Paper).Claims}
	ppo := "rl-float-GOODSCALING"
	ppo64 := ppo + "-64"
	order, number := claim.Of("PPO 64x64 less PPO 256x256, end"), claim.Of("M = 14, end")
	for runs := 1; runs <= 4; runs++ {
		all := curves{}
		for seed := range runs {
			all[ppo] = append(all[ppo], ofSeed(seed+1, 50, 10+0.1*float64(seed)))
			all[ppo64] = append(all[ppo64], ofSeed(seed+1, 60, 12+0.2*float64(seed)))
		}
		d.Readings = nil
		all.read(d, "figure10", []learningRow{{Cell: order, Shows: "difference at the end", Agent: ppo64, Other: ppo}})
		m := d.Readings[0].Values[order]
		var judged verdict.Claim
		for _, c := range d.Claims.Of("figure10") {
			if c.Cell == order {
				judged = c.Claim
			}
		}
		want := verdict.Inconclusive
		if runs >= 3 {
			want = verdict.Reproduced
		}
		if v := verdict.Judge(judged, m).Verdict; v != want || m.Replicates != runs || m.PrintSE > 0 || !strings.Contains(m.Detail, "The curve of "+ppo) {
			t.Errorf("%d runs: %s, %+v", runs, v, m)
		}
		all.read(d, "figure11", []learningRow{{Cell: number, Shows: "end", Agent: ppo}})
		n := d.Readings[0].Values[number]
		if runs > 1 && math.Abs(n.PrintSE-n.StdErr*math.Sqrt(float64(runs))) > 1e-12 {
			t.Errorf("the printed number is of one run, and has the error %v, ours %v", n.PrintSE, n.StdErr)
		}
	}
	if err := d.Err(); err != nil {
		t.Error(err)
	}
}

// Every line of learning.csv is of an artefact; curvesOf passes over others.
func TestLearningIsShown(t *testing.T) {
	table, err := claim.ReadCSV[learningRow]("drl", files, "learning.csv")
	if err != nil {
		t.Fatal(err)
	}
	artefacts := figurestest.Load(t, Paper).Artefacts
	for i, r := range table.Rows {
		if !slices.ContainsFunc(artefacts, func(a figures.Artefact) bool { return a.Name == r.Artefact }) {
			t.Error(table.Fail(i, "artefact", fmt.Errorf("the paper has no %q", r.Artefact)))
		}
	}
}
