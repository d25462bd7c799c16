package drl

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
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
type course struct {
	seed int
	// steps of training, ascending.
	steps []float64
	// scores are means over a fixed set of batches: p_opt in percent, or late jobs in
	// percent for an agent of the deadline report.
	scores []float64
	// rate is the learning rate at the end.
	rate float64
}

// curves has the runs by the name of the agent, with ascending seeds.
type curves map[string][]course

// learned returns the curves of the project's own runs. Damaged ones are a programmer's error,
// because they are part of the program.
var learned = sync.OnceValue(func() curves {
	all, err := loadCurves(curveFiles)
	if err != nil {
		panic(err)
	}
	return all
})

var curveName = regexp.MustCompile(`^(.+)-seed([1-9][0-9]{0,8})\.csv$`)

func loadCurves(files fs.FS) (curves, error) {
	names, err := fs.Glob(files, "curves/*.csv")
	if err != nil {
		return nil, err
	}
	all := curves{}
	for _, file := range names {
		parts := curveName.FindStringSubmatch(path.Base(file))
		if parts == nil {
			return nil, fmt.Errorf("%s: the name is not AGENT-seedK.csv", file)
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		points, err := curve.Read(bytes.NewReader(text), file)
		if err != nil {
			return nil, err
		}
		run := courseOf(points)
		run.seed, _ = strconv.Atoi(parts[2]) // nine digits at most
		runs := append(all[parts[1]], run)
		if !slices.Equal(run.steps, runs[0].steps) {
			return nil, fmt.Errorf("%s: its steps differ from those of seed %d; train all seeds alike", file, runs[0].seed)
		}
		all[parts[1]] = runs
	}
	for _, runs := range all {
		slices.SortFunc(runs, func(a, b course) int { return cmp.Compare(a.seed, b.seed) })
	}
	return all, nil
}

func courseOf(points []curve.Point) (c course) {
	for _, p := range points {
		c.steps, c.scores, c.rate = append(c.steps, float64(p.Steps)), append(c.scores, p.Score), p.LearningRate
	}
	return c
}

func (c *course) last() float64 { return c.steps[len(c.steps)-1] }

// at returns the score after a number of steps: that of the last point so far, or of the first
// point if there is none yet.
func (c *course) at(steps float64) float64 {
	i := 0
	for i+1 < len(c.steps) && c.steps[i+1] <= steps {
		i++
	}
	return c.scores[i]
}

func (c *course) final() float64 { return c.scores[len(c.scores)-1] }

func (c *course) least() float64 { return slices.Min(c.scores) }

// A trend is how much the scores of some runs change in a million steps over the last quarter of
// their training: the slope that all runs share, each with its own height, by least squares, and
// half of its 95 % confidence interval from the scatter of the points around it.
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
		first := slices.IndexFunc(c.steps, func(steps float64) bool { return steps >= 0.75*c.last() })
		x, y = append(x, figures.Map(c.steps[first:], func(steps float64) float64 { return steps / 1e6 })), append(y, c.scores[first:])
	}
	slope, half := stats.SharedSlope(x, y)
	return trend{slope, half, all.of(agent)[0].rate < faded}
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
	return fmt.Sprintf("The curve of %s %s over the last quarter%s: %.2f ± %.2f points a million steps.", agent, t.word(), rate, t.slope, t.half)
}

// near is the share by which a score may exceed another and still count as reaching it,
// because curves fluctuate.
const near = 0.1

// reaches returns the number of steps until the curve comes [near] one of its scores.
func (c *course) reaches(score float64) float64 {
	i := slices.IndexFunc(c.scores, func(v float64) bool { return v <= score+near*math.Abs(score) })
	if i < 0 {
		panic(fmt.Sprintf("drl: a curve whose best is %v never comes near %v", c.least(), score))
	}
	return c.steps[i]
}

// converges returns the number of steps until the curve comes [near] its best score.
func (c *course) converges() float64 { return c.reaches(c.least()) }

// slower compares the steps to the best score that both reach: those of a over those of b.
func slower(a, b *course) float64 {
	both := max(a.least(), b.least())
	return a.reaches(both) / b.reaches(both)
}

// of returns the runs of an agent. It panics if there is none, because the curves are part of
// the program.
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
	return figures.Count(all.of(agent), func(c course) bool { return c.last() >= enoughSteps })
}

// together returns the curves of agents by seed, for the seeds that all agents have.
func (all curves) together(agents ...string) [][]*course {
	var out [][]*course
	for _, first := range all.of(agents[0]) {
		var own []*course
		for _, a := range agents {
			if i := slices.IndexFunc(all.of(a), func(c course) bool { return c.seed == first.seed }); i >= 0 {
				own = append(own, &all.of(a)[i])
			}
		}
		if len(own) == len(agents) {
			out = append(out, own)
		}
	}
	return out
}
