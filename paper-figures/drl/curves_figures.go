package drl

import (
	"fmt"
	"slices"
	"strings"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// paperMillions is the length of the paper's training in million steps (6.2).
const paperMillions = 200

// untrained is what is missing where there is no learning curve.
const untrained = "the agent has not been trained"

// agentOf is the name under which a version of the paper's agent was trained.
func agentOf(version, workload string) string {
	name := map[string]string{"ONE-HOT": "onehot", "FLOAT": "float", "ENTROPY": "entropy", direct.name: "direct"}[version]
	return "rl-" + name + "-" + workload
}

// Workloads of the learning curves.
const (
	goodScaling = "GOODSCALING"
	mixUniform  = "MIXSCALINGUNIFORM"
	mixExtreme  = "MIXSCALINGEXTREME"
)

// A line is an agent in a figure.
type line struct{ name, agent string }

// agentsIn lists the agents of lines.
func agentsIn(lines []line) (out []string) {
	for _, l := range lines {
		out = append(out, l.agent)
	}
	return out
}

// mean returns the mean, the least and the greatest score over the runs, by point.
func (all curves) mean(agent string) (mean, low, high []float64) {
	runs := all[agent]
	for i := range runs[0].steps {
		sum, least, most := 0.0, runs[0].scores[i], runs[0].scores[i]
		for _, r := range runs {
			sum, least, most = sum+r.scores[i], min(least, r.scores[i]), max(most, r.scores[i])
		}
		mean, low, high = append(mean, sum/float64(len(runs))), append(low, least), append(high, most)
	}
	return mean, low, high
}

// series returns the mean over the runs with a band from the lowest to the highest score. It
// reports false if the agent has not been trained.
func (all curves) series(l line) (reports.Series, bool) {
	runs := all[l.agent]
	if len(runs) == 0 {
		return reports.Series{}, false
	}
	s := reports.Series{Name: l.name, X: runs[0].millions()}
	s.Y, s.Low, s.High = all.mean(l.agent)
	if len(runs) == 1 {
		s.Low, s.High = nil, nil
	}
	return s, true
}

// chart draws the trained agents. It returns nil if there is none.
func (all curves) chart(title string, lines []line) *reports.Lines {
	chart := &reports.Lines{
		Title: title,
		X:     reports.Axis{Label: fmt.Sprintf("Training steps [million] (the paper: %d)", paperMillions)},
		Y:     reports.Axis{Label: "p_opt [%]"},
	}
	positive := true
	for _, l := range lines {
		s, ok := all.series(l)
		if !ok {
			continue
		}
		for _, r := range all[l.agent] {
			positive = positive && r.least() > 0
		}
		chart.Series = append(chart.Series, s)
	}
	if chart.Series == nil {
		return nil
	}
	chart.Y.Log = positive
	return chart
}

// shares of the training that tables show scores at.
var shares = []float64{0.25, 0.5, 0.75, 1}

// table lists the trained agents with means over the runs.
func (all curves) table(title string, lines []line) reports.Table {
	t := reports.Table{
		Title:   title,
		Columns: reports.Left("agent").Right("seeds", "million steps", "first score"),
		Notes: []string{
			"scores are means over seeds, of p_opt [%] where nothing else is said, greedily and from an empty GPU, on 100 batches of N tasks that are always the same: 50 as the text generates them and 50 as the code with which the agents were trained",
			"agents of the paper's modelling reconfigure in parallel there, as in its environment",
			"figures: the mean over seeds, with a band from the least to the greatest",
			"steps to best: million steps until p_opt is within a tenth of the lowest, mean over seeds",
		},
	}
	for _, s := range shares {
		t.Columns = t.Columns.Right(fmt.Sprintf("at %.0f %%", 100*s))
	}
	t.Columns = t.Columns.Right("lowest", "steps to best")
	for _, l := range lines {
		runs := all[l.agent]
		if len(runs) == 0 {
			continue
		}
		over := func(of func(*course) float64) string {
			var v []float64
			for i := range runs {
				v = append(v, of(&runs[i].course))
			}
			return fmt.Sprintf("%.2f", figures.Mean(v))
		}
		row := []string{l.name, fmt.Sprint(len(runs)), over(func(c *course) float64 { return c.steps[len(c.steps)-1] / 1e6 }), over(func(c *course) float64 { return c.scores[0] })}
		for _, s := range shares {
			row = append(row, over(func(c *course) float64 { return c.at(s) }))
		}
		t.Rows = append(t.Rows, append(row, over((*course).least), over(func(c *course) float64 { return c.converges() / 1e6 })))
	}
	return t
}

// A statement says how a claim is measured from learning curves of the same seed.
type statement struct {
	claim  string
	agents []string
	value  func(of []*course) float64
	// reason explains a deviation. caveat is added to every verdict.
	reason, caveat string
}

// agentsOf lists the agents that statements are about.
func agentsOf(statements []statement) (out []string) {
	for _, s := range statements {
		out = append(out, s.agents...)
	}
	return out
}

// final is the end of the first agent's training.
func final(of []*course) float64 { return of[0].final() }

// finals is by how much the first agent ends above the second.
func finals(of []*course) float64 { return of[0].final() - of[1].final() }

// values returns the values by seed, for the seeds that all agents have.
func (s statement) values(all curves) (out []float64) {
	for _, of := range all.together(s.agents...) {
		out = append(out, s.value(of))
	}
	return out
}

// reasons joins reasons that are not empty.
func reasons(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(r string) bool { return r == "" }), "; ")
}

