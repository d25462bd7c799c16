package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"miglab/algorithms/rl/nn"
	"miglab/algorithms/rl/train"
	"miglab/harness/atomicfile"
	"miglab/harness/cli"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/work"
)

type trainFlags struct {
	names   []string
	out     string
	all     bool
	steps   int64
	shard   run.Shard
	seeds   []uint
	workers int
}

func newTrain() *cobra.Command {
	var f trainFlags
	c := &cobra.Command{
		Use:   "train",
		Short: "Train agents; an interrupted run goes on where it was",
		RunE: func(c *cobra.Command, _ []string) error {
			trainings, err := f.trainings(c)
			if err != nil {
				return err
			}
			return f.train(c, trainings)
		},
	}
	c.Flags().StringSliceVar(&f.names, "agent", nil, "agents, separated by commas (miglab list agents)")
	c.Flags().BoolVar(&f.all, "all", false, "every agent that the project uses, with all its seeds")
	c.Flags().Int64Var(&f.steps, "steps", 0, "steps in all environments; 0 means what the project's own agents took")
	c.Flags().UintSliceVar(&f.seeds, "seeds", nil,
		"one run for each, separated by commas (default: what the project's own agents took)")
	cli.AddFlag(c, &f.workers, "workers", "0", cli.AtLeast(0),
		"goroutines; 0 means one a processor. It changes no result")
	addShard(c, &f.shard)
	cli.AddFolder(c, &f.out, "out", "results/train",
		"folder for checkpoints, learning curves, weights and results.db")
	return c
}

// A training is one agent with one seed.
type training struct {
	recipe  *train.Recipe
	options train.Options
}

// name returns the name of the training's folder; no two trainings of a command share it.
func (t *training) name() string { return t.recipe.Folder(t.options.Seed) }

// trainings lists the trainings that the flags ask for, without duplicates.
func (f *trainFlags) trainings(c *cobra.Command) ([]training, error) {
	var recipes []*train.Recipe
	switch {
	case f.all == (len(f.names) > 0):
		return nil, errors.New("give either --agent or --all; miglab list agents says what there is")
	case f.all:
		recipes = train.Recipes()
	}
	for _, name := range f.names {
		r, err := train.Find(name)
		if err != nil {
			return nil, err
		}
		recipes = append(recipes, r)
	}
	switch {
	case c.Flags().Changed("seeds") && len(f.seeds) == 0:
		return nil, errors.New("--seeds names none; give one run each, as in --seeds 1,2,3")
	case f.steps < 0:
		return nil, fmt.Errorf("--steps %d: at least 1, or 0 for what the agent usually takes", f.steps)
	}
	var out []training
	for _, r := range recipes {
		seeds := f.seeds
		if !c.Flags().Changed("seeds") {
			seeds = r.Seeds
		}
		for _, seed := range seeds {
			o := train.Options{
				Steps: f.steps, Seed: uint64(seed), Dir: f.out, Workers: cmp.Or(f.workers, runtime.GOMAXPROCS(0)),
				Kernel: nn.Fast(),
			}
			if !slices.ContainsFunc(out, func(t training) bool { return t.name() == r.Folder(o.Seed) }) {
				out = append(out, training{r, o})
			}
		}
	}
	return out, nil
}

// train does the trainings of the shard one after the other, except those that are done.
func (f *trainFlags) train(c *cobra.Command, trainings []training) (err error) {
	db, err := store.Open(f.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	file := filepath.Join(f.out, store.FileName(f.shard.Index, max(f.shard.Of, 1)))
	runner := work.Runner{Log: work.NewLog(db, file)}
	for i, t := range trainings {
		if !f.shard.Takes(i) {
			continue
		}
		r := t.recipe
		if err := atomicfile.Sweep(filepath.Dir(r.Checkpoint(t.options))); err != nil {
			return err
		}
		do := func(ctx context.Context) (*train.Result, error) { return t.do(ctx, c) }
		records, err := runner.Run(c.Context(), []work.Unit{r.Unit(t.options, do)})
		if err != nil {
			return err
		}
		var result train.Result
		if err := json.Unmarshal(records[0], &result); err != nil {
			return err
		}
		t.print(c, &result)
	}
	return nil
}

// do trains and shows the progress.
func (t *training) do(ctx context.Context, c *cobra.Command) (result *train.Result, err error) {
	err = cli.RunUnits(c, t.name(), func(p *cli.Progress) (err error) {
		o := t.options
		o.Progress = func(done, all int64) { p.Set(int(min(done, all)), int(all)) }
		result, err = train.Run(ctx, t.recipe, o)
		return err
	})
	return result, err
}

// print prints the steps, the score and the file of weights.
func (t *training) print(c *cobra.Command, result *train.Result) {
	asked := ""
	if t.options.Steps > 0 && t.options.Steps != result.Steps {
		asked = fmt.Sprintf(" (%d asked for; a run ends with an iteration)", t.options.Steps)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %d steps%s, %s %.2f; %s\n", t.name(), result.Steps, asked, t.recipe.Score,
		result.Score, t.recipe.WeightsFile(t.options))
}
