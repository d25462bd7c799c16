package drl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// agentOf is the name under which a version of the paper's agent was trained.
func agentOf(version, workload string) string {
	at := slices.IndexFunc(agents, func(a approach) bool { return a.name == version })
	return agents[at].algorithm + "-" + workload
}

type line struct{ name, agent string }

// mean returns the mean, the least and the greatest score over the runs, by point.
func (all curves) mean(agent string) (mean, low, high []float64) {
	runs := all.of(agent)
	for i := range runs[0].steps {
		var scores []float64
		for _, r := range runs {
			scores = append(scores, r.scores[i])
		}
		mean, low, high = append(mean, figures.Mean(scores)), append(low, slices.Min(scores)), append(high, slices.Max(scores))
	}
	return mean, low, high
}

// chart draws the mean over the runs of agents, each with a band from the lowest to the highest
// score.
func (all curves) chart(title string, lines []line) reports.Lines {
	chart := reports.Lines{
		Title: title,
		X:     reports.Axis{Label: "Training steps [million] (the paper: 200)"},
		Y:     reports.Axis{Label: "p_opt [%]", Log: true},
	}
	for _, l := range lines {
		runs := all.of(l.agent)
		s := reports.Series{Name: l.name}
		for _, steps := range runs[0].steps {
			s.X = append(s.X, steps/1e6)
		}
		s.Y, s.Low, s.High = all.mean(l.agent)
		if len(runs) == 1 {
			s.Low, s.High = nil, nil
		}
		for i := range runs {
			chart.Y.Log = chart.Y.Log && runs[i].least() > 0
		}
		chart.Series = append(chart.Series, s)
	}
	return chart
}

// A statement says how a claim is measured from learning curves of the same seed.
type statement struct {
	claim  string
	agents []string
	value  func(of []*course) float64
}

// final is the end of the first agent's training.
func final(of []*course) float64 { return of[0].final() }

// after returns by how much the first agent's score exceeds the second's at equal steps: after
// a share of the shorter of both trainings.
func after(share float64) func([]*course) float64 {
	return func(of []*course) float64 {
		steps := share * min(of[0].last(), of[1].last())
		return of[0].at(steps) - of[1].at(steps)
	}
}

// finals compares the ends of training, see [after].
var finals = after(1)

// moreSteps compares the steps to the best score that both reach.
func moreSteps(of []*course) float64 { return slower(of[0], of[1]) }

// values measures a statement in each training run that all its agents have, and only in the
// first one if one of the agents has learned for less than [enoughSteps].
func (s statement) values(all curves) (out []float64) {
	for _, of := range all.together(s.agents...) {
		out = append(out, s.value(of))
		if slices.ContainsFunc(of, func(c *course) bool { return c.last() < enoughSteps }) {
			break
		}
	}
	return out
}

// read measures statements as the default reading of an artefact. A number that the paper prints
// is of one training run; a sentence of the paper has no number that could have a sampling error.
func (all curves) read(d *figures.Data, artefact string, statements []statement) *figures.Output {
	runs := map[string]int{}
	for _, c := range d.Claims.Of(artefact) {
		if c.Kind == figures.Printed {
			runs[c.Name] = 1
		}
	}
	values := figures.Values{}
	for _, s := range statements {
		values[s.claim] = overTraining(d, s.values(all), runs[s.claim], s.agents...)
	}
	return figures.Read(figures.Reading{Basis: "learning curves of this project's training runs, compared seed by seed at equal steps", Values: values})
}

// learning shows agents in one chart. Their scores are in the table of all trainings.
func (all curves) learning(d *figures.Data, name, heading string, lines []line, statements []statement) *figures.Output {
	return all.read(d, name, statements).Figure(name, heading, all.chart(heading, lines))
}

// The runs of Figs. 10 to 12 differ from FLOAT's final setting in one thing.
var (
	ppo        = agentOf("FLOAT", goodScaling)
	ppo64      = ppo + "-64"
	dqn        = ppo + "-dqn"
	dqn64      = ppo + "-dqn-64"
	continuous = ppo + "-continuous"
)

func levelsOf(m int) string { return fmt.Sprintf("%s-M%d", ppo, m) }
func tasksOf(n int) string  { return fmt.Sprintf("%s-N%d", ppo, n) }