// judge compares a claim with the mean over seeds. With fewer than least seeds the claim
// cannot be run.
func (s statement) judge(d *figures.Data, c figures.Claim, all curves, least int) figures.Finding {
	values := s.values(all)
	if len(values) < least {
		var lacking []string
		for _, a := range s.agents {
			if len(all[a]) < least {
				lacking = append(lacking, a)
			}
		}
		why := untrained
		if least > 1 {
			why = fmt.Sprintf("%s with %d seeds", untrained, least)
		}
		return figures.Missing(c, why+": "+strings.Join(lacking, ", "))
	}
	m, spread := figures.Exactly(values[0]), "one seed tells no spread"
	if len(values) > 1 {
		m = d.MeanOf(values, len(values))
		spread = fmt.Sprintf("%d seeds", len(values))
		if m.Low <= c.Published && c.Published <= m.High {
			spread = fmt.Sprintf("not separated from the published value by %d seeds", len(values))
		}
	}
	f := d.Judge(c, m, "", reasons(s.reason, spread))
	if !d.Scale.Quick {
		f.Reason = reasons(f.Reason, s.caveat)
	}
	return f
}

// judgeAll judges the claims of an artefact in the order of the statements.
func (all curves) judgeAll(d *figures.Data, claims *figures.Claims, artefact string, least int, statements []statement) ([]figures.Finding, error) {
	if err := all.check(agentsOf(statements)...); err != nil {
		return nil, err
	}
	var fs []figures.Finding
	for _, s := range statements {
		fs = append(fs, s.judge(d, claims.Get(artefact, s.claim), all, least))
	}
	return fs, nil
}

// learned returns the findings and tables of an artefact about learning curves.
func (all curves) learned(
	d *figures.Data, claims *figures.Claims, name, heading string, lines []line, statements []statement, notes ...string,
) (*figures.Output, error) {
	if err := all.check(agentsIn(lines)...); err != nil {
		return nil, err
	}
	fs, err := all.judgeAll(d, claims, name, 1, statements)
	if err != nil {
		return nil, err
	}
	t := all.table(heading, lines)
	t.Notes = append(t.Notes, notes...)
	return figures.Found(fs...).Table(name, t).Table(name+"-claims", figures.ComparisonTable(heading+": claims", fs)), nil
}

// learning is an artefact with one chart of learning curves.
func learning(claims *figures.Claims, all curves, name, title, heading string, lines []line, statements []statement, notes ...string) figures.Artefact {
	return figures.Artefact{
		Name: name, Title: title,
		Build: func(d *figures.Data) (*figures.Output, error) {
			out, err := all.learned(d, claims, name, heading, lines, statements, notes...)
			if err != nil {
				return nil, err
			}
			if chart := all.chart(heading, lines); chart != nil {
				out.Figure(name, heading, chart)
			}
			return out, nil
		},
	}
}

// The runs of Figs. 10 to 12 differ from FLOAT's final setting in one thing.
var (
	ppo        = agentOf("FLOAT", goodScaling)
	ppo64      = ppo + "-64"
	dqn        = ppo + "-dqn"
	dqn64      = ppo + "-dqn-64"
	continuous = ppo + "-continuous"
)

// levelsOf and tasksOf are the runs with other M and N.
func levelsOf(m int) string { return fmt.Sprintf("%s-M%d", ppo, m) }
func tasksOf(n int) string  { return fmt.Sprintf("%s-N%d", ppo, n) }

// steps compares the length of an agent's training with the paper's. It is empty if the
// agent has not been trained.
func (all curves) steps(agent string) string {
	runs := all.together(agent)
	if len(runs) == 0 {
		return ""
	}
	x := runs[0][0].millions()
	return fmt.Sprintf("after %.1f million steps, in the paper %d million", x[len(x)-1], paperMillions)
}

// ended gives the final scores of agents, averaged over the seeds that all have. It is empty
// if there are none.
func (all curves) ended(agents ...string) string {
	runs := all.together(agents...)
	if len(runs) == 0 {
		return ""
	}
	var each []string
	for i, a := range agents {
		var ends []float64
		for _, of := range runs {
			ends = append(ends, of[i].final())
		}
		each = append(each, fmt.Sprintf("%s at %.2f %%", a, figures.Mean(ends)))
	}
	return "p_opt ends: " + strings.Join(each, ", ") + ", " + all.steps(agents[0])
}

// emptied is a note about the training of DQN.
func (all curves) emptied() string {
	const begins = "DQN was trained in segments, each of which begins with an empty replay buffer"
	if runs := all.together(dqn); len(runs) > 0 {
		return fmt.Sprintf("%s; a curve has a point at the end of each, %d in all", begins, len(runs[0][0].steps))
	}
	return begins
}

