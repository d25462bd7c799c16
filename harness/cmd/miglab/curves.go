package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"miglab/algorithms/rl/train"
	"miglab/harness/curve"
	"miglab/paper-figures/drl"
	"miglab/reports"
)

// draw draws the learning curves of each agent, all runs in a chart, and says what they do.
func (f *trainFlags) draw(c *cobra.Command, trainings []training) error {
	if sweepOf(c) != nil {
		return errors.New("--plot trains nothing that could be spread; leave submit out")
	}
	for i, t := range trainings {
		if i > 0 && trainings[i-1].recipe.Name == t.recipe.Name {
			continue // another run of the same agent
		}
		runs, finished, err := f.runs(c, t.recipe)
		if err != nil {
			return err
		}
		base := filepath.Join(f.out, t.recipe.Name)
		if err := reports.SaveFigure(base, curveChart(t.recipe, runs)); err != nil {
			return err
		}
		says := ""
		if len(finished) > 0 {
			says = ", and their curve over the last quarter: " + curve.TrendOf(finished).Word()
		}
		fmt.Fprintf(c.OutOrStdout(), "%s: %d of %d runs finished%s; %s.svg and .png\n", t.recipe.Name, len(finished),
			len(runs), says, base)
	}
	return nil
}

// runs returns the runs of an agent in --out, and those that are finished. Without one they are the project's.
func (f *trainFlags) runs(c *cobra.Command, r *train.Recipe) (runs, finished []curve.Run, err error) {
	if runs, err = curve.Under(f.out, r.Name); err != nil {
		return nil, nil, err
	}
	own := len(runs) == 0
	if own {
		runs = slices.Clone(drl.Trained()[r.Name])
	}
	if c.Flags().Changed("seeds") {
		runs = slices.DeleteFunc(runs, func(run curve.Run) bool { return !slices.Contains(f.seeds, uint(run.Seed)) })
	}
	if len(runs) == 0 {
		return nil, nil, fmt.Errorf("neither %s nor the project has a learning curve of such a run of %s; train it",
			f.out, r.Name)
	}
	for _, run := range runs {
		_, err := os.Stat(r.WeightsFile(train.Options{Dir: f.out, Seed: uint64(run.Seed)}))
		if own || err == nil {
			finished = append(finished, run)
		}
	}
	return runs, finished, nil
}

// scoreAxes are the vertical axes, by the scores of recipes.
var scoreAxes = map[string]reports.Axis{
	"p_opt_percent":       {Label: "p_opt [%]", Log: true},
	"late_percent":        {Label: "Late jobs [%]"},
	"relative_throughput": {Label: "Relative throughput"},
}

// curveChart has a line for each run, and their mean until the first one ends.
func curveChart(of *train.Recipe, runs []curve.Run) reports.Lines {
	chart := reports.Lines{
		Title: of.Name, X: reports.Axis{Label: "Training steps [million]"}, Y: scoreAxes[of.Score],
	}
	mean := reports.Series{Name: fmt.Sprintf("mean of %d runs", len(runs)), Markers: true}
	for i := range runs[0].Steps {
		sum := 0.0
		for _, r := range runs {
			if i >= len(r.Steps) || r.Steps[i] != runs[0].Steps[i] {
				sum = math.NaN()
			} else {
				sum += r.Scores[i]
			}
		}
		if math.IsNaN(sum) {
			break
		}
		mean.X, mean.Y = append(mean.X, runs[0].Steps[i]/1e6), append(mean.Y, sum/float64(len(runs)))
	}
	for _, r := range runs {
		s := reports.Series{Name: fmt.Sprintf("seed %d", r.Seed), Y: r.Scores}
		if len(runs) >= reports.MaxSeries {
			s.Name = fmt.Sprintf("a run, seeds %d to %d", runs[0].Seed, runs[len(runs)-1].Seed)
		}
		for _, steps := range r.Steps {
			s.X = append(s.X, steps/1e6)
		}
		chart.Y.Log = chart.Y.Log && r.Least() > 0
		chart.Series = append(chart.Series, s)
	}
	if len(runs) > 1 && len(mean.X) > 0 {
		chart.Series = append(chart.Series, mean)
	}
	return chart
}