func (all curves) figure10(d *figures.Data) (*figures.Output, error) {
	return all.learning(d, "figure10",
		"Fig. 10. Learning GOODSCALING with PPO and DQN, N = M = 14",
		[]line{{"PPO 256x256", ppo}, {"PPO 64x64", ppo64}, {"DQN 256x256", dqn}, {"DQN 64x64", dqn64}},
		[]statement{
			{"PPO 64x64 less PPO 256x256, end", []string{ppo64, ppo}, finals},
			{"DQN 64x64 less DQN 256x256, end", []string{dqn64, dqn}, finals},
			{"DQN 64x64 less PPO 64x64, end", []string{dqn64, ppo64}, finals},
			{"DQN 256x256 less PPO 256x256, end", []string{dqn, ppo}, finals},
			{"DQN 256x256 less PPO 256x256, half-way", []string{dqn, ppo}, after(0.5)},
		}), nil
}

func (all curves) figure11(d *figures.Data) (*figures.Output, error) {
	return all.learning(d, "figure11",
		"Fig. 11. Learning GOODSCALING by time levels M, N = 14",
		[]line{{"continuous", continuous}, {"M = 7", levelsOf(7)}, {"M = 14", ppo}, {"M = 21", levelsOf(21)}, {"M = 28", levelsOf(28)}},
		[]statement{
			{"M = 14, end", []string{ppo}, final},
			{"M = 7 less M = 14, end", []string{levelsOf(7), ppo}, finals},
			{"M = 28 less M = 14, end", []string{levelsOf(28), ppo}, finals},
			{"continuous less M = 14, end", []string{continuous, ppo}, finals},
			{"continuous less M = 21, end", []string{continuous, levelsOf(21)}, finals},
			{"steps of continuous over M = 14", []string{continuous, ppo}, moreSteps},
			{"steps of M = 21 over M = 14", []string{levelsOf(21), ppo}, moreSteps},
		}), nil
}

// figure12 also shows FAR's p_opt on the batches of each size.
func (all curves) figure12(d *figures.Data) (*figures.Output, error) {
	var lines []line
	levels := d.Claims.Head("figure12")
	for _, size := range []int{7, n, 21, 28} {
		agent := tasksOf(size)
		if size == n {
			agent = ppo
		}
		lines = append(lines, line{fmt.Sprintf("N = %d", size), agent})
		levels.Rows = append(levels.Rows, append([]string{fmt.Sprint(size)}, fixed(levelOn(d, far, scoredOn(goodScaling, size)))...))
	}
	// The steps to come near an agent's own lowest p_opt.
	longer := func(of []*course) float64 { return of[0].converges() / of[1].converges() }
	statements := []statement{
		{"N = 7 less N = 14, end", []string{tasksOf(7), ppo}, finals},
		{"N = 21 less N = 14, end", []string{tasksOf(21), ppo}, finals},
		{"N = 28 less N = 14, end", []string{tasksOf(28), ppo}, finals},
		{"steps of N = 21 over N = 14", []string{tasksOf(21), ppo}, longer},
		{"steps of N = 28 over N = 21", []string{tasksOf(28), tasksOf(21)}, longer},
	}
	return all.learning(d, "figure12", "Fig. 12. Learning GOODSCALING by batch size N, M = 14", lines, statements).Table("figure12", levels), nil
}

// training lists every run of the project, and shows how our own agents learn.
func (all curves) training(d *figures.Data) (*figures.Output, error) {
	t := d.Claims.Head("training")
	var own []line
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Rows = append(t.Rows, all.trainingRow(name))
		if workload, ours := strings.CutPrefix(name, "agent-"); ours {
			own = append(own, line{workload, name})
		}
	}
	chart := all.chart("Learning of our own agents, by what they learn from", own)
	chart.X.Label = "Training steps [million]"
	return new(figures.Output).Table("training", t).Figure("training", chart.Title, chart), nil
}

func (all curves) trainingRow(agent string) []string {
	runs := all.of(agent)
	over := func(of func(*course) float64) string {
		var v []float64
		for i := range runs {
			v = append(v, of(&runs[i]))
		}
		return reports.Fixed(figures.Mean(v), 2)
	}
	shown := agent
	if strings.HasPrefix(agent, "rl-deadline-") {
		shown += ", late [%]"
	}
	return []string{
		shown, fmt.Sprint(len(runs)), over(func(c *course) float64 { return c.last() / 1e6 }),
		over(func(c *course) float64 { return c.scores[0] }), over(func(c *course) float64 { return c.at(0.5 * c.last()) }),
		over((*course).final), over((*course).least), over(func(c *course) float64 { return c.converges() / 1e6 }),
	}
}
