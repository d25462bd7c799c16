package deadline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	_ "miglab/algorithms/dispatch"
	_ "miglab/algorithms/rl/agents"
	"miglab/harness/algo"
	"miglab/harness/deep"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/figurestest"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// TestTable8FollowsFromTable7 guards both against typing errors: the reductions are
// those of the printed means, up to the rounding of these.
func TestTable8FollowsFromTable7(t *testing.T) {
	c := figurestest.Load(t, Paper).Claims
	for _, m := range methods {
		for q, half := range map[string]float64{late.name: 0.05, tardiness.name: 0.005} {
			base, agents := c.Published("table7", claim.At(m.title, q)), c.Published("table7", claim.At("RL-PPO", q))
			low, high := (1-(agents+half)/(base-half))*100, (1-(agents-half)/(base+half))*100
			if got := c.Published("table8", claim.At(m.title, q+" reduction")); got < low-0.05 || got > high+0.05 {
				t.Errorf("%s, %s: Table 8 has %v %%, Table 7 gives %.2f to %.2f", m.title, q, got, low, high)
			}
		}
	}
}

// TestAllSchedulersAreShown fails when the track has one more that cites the report than this package,
// or the agent one more training. What is shown belongs to the track.
func TestAllSchedulersAreShown(t *testing.T) {
	shown := map[string]bool{}
	for _, s := range schedulers {
		shown[s.runs[0]] = true
	}
	for _, a := range agents {
		shown[algo.MustParse(a.runs[0]).ID] = true
	}
	for _, s := range algo.All(algo.TrackDispatch) {
		ids := []string{s.Name}
		if s.Name == "rl-deadline" {
			ids = nil
			for _, v := range s.Params[0].Values {
				ids = append(ids, algo.MustParse(s.Name+"?"+s.Params[0].Name+"="+v).ID)
			}
		}
		for _, id := range ids {
			if !shown[id] && strings.Contains(s.Cite, "deadline report") {
				t.Errorf("%s is missing", id)
			}
			delete(shown, id)
		}
	}
	if len(shown) > 0 {
		t.Errorf("%v are no schedulers of the track", shown)
	}
}

// TestAllTrainingRunsAreUsed: the program has weights of each run of an agent and of no other.
func TestAllTrainingRunsAreUsed(t *testing.T) {
	for _, a := range agents {
		for _, id := range a.runs {
			if algo.MustParse(id).Weights() == "" {
				t.Errorf("%s has no weights", id)
			}
		}
		training := algo.MustParse(a.runs[0]).Args["training"]
		if next, err := algo.Parse(fmt.Sprintf("rl-deadline?training=%s&seed=%d", training, len(a.runs)+1)); err == nil && next.Weights() != "" {
			t.Errorf("%s is not used", next.ID)
		}
	}
}

// TestAgentsEpisodes: what an agent costs is bounded.
func TestAgentsEpisodes(t *testing.T) {
	for _, c := range []struct {
		*scheduler
		sample
		want int
	}{
		{agent, relaxed, ourDays},
		{agent, tight, sweep},
		{originalRelaxed, relaxed, sweep},
		{largest, tight, ourDays},
	} {
		if n := c.days(c.sample); n != c.want {
			t.Errorf("%s on %s: %d episodes, want %d", c.title, c.dataset, n, c.want)
		}
	}
}

// reproduce builds the named artefacts, or every one on few days if none is named, and returns the rows of claims.
func reproduce(t *testing.T, only ...string) (rows []manifest.Row) {
	t.Helper()
	m, left := figurestest.Reproduce(t, figures.Reproduction{
		Papers: []figures.Paper{figurestest.Load(t, Paper)}, Scale: figures.Scale{Quick: len(only) == 0},
		Only: func(_, artefact string) bool { return len(only) == 0 || slices.Contains(only, artefact) },
	})
	if len(only) == 0 && left != 0 {
		t.Fatalf("%d artefacts left", left)
	}
	for row := range m.Rows() {
		rows = append(rows, *row)
	}
	return rows
}

// replaceAgents puts Largest-First in the place of each agent, as so many training runs; 0 means as many as it has.
func replaceAgents(t *testing.T, number int) {
	for _, a := range slices.Concat(agents, []*scheduler{firstFive}) {
		runs := a.runs
		a.runs = slices.Repeat([]string{largest.runs[0]}, cmp.Or(number, len(runs)))
		t.Cleanup(func() { a.runs = runs })
	}
}

