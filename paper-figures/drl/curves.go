package drl

import (
	"embed"
	"fmt"
	"slices"
	"sync"

	"miglab/harness/curve"
	"miglab/harness/stats"
	figures "miglab/paper-figures"
)

// The learning curves of training, a file for each agent and seed.
//
//go:embed curves/*.csv
var curveFiles embed.FS

// A course is the scores of an agent during one run of its training.
type course = curve.Run

// curves has the runs by the name of the agent, with ascending seeds.
type curves map[string][]course

// learned returns the curves of the project's own runs. Damaged ones are a programmer's error,
// because they are part of the program.
var learned = sync.OnceValue(func() curves {
	all, err := curve.Load(curveFiles, "curves")
	if err != nil {
		panic(err)
	}
	return all
})

// A trend is by how much scores change in a million steps over the last quarter of the training: the slope that
// all runs share, each with its own height, by least squares, and half of its 95 % confidence interval.
type trend struct {
	slope, half float64
	// fades is set if the learning rate falls to 0, which flattens any curve.
	fades bool
}

// faded is a learning rate that counts as 0; trainings begin with more than a hundred times as much.
const faded = 2e-6

func (all curves) trend(agent string) trend {
	var x, y [][]float64
	for _, c := range all.of(agent) {
		first := slices.IndexFunc(c.Steps, func(steps float64) bool { return steps >= 0.75*c.Last() })
		x = append(x, figures.Map(c.Steps[first:], func(steps float64) float64 { return steps / 1e6 }))
		y = append(y, c.Scores[first:])
	}
	slope, half := stats.SharedSlope(x, y)
	return trend{slope, half, all.of(agent)[0].Rate < faded}
}

func (t trend) falls() bool { return t.slope+t.half < 0 }

func (t trend) word() string {
	if t.falls() {
		return "falls"
	}
	return "shows no fall"
}

func (t trend) says(agent string) string {
	rate := ""
	if t.fades {
		rate = ", while its learning rate falls to 0"
	}
	return fmt.Sprintf("The curve of %s %s over the last quarter%s: %.2f ± %.2f points a million steps.", agent, t.word(),
		rate, t.slope, t.half)
}

// slower compares the steps to the best score that both reach: those of a over those of b.
func slower(a, b *course) float64 {
	both := max(a.Least(), b.Least())
	return a.Reaches(both) / b.Reaches(both)
}

// of returns the runs of an agent. It panics if there is none, because the curves are part of the program.
func (all curves) of(agent string) []course {
	if len(all[agent]) == 0 {
		panic("drl: no learning curve of " + agent)
	}
	return all[agent]
}

// enoughSteps is the least training behind a verdict.
const enoughSteps = 2e6

// enough is the number of an agent's runs that took as long.
func (all curves) enough(agent string) int {
	return figures.Count(all.of(agent), func(c course) bool { return c.Last() >= enoughSteps })
}

// together returns the curves of agents by seed, for the seeds that all agents have.
func (all curves) together(agents ...string) [][]*course {
	var out [][]*course
	for _, first := range all.of(agents[0]) {
		var own []*course
		for _, a := range agents {
			if i := slices.IndexFunc(all.of(a), func(c course) bool { return c.Seed == first.Seed }); i >= 0 {
				own = append(own, &all.of(a)[i])
			}
		}
		if len(own) == len(agents) {
			out = append(out, own)
		}
	}
	return out
}
