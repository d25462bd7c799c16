package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"miglab/algorithms/rl/nn"
	"miglab/algorithms/rl/train"
)

func newTrain() *cobra.Command {
	var names []string
	var workload, track, out, install string
	var all bool
	var steps int64
	var seeds []uint
	var workers int
	c := &cobra.Command{
		Use:   "train",
		Short: "Train agents; an interrupted run goes on where it was",
		Long: "train lets agents learn, on the processor, and writes for each a learning curve and its weights. It can be\n" +
			"interrupted or killed at any time: the same command goes on at the last checkpoint and ends with the same\n" +
			"curve and weights. The weights in algorithms/rl/agents/weights are built into the program.\n\n" +
			"A program built with GOEXPERIMENT=simd learns several times faster.",
		Example: "  miglab train --agent agent --steps 200000\n" +
			"  miglab train --agent rl-direct,rl-entropy --workload MIXSCALINGEXTREME --seeds 1,2,3\n" +
			"  miglab train --agent rl-direct --workload WIDETIMES --steps 200000000\n" +
			"  miglab train --track corun\n" +
			"  miglab train --all",
		RunE: func(c *cobra.Command, _ []string) error {
			var recipes []*train.Recipe
			switch {
			case len(names) > 0 && (all || track != "") || all && track != "" || len(names) == 0 && !all && track == "":
				return fmt.Errorf("give one of --agent, --track and --all; miglab list agents says what there is")
			case all:
				recipes = train.Recipes()
			case track != "":
				t, err := parseTrack(track)
				if err != nil {
					return err
				}
				if recipes = train.OfTrack(t); len(recipes) == 0 {
					return fmt.Errorf("--track %s has no agents; miglab list agents says what there is", t)
				}
			}
			for _, n := range names {
				r, err := train.Find(n, workload)
				if err != nil {
					return err
				}
				recipes = append(recipes, r)
			}
			switch {
			case c.Flags().Changed("seeds") && len(seeds) == 0:
				return fmt.Errorf("--seeds names none; give one run each, as in --seeds 1,2,3")
			case steps < 0:
				return fmt.Errorf("--steps %d: at least 1, or 0 for what the agent usually takes", steps)
			case workers < 0:
				return fmt.Errorf("--workers %d: at least 0", workers)
			case workers == 0:
				workers = runtime.GOMAXPROCS(0)
			}
			for _, r := range recipes {
				own := seeds
				if !c.Flags().Changed("seeds") {
					own = r.Seeds
				}
				for _, seed := range own {
					if err := trainOne(c, r, install, train.Options{Steps: steps, Seed: uint64(seed), Dir: out, Workers: workers, Kernel: nn.Fast()}); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
	c.Flags().StringSliceVar(&names, "agent", nil, "agents, separated by commas (miglab list agents)")
	c.Flags().StringVar(&workload, "workload", "", "what to learn from, where the agent's name does not say")
	c.Flags().StringVar(&track, "track", "", "every agent of a track")
	c.Flags().BoolVar(&all, "all", false, "every agent that the project uses, with all its seeds")
	c.Flags().Int64Var(&steps, "steps", 0, "steps in all environments; 0 means what the project's own agents took")
	c.Flags().UintSliceVar(&seeds, "seeds", nil, "one run for each, separated by commas (default: what the project's own agents took)")
	c.Flags().IntVar(&workers, "workers", 0, "goroutines; 0 means one a processor. It changes no result")
	c.Flags().StringVar(&out, "out", "results/train", "folder for checkpoints, learning curves and weights")
	c.Flags().StringVar(&install, "install", "", "root of the project's source: put weights and curves where the program is built from")
	return c
}

func trainOne(c *cobra.Command, r *train.Recipe, install string, o train.Options) error {
	if install != "" {
		if err := r.Kept(o); err != nil {
			return err
		}
	}
	p := newProgress(c.ErrOrStderr(), r.Folder(o.Seed))
	defer p.done()
	o.Progress = func(done, all int64) { p.set(int(done), int(all)) }
	result, err := train.Run(c.Context(), r, o)
	if err != nil {
		return err
	}
	p.done()
	if install != "" {
		if err := result.Install(install, r, o.Seed); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %d steps, %s %.2f; %s\n", r.Folder(o.Seed), result.Last.Steps, r.Score, result.Last.Score, result.Weights)
	return nil
}
