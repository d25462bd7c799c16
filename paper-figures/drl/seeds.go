package drl

import (
	"cmp"
	"fmt"
	"strings"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// leastSeeds is the number of seeds that an order of agents needs.
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

// findings are the paper's six findings about its modelling, in the order of the claims.
// Levels are by workload and N.
func findings(all curves, levels map[string]map[int]level) []statement {
	float, entropy := agentOf("FLOAT", mixExtreme), agentOf("ENTROPY", mixExtreme)
	var out []statement
	for _, kind := range []string{"order", "size"} {
		out = append(out, statement{
			claim: "1, " + kind + ": MIXSCALINGEXTREME, FLOAT less ENTROPY", agents: []string{float, entropy}, value: finals,
			reason: reasons(all.ended(float, entropy), levels[mixExtreme][n].String()),
		})
	}
	aboveFAR := func(workload string) func([]*course) float64 {
		return func(of []*course) float64 { return of[0].final() - levels[workload][n].far }
	}
	for _, w := range []string{mixUniform, wideTimes} {
		for _, v := range []string{"FLOAT", "ENTROPY"} {
			why := levels[w][n].String()
			if v == "FLOAT" {
				why = reasons(why, all.varied(w))
			}
			for _, kind := range []string{"order", "size"} {
				out = append(out, statement{
					claim: fmt.Sprintf("2, %s: %s, %s less FAR", kind, w, v), agents: []string{agentOf(v, w)}, value: aboveFAR(w), reason: why,
				})
			}
		}
	}
	for _, w := range mixed {
		for _, kind := range []string{"near", "order"} {
			agent := agentOf(direct.name, w)
			out = append(out, statement{
				claim: fmt.Sprintf("3, %s: %s, DIRECT RECONFIG less FAR", kind, w), agents: []string{agent}, value: aboveFAR(w),
				reason: all.ended(agent),
				caveat: "this may hold without reconfiguring; " + levels[w][n].String(),
			})
		}
	}
	learning := func(claim string, value func([]*course) float64, a, b string) {
		out = append(out, statement{claim: claim, agents: []string{a, b}, value: value, reason: all.ended(a, b)})
	}
	after := func(share float64) func([]*course) float64 {
		return func(of []*course) float64 { return of[0].at(share) - of[1].at(share) }
	}
	learning("4, order: GOODSCALING, DQN less PPO, end", finals, dqn, ppo)
	learning("4, order: GOODSCALING, DQN less PPO, half-way", after(0.5), dqn, ppo)
	learning("5, order: GOODSCALING, continuous less M = 14, at a quarter", after(0.25), continuous, ppo)
	learning("5, order: GOODSCALING, continuous less M = 14, half-way", after(0.5), continuous, ppo)
	learning("5, order: GOODSCALING, continuous less M = 14, end", finals, continuous, ppo)
	learning("5, order: GOODSCALING, steps of continuous over M = 14", func(of []*course) float64 { return slower(of[0], of[1]) }, continuous, ppo)
	learning("6, order: GOODSCALING, N = 7 less N = 14, end", finals, tasksOf(7), ppo)
	last := &out[len(out)-1]
	last.reason = reasons(last.reason, ofFAR(levels[goodScaling], 7, n))
	return out
}

// seeds compares final scores over seeds: what the paper found about its modelling.
func seeds(claims *figures.Claims, all curves) figures.Artefact {
	return figures.Artefact{
		Name: "seeds", Title: "what the paper found about its modelling, over three seeds",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, f := range finalScores() {
				out = append(out, needScored(s, f.workload, f.n)...)
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			t := reports.Table{
				Title: "Final p_opt [%] by seed, and what the paper prints",
				Columns: reports.Left("workload", "agent").
					Right("by seed", "mean", far.name, onesOnly.name, bestOnly.name, "published", "published FAR"),
				Notes: []string{
					"measured on 100 batches of N tasks that are always the same, 50 of each reading of the generator, all reconfiguring in parallel as in the paper's environment",
					whatLevels,
					all.emptied(),
					"published: Table 4, after 200 million steps and over batches of 100 tasks in 14s",
					"p_opt of other N is of other batches: FAR's differs as well",
					"steps of one agent over another's: to come within a tenth of the lowest p_opt that both reach, seed by seed",
				},
			}
			levels := map[string]map[int]level{} // by workload and N
			var agents []string
			for _, f := range finalScores() {
				agents = append(agents, f.agent)
			}
			if err := all.check(agents...); err != nil {
				return nil, err
			}
			for _, f := range finalScores() {
				l := levelOn(d, claims, f.workload, f.n)
				if levels[f.workload] == nil {
					levels[f.workload] = map[int]level{}
				}
				levels[f.workload][f.n] = l
				row := []string{f.workload, f.setting, reports.Missing, reports.Missing}
				l.each(func(_ string, pOpt float64) { row = append(row, fmt.Sprintf("%.2f", pOpt)) })
				row = append(row, reports.Missing, reports.Missing)
				if ends := (statement{agents: []string{f.agent}, value: final}).values(all); len(ends) > 0 {
					var each []string
					for _, v := range ends {
						each = append(each, fmt.Sprintf("%.2f", v))
					}
					row[2], row[3] = strings.Join(each, " "), fmt.Sprintf("%.2f", figures.Mean(ends))
				}
				if f.inTable4 != "" {
					row[7] = fmt.Sprintf("%.2f", claims.Get("table4", f.workload+" "+f.inTable4).Published)
					row[8] = fmt.Sprintf("%.2f", l.publishedFAR)
				}
				t.Rows = append(t.Rows, row)
			}
			statements := findings(all, levels)
			fs, err := all.judgeAll(d, claims, "seeds", leastSeeds, statements)
			if err != nil {
				return nil, err
			}
			return figures.Found(fs...).
				Table("seeds", t).
				Table("seeds-claims", figures.ComparisonTable("What the paper found about its modelling", fs)).
				Table("seeds-each", seedBySeed(all, fs, statements)), nil
		},
	}
}

// seedBySeed says on how many seeds each order holds, which the mean may hide.
func seedBySeed(all curves, fs []figures.Finding, statements []statement) reports.Table {
	t := reports.Table{
		Title:   "What the paper found about its modelling, seed by seed",
		Columns: reports.Left("claim").Right("published", "by seed", "holds on"),
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
			s.claim, fmt.Sprintf("%s %.*f", f.Relation, f.Decimals, f.Published), cmp.Or(strings.Join(each, " "), reports.Missing), fmt.Sprintf("%d of %d", holds, len(values)),
		})
	}
	return t
}
