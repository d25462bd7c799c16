package drl

import (
	"fmt"
	"strings"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// leastSeeds is how many seeds an order of agents rests on.
const leastSeeds = 3

// A finalScore is an agent whose last score is compared over seeds.
type finalScore struct {
	workload, setting, agent string
	n                        int
	// inTable4 is the column that prints it; empty if none does.
	inTable4 string
}

// mixed are the workloads that need reconfiguration (6.5).
var mixed = []string{mixUniform, mixExtreme, wideTimes}

// finalScores lists what is compared: the versions on the mixed workloads, and on
// GOODSCALING what Figs. 10 to 12 vary.
func finalScores() (out []finalScore) {
	for _, w := range mixed {
		for _, v := range []string{"FLOAT", "ENTROPY", direct.name} {
			out = append(out, finalScore{w, v, agentOf(v, w), n, v})
		}
	}
	return append(
		out,
		finalScore{goodScaling, "FLOAT (PPO, M = N = 14)", ppo, n, "FLOAT"},
		finalScore{goodScaling, "DQN", dqn, n, ""},
		finalScore{goodScaling, "continuous time", continuous, n, ""},
		finalScore{goodScaling, "N = 7", tasksOf(7), 7, ""},
	)
}

// findings are the six of the paper about its modelling. far is FAR's p_opt by workload.
func findings(far map[string]float64) []statement {
	float, entropy := agentOf("FLOAT", mixExtreme), agentOf("ENTROPY", mixExtreme)
	const calm = "FLOAT reconfigures too here, so that there is little left for exploration to gain"
	out := []statement{
		{"1, order: MIXSCALINGEXTREME, FLOAT less ENTROPY", []string{float, entropy}, finals, calm},
		{"1, size: MIXSCALINGEXTREME, FLOAT less ENTROPY", []string{float, entropy}, finals, calm},
	}
	aboveFAR := func(workload string) func([]*curve) float64 {
		return func(of []*curve) float64 { return of[0].final() - far[workload] }
	}
	for _, w := range []string{mixUniform, wideTimes} {
		for _, v := range []string{"FLOAT", "ENTROPY"} {
			for _, kind := range []string{"order", "size"} {
				out = append(out, statement{fmt.Sprintf("2, %s: %s, %s less FAR", kind, w, v), []string{agentOf(v, w)}, aboveFAR(w), learnsToReconfigure})
			}
		}
	}
	for _, w := range mixed {
		for _, kind := range []string{"near", "order"} {
			out = append(out, statement{
				fmt.Sprintf("3, %s: %s, DIRECT RECONFIG less FAR", kind, w),
				[]string{agentOf(direct.name, w)},
				aboveFAR(w),
				short + "and FAR's p_opt is lower on these batches than in Table 4",
			})
		}
	}
	const early = short + "DQN makes as much of few steps"
	out = append(
		out,
		statement{"4, order: GOODSCALING, DQN less PPO, end", []string{dqn, ppo}, finals, early},
		statement{
			"4, order: GOODSCALING, DQN less PPO, half-way",
			[]string{dqn, ppo},
			func(of []*curve) float64 { return of[0].at(0.5) - of[1].at(0.5) }, early,
		},
	)
	const smooth = "continuous time is learned as fast here"
	for _, s := range []struct {
		when  string
		share float64
	}{{"at a quarter", 0.25}, {"half-way", 0.5}, {"end", 1}} {
		out = append(out, statement{
			"5, order: GOODSCALING, continuous less M = 14, " + s.when,
			[]string{continuous, ppo},
			func(of []*curve) float64 { return of[0].at(s.share) - of[1].at(s.share) }, smooth,
		})
	}
	return append(
		out,
		statement{
			"5, order: GOODSCALING, steps of continuous over M = 14",
			[]string{continuous, ppo},
			func(of []*curve) float64 { return slower(of[0], of[1]) }, smooth,
		},
		statement{"6, order: GOODSCALING, N = 7 less N = 14, end", []string{tasksOf(7), ppo}, finals, "batches of 7 leave as little idle here"},
	)
}

// seeds compares final scores over seeds: what the paper found about its modelling.
func seeds(claims *figures.Claims, all curves) figures.Artefact {
	return figures.Artefact{
		Name: "seeds", Title: "what the paper found about its modelling, over three seeds",
		Needs: func(s figures.Scale) []figures.Need {
			var to needs
			for _, f := range finalScores() {
				needScored(&to, s, f.workload, f.n)
			}
			return to.list
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			t := reports.Table{
				Title: "Final p_opt [%] by seed, and what the paper prints",
				Columns: []reports.Column{
					{Name: "workload"},
					{Name: "agent"},
					{Name: "by seed", Right: true},
					{Name: "mean", Right: true},
					{Name: "FAR", Right: true},
					{Name: "published", Right: true},
					{Name: "published FAR", Right: true},
				},
				Notes: []string{
					"measured on 100 batches of N tasks that are always the same, 50 of each reading of the generator; FAR on the same batches, all reconfiguring in parallel as in the paper's environment",
					"published: Table 4, after 200 million steps and over batches of 100 tasks in 14s",
					"p_opt of other N is of other batches: FAR's differs as well",
					"steps of one agent over another's: to come within a tenth of the lowest p_opt that both reach, seed by seed",
				},
			}
			levels := map[string]float64{}
			for _, f := range finalScores() {
				level, err := farScore(d, f.workload, f.n)
				if err != nil {
					return nil, err
				}
				if f.n == n {
					levels[f.workload] = level
				}
				row := []string{f.workload, f.setting, reports.Missing, reports.Missing, fmt.Sprintf("%.2f", level), reports.Missing, reports.Missing}
				if ends := (statement{agents: []string{f.agent}, value: final}).values(all); len(ends) > 0 {
					var each []string
					for _, v := range ends {
						each = append(each, fmt.Sprintf("%.2f", v))
					}
					row[2], row[3] = strings.Join(each, " "), fmt.Sprintf("%.2f", mean(ends))
				}
				if f.inTable4 != "" {
					row[5] = fmt.Sprintf("%.2f", claims.Get("table4", f.workload+" "+f.inTable4).Published)
					row[6] = fmt.Sprintf("%.2f", claims.Get("table4", f.workload+" FAR").Published)
				}
				t.Rows = append(t.Rows, row)
			}
			statements := findings(levels)
			fs, err := all.judgeAll(d, claims, "seeds", leastSeeds, statements)
			if err != nil {
				return nil, err
			}
			return &figures.Output{Findings: fs, Tables: []figures.Table{
				{File: "seeds", Table: t},
				{File: "seeds-claims", Table: figures.ComparisonTable("What the paper found about its modelling", fs)},
				{File: "seeds-each", Table: seedBySeed(all, fs, statements)},
			}}, nil
		},
	}
}

// seedBySeed says on how many seeds each order holds, as the mean may hide.
func seedBySeed(all curves, fs []figures.Finding, statements []statement) reports.Table {
	t := reports.Table{
		Title: "What the paper found about its modelling, seed by seed",
		Columns: []reports.Column{
			{Name: "claim"}, {Name: "published", Right: true}, {Name: "by seed", Right: true}, {Name: "holds on", Right: true},
		},
	}
	for i, s := range statements {
		f := &fs[i]
		if f.Relation != figures.AtLeast && f.Relation != figures.AtMost {
			continue
		}
		var each []string
		holds := 0
		values := s.values(all)
		for _, v := range values {
			each = append(each, fmt.Sprintf("%.2f", v))
			if f.Relation == figures.AtLeast && v >= f.Published || f.Relation == figures.AtMost && v <= f.Published {
				holds++
			}
		}
		t.Rows = append(t.Rows, []string{
			s.claim, fmt.Sprintf("%s %.*f", f.Relation, f.Decimals, f.Published), cell(strings.Join(each, " "), reports.Missing), fmt.Sprintf("%d of %d", holds, len(values)),
		})
	}
	return t
}