func figure10(claims *figures.Claims, all curves) figures.Artefact {
	ends := func(claim, a, b string) statement {
		return statement{claim: claim, agents: []string{a, b}, value: finals, reason: all.ended(a, b)}
	}
	return learning(claims, all, "figure10", "learning with PPO and DQN, 64x64 and 256x256",
		"Fig. 10. Learning GOODSCALING with PPO and DQN, N = M = 14",
		[]line{{"PPO 256x256", ppo}, {"PPO 64x64", ppo64}, {"DQN 256x256", dqn}, {"DQN 64x64", dqn64}},
		[]statement{
			ends("PPO 64x64 less PPO 256x256, end", ppo64, ppo),
			ends("DQN 64x64 less DQN 256x256, end", dqn64, dqn),
			ends("DQN 64x64 less PPO 64x64, end", dqn64, ppo64),
		},
		all.emptied(), "DQN 256x256 against PPO 256x256 is judged over three seeds, in the table of seeds")
}

func figure11(claims *figures.Claims, all curves) figures.Artefact {
	ends := func(claim string, agents ...string) statement {
		return statement{claim: claim, agents: agents, value: finals, reason: all.ended(agents...)}
	}
	end := ends("M = 14, end", ppo)
	end.value = final
	return learning(claims, all, "figure11", "learning with continuous time and M levels",
		"Fig. 11. Learning GOODSCALING by time levels M, N = 14",
		[]line{{"continuous", continuous}, {"M = 7", levelsOf(7)}, {"M = 14", ppo}, {"M = 21", levelsOf(21)}, {"M = 28", levelsOf(28)}},
		[]statement{
			end,
			ends("M = 7 less M = 14, end", levelsOf(7), ppo),
			ends("M = 28 less M = 14, end", levelsOf(28), ppo),
			ends("continuous less M = 21, end", continuous, levelsOf(21)),
			{
				claim: "steps of M = 21 over M = 14", agents: []string{levelsOf(21), ppo},
				value: func(of []*course) float64 { return slower(of[0], of[1]) }, reason: all.steps(ppo),
			},
		},
		"continuous against M = 14 is judged over three seeds, in the table of seeds")
}

// sizes12 are the batch sizes of Fig. 12.
var sizes12 = []struct {
	n     int
	agent string
}{{7, tasksOf(7)}, {n, ppo}, {21, tasksOf(21)}, {28, tasksOf(28)}}

// figure12 also shows FAR's p_opt on the batches of each size.
func figure12(claims *figures.Claims, all curves) figures.Artefact {
	const name, title = "figure12", "learning with batches of N tasks"
	var lines []line
	for _, s := range sizes12 {
		lines = append(lines, line{fmt.Sprintf("N = %d", s.n), s.agent})
	}
	return figures.Artefact{
		Name: name, Title: title,
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, of := range sizes12 {
				out = append(out, needScored(s, goodScaling, of.n)...)
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			levels := map[int]level{} // by N
			for _, of := range sizes12 {
				levels[of.n] = levelOn(d, claims, goodScaling, of.n)
			}
			out, err := learning(claims, all, name, title, "Fig. 12. Learning GOODSCALING by batch size N, M = 14", lines, byBatchSize(all, levels),
				"each agent is scored on batches of its own N tasks; FAR on the same ones, reconfiguring in parallel as the agents do",
				"steps are to come within a tenth of an agent's own lowest p_opt",
				"N = 7 against N = 14 is judged over three seeds, in the table of seeds").Build(d)
			if err != nil {
				return nil, err
			}
			t := &out.Tables[0].Table
			for _, of := range sizes12 {
				t.Rows = append(t.Rows, levelRow(*t, fmt.Sprintf("N = %d", of.n), far.name, levels[of.n].far))
			}
			return out, nil
		},
	}
}

// byBatchSize are the claims of Fig. 12; levels are by N.
func byBatchSize(all curves, levels map[int]level) []statement {
	longer := func(of []*course) float64 { return of[0].converges() / of[1].converges() }
	return []statement{
		{claim: "N = 21 less N = 14, end", agents: []string{tasksOf(21), ppo}, value: finals, reason: reasons(all.ended(tasksOf(21), ppo), ofFAR(levels, 21, n))},
		{claim: "N = 28 less N = 14, end", agents: []string{tasksOf(28), ppo}, value: finals, reason: reasons(all.ended(tasksOf(28), ppo), ofFAR(levels, 28, n))},
		{claim: "steps of N = 21 over N = 14", agents: []string{tasksOf(21), ppo}, value: longer, reason: all.steps(ppo)},
		{claim: "steps of N = 28 over N = 21", agents: []string{tasksOf(28), tasksOf(21)}, value: longer, reason: all.steps(tasksOf(28))},
	}
}

// ofFAR gives FAR's p_opt by N, because p_opt depends on N for every scheduler.
func ofFAR(levels map[int]level, sizes ...int) string {
	var each []string
	for _, n := range sizes {
		each = append(each, fmt.Sprintf("%.2f %% with N = %d", levels[n].far, n))
	}
	return "FAR on the same batches: " + strings.Join(each, ", ")
}