// TestHeuristicsEqualPrintInEveryDigit: on the report's own days, by default. An agent is
// measured by its training runs. What they measure does not matter here and takes long, so that others stand in for them.
func TestHeuristicsEqualPrintInEveryDigit(t *testing.T) {
	replaceAgents(t, 0)
	equal := 0
	rows := reproduce(t, "table7")
	if deep.On() {
		others := slices.DeleteFunc(reproduce(t), func(r manifest.Row) bool { return r.Artefact == "table7" })
		rows = append(rows, others...)
	}
	for _, r := range rows {
		if !r.Default || r.Repeats || r.Measured == nil {
			continue
		}
		isAgent := strings.Contains(r.Claim, "RL") || r.Artefact == "table6" || r.Artefact == "table8" || r.Artefact == "table2"
		// Fewer than three runs decide nothing.
		if isAgent && (r.Replicate != verdict.TrainingRuns || r.Replicates < 3) && r.Claim != "Baselines compared" {
			t.Errorf("%s, %s: %d %s, want 3 training runs or more", r.Artefact, r.Claim, r.Replicates, r.Replicate)
		}
		if r.Artefact != "table7" || isAgent {
			continue
		}
		if got, want := reports.Fixed(*r.Measured, r.Decimals), reports.Fixed(r.Published, r.Decimals); got != want || r.Replicates != 0 {
			t.Errorf("%s: %s, published %s; %d replicates, want a point", r.Claim, got, want, r.Replicates)
		}
		equal++
	}
	if equal != 24 {
		t.Errorf("%d numbers, want 24", equal)
	}
}

// TestLargestFirstIsNotReproducedAsTheAgent puts Largest-First in the place of each agent, as
// three training runs, so that they can have a verdict.
func TestLargestFirstIsNotReproducedAsTheAgent(t *testing.T) {
	replaceAgents(t, 3)
	// Table 6 compares the agent with another agent under other deadlines.
	var claims []claim.Claim
	compared := []string{"table8", "table9", "table10", "text"}
	for _, artefact := range compared {
		claims = append(claims, figurestest.Load(t, Paper).Claims.Of(artefact)...)
	}
	judged := map[string]verdict.Verdict{}
	for _, r := range reproduce(t, compared...) {
		if r.Replicate != verdict.TrainingRuns {
			continue
		}
		for _, c := range claims {
			if c.Home.Artefact != r.Artefact || c.Cell != r.Cell || !c.Compares {
				continue
			}
			if r.Replicates != 3 || r.Default && *r.Low != *r.High {
				t.Fatalf("%s, %s: %d replicates from %v to %v, want three that are equal", r.Artefact, r.Claim, r.Replicates, *r.Low, *r.High)
			}
			m := verdict.Measurement{Value: *r.Measured, Replicates: r.Replicates, Unit: r.Replicate, Low: math.NaN(), High: math.NaN()}
			if r.Low != nil {
				m.Low, m.High = *r.Low, *r.High
			}
			v := verdict.Judge(c.Claim, m).Verdict
			if v == verdict.Reproduced || v == verdict.Consistent {
				t.Errorf("%s, %s, %s: Largest-First with %v is %s as the agent with %v", r.Artefact, r.Claim, r.Reading, *r.Measured, v, r.Published)
			}
			judged[r.Artefact+" "+r.Claim] = v
		}
	}
	// Table 8, Table 9 twice, Table 10 twice, the count in the text.
	if len(judged) != 8+2+2+1 {
		t.Errorf("%d claims are judged: %v", len(judged), judged)
	}
}

