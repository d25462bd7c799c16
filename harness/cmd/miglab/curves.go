package main

import (
	"cmp"
	"fmt"
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
	for i, t := range trainings {
		name := t.recipe.Name
		if i > 0 && trainings[i-1].recipe.Name == name {
			continue // another run of the same agent
		}
		all, err := curve.Load(os.DirFS(f.out), name+"-seed*/curve.csv")
		if err != nil {
			return err
		}
		runs, whose := all[name], "in "+f.out
		if len(runs) == 0 {
			runs, whose = slices.Clone(drl.Trained()[name]), "of the project"
		}
		runs = slices.DeleteFunc(runs, func(r curve.Run) bool {
			return c.Flags().Changed("seeds") && !slices.Contains(f.seeds, uint(r.Seed))
		})
		if len(runs) == 0 {
			return fmt.Errorf("there is no learning curve of such a run of %s %s; train it", name, whose)
		}
		base := filepath.Join(f.out, name)
		if err := reports.SaveFigure(base, curveChart(t.recipe, runs)); err != nil {
			return err
		}
		steps := runs[0].Steps[shortest(runs)-1]
		fmt.Fprintf(c.OutOrStdout(), "%s: %d runs %s, of at least %.0f steps; the curve over the last quarter: %s; "+
			"%s.svg, .png and .pdf\n", name, len(runs), whose, steps, curve.TrendOf(runs).Word(), base)
	}
	return nil
}

// shortest is the least number of points of a run.
func shortest(runs []curve.Run) int {
	return len(slices.MinFunc(runs, func(a, b curve.Run) int { return cmp.Compare(len(a.Steps), len(b.Steps)) }).Steps)
}

// curveChart has a line for each run, and their mean until the shortest one ends.
func curveChart(of *train.Recipe, runs []curve.Run) reports.Lines {
	chart := reports.Lines{
		Title: of.Name, X: reports.Axis{Label: "Training steps [million]"}, Y: reports.Axis{Label: of.Score, Log: true},
	}
	mean := reports.Series{
		Name: fmt.Sprintf("mean of %d runs", len(runs)), Markers: true, Y: make([]float64, shortest(runs)),
	}
	for _, r := range runs {
		s := reports.Series{Name: fmt.Sprintf("seed %d", r.Seed), Y: r.Scores}
		if len(runs) >= reports.MaxSeries {
			s.Name = fmt.Sprintf("a run, seeds %d to %d", runs[0].Seed, runs[len(runs)-1].Seed)
		}
		for i, steps := range r.Steps {
			s.X = append(s.X, steps/1e6)
			if i < len(mean.Y) {
				mean.Y[i] += r.Scores[i] / float64(len(runs))
			}
		}
		chart.Y.Log = chart.Y.Log && r.Least() > 0
		mean.X = s.X[:len(mean.Y)]
		chart.Series = append(chart.Series, s)
	}
	if len(runs) > 1 {
		chart.Series = append(chart.Series, mean)
	}
	return chart
}