// TestSlackDecidesWhereRulesDoSo puts rules in the place of agents: one that beats the report's when deadlines are
// relaxed, and one that loses when they are tight. T4 is then met by default, and not if the rules change places. The
// original settings have the same rules, so that their reading has the default's measurement and does not count again.
func TestSlackDecidesWhereRulesDoSo(t *testing.T) {
	for _, c := range []struct {
		relaxed, tight *scheduler
		want           verdict.State
	}{{leastSlack, smallest, verdict.Met}, {smallest, leastSlack, verdict.Missed}} {
		replaceAgents(t, 3)
		for _, pair := range [][2]*scheduler{enhancedAgents, originalAgents} {
			pair[0].runs, pair[1].runs = slices.Repeat(c.relaxed.runs, 3), slices.Repeat(c.tight.runs, 3)
		}
		m, _ := figurestest.Reproduce(t, figures.Reproduction{
			Papers: []figures.Paper{figurestest.Load(t, Paper)},
			Only:   func(_, artefact string) bool { return artefact == "formulation" },
		})
		got := map[string]verdict.State{}
		for _, conclusion := range m.Papers[0].Conclusions {
			for _, dot := range conclusion.Outcomes {
				got[conclusion.ID+" "+dot.Reading] = dot.State
			}
		}
		for reading, want := range map[string]verdict.State{
			figures.DefaultReading: c.want, "100 of our days": c.want, "original settings": "",
		} {
			if got["T4 "+reading] != want {
				t.Errorf("%s if relaxed, %s if tight: T4 is %q under %q, want %q", c.relaxed.title, c.tight.title,
					got["T4 "+reading], reading, want)
			}
		}
	}
}

// TestDeviations takes two evaluations of 10 with the deviations 1 and 3.
func TestDeviations(t *testing.T) {
	var values []float64
	for i := range 20 {
		v := 1.0
		if i >= 10 {
			v = 3
		}
		if i%2 == 0 {
			v = -v
		}
		values = append(values, 50+v)
	}
	if each := deviations(values); len(each) != 2 || math.Abs(each[0]-1) > 1e-12 || math.Abs(each[1]-3) > 1e-12 {
		t.Errorf("%v, want 1 and 3", each)
	}
}

// TestReduction takes the ratio of means, not the mean of ratios.
func TestReduction(t *testing.T) {
	values, base := []float64{1, 5}, []float64{2, 6}
	if r := reduction(values, base); math.Abs(r-25) > 1e-12 {
		t.Errorf("%v, want 25", r)
	}
	if m := figures.Mean(reductions(values, base)); math.Abs(m-25) > 1e-12 {
		t.Errorf("linearised %v, want 25", m)
	}
	// A difference that is the same share of every day has no spread.
	for _, r := range reductions([]float64{1, 2, 3}, []float64{2, 4, 6, 100}) {
		if math.Abs(r-50) > 1e-12 {
			t.Errorf("%v, want 50", r)
		}
	}
}

// TestTrainingVariesOverDays: on our days the interval is over training runs and days, on the report's over runs alone.
func TestTrainingVariesOverDays(t *testing.T) {
	d := &figures.Data{Claims: figurestest.Load(t, Paper).Claims, TrainingRun: "A run takes a minute."}
	runs := [][]float64{{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}}
	on, ours := reported.relaxed.training(d, evaluation, runs), relaxed.training(d, evaluation, runs)
	perRun := 4.3027 / math.Sqrt(3) // Student's t of three runs with the deviation 1
	perDay := 3.1824 * 5.16398 / 2  // of four days with the deviation 5.16
	if on.Value != 7 || math.Abs(on.High-on.Value-perRun) > 1e-3 || on.Unit != verdict.TrainingRuns {
		t.Errorf("the report's days: %+v, want 7 with %v", on, perRun)
	}
	if on.Detail != "" { // the page says what a run costs if one could settle the number
		t.Errorf("the detail %q", on.Detail)
	}
	if want := math.Hypot(perRun, perDay); ours.Value != 7 || math.Abs(ours.High-7-want) > 1e-3 || math.Abs(7-ours.Low-want) > 1e-3 {
		t.Errorf("our days: %+v, want 7 with %v", ours, want)
	}
}

// TestLesserOf: a sentence needs both values, whichever is less by chance.
func TestLesserOf(t *testing.T) {
	a := figures.Measurement{Value: 3, Low: 2.5, High: 3.5}
	b := figures.Measurement{Value: 3.1, Low: -1, High: 7.2}
	for _, m := range []figures.Measurement{lesserOf(a, b), lesserOf(b, a)} {
		if m.Value != 3 || m.Low != -1 || m.High != 3.5 {
			t.Errorf("%+v, want 3 [-1, 3.5]", m)
		}
	}
}
