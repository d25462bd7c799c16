package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/reports"
)

// comparedWith are the bounds that run computes beside the algorithms of a track, so
// that a leaderboard can state gaps.
var comparedWith = map[algo.Track][]string{
	algo.TrackBatch:  {"area", "l-bound", "certified"},
	algo.TrackStream: {"area", "l-bound", "certified"},
}

// alongside are algorithms of a track that run computes besides those asked for, where
// the leaderboard ranks by the gap to them.
var alongside = map[algo.Track][]string{algo.TrackCorun: {"exact"}}

// runFlags are the flags of run.
type runFlags struct {
	track, gpu, model, shard, results string
	algorithms, specs                 []string
	instances, gpus, workers          int
	ranked                            bool
}

func newRun() *cobra.Command { return new(runFlags).command() }

func (f *runFlags) command() *cobra.Command {
	c := &cobra.Command{
		Use:   "run",
		Short: "Run algorithms on datasets; results are kept and never computed twice",
		Long: "run computes one cell for each algorithm and instance, in parallel, and appends it to the result store.\n" +
			"It can be interrupted or killed; the same command goes on where it was. Processes with --shard i/n share\n" +
			"the work and the store.",
		Example: "  miglab run --track batch --algorithms far,miso --datasets POORSCALING,WIDETIMES\n" +
			"  miglab run --algorithms 'far,far?refine=false' --datasets profile:tasks.csv --gpu A30\n" +
			"  miglab run --algorithms far --datasets WIDETIMES --instances 100000 --shard 0/2\n" +
			"  miglab run --track placement --algorithms mfi,ff --datasets 'mfi/uniform?load=85'\n" +
			"  miglab run --track dispatch --algorithms eft,largest-first --datasets deadline/relaxed --instances 10\n" +
			"  miglab run --algorithms far,'exec:./my-scheduler --fast' --datasets WIDETIMES --instances 20 --leaderboard\n" +
			"  miglab run --track corun --algorithms local,greedy,d3qn --datasets corun/queues --instances 12",
		RunE: f.run,
	}
	c.Flags().StringVar(&f.track, "track", "batch", "batch, stream, placement, dispatch or corun")
	c.Flags().StringSliceVar(&f.algorithms, "algorithms", nil, "algorithms, separated by commas (miglab list algorithms), or exec: and a program")
	c.Flags().StringSliceVar(&f.specs, "datasets", nil, "datasets, separated by commas (miglab list datasets)")
	completeFlag(c, "algorithms", algo.Complete)
	completeFlag(c, "datasets", datasets.Complete)
	c.Flags().IntVar(&f.instances, "instances", 1000, "instances of each dataset")
	c.Flags().StringVar(&f.gpu, "gpu", "A100", "GPU model; for placement A100-80GB unless given")
	c.Flags().IntVar(&f.gpus, "gpus", 1, "number of GPUs; placement datasets have their own")
	c.Flags().StringVar(&f.model, "reconfiguration", "sequential", "sequential, parallel or free")
	c.Flags().IntVar(&f.workers, "workers", 0, "cells computed at a time; 0 means one a processor")
	c.Flags().StringVar(&f.shard, "shard", "0/1", "the part of the work that this process takes, i/n")
	c.Flags().StringVar(&f.results, "results", "results", "folder for results")
	c.Flags().BoolVar(&f.ranked, "leaderboard", false, "then print the leaderboards of the datasets")
	for _, name := range []string{"algorithms", "datasets"} {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return c
}

// cells lists what the flags ask for, and under which conditions; it computes nothing.
func (f *runFlags) cells(c *cobra.Command) (base run.Series, cells []run.Cell, err error) {
	if base.Track, err = parseTrack(f.track); err != nil {
		return base, nil, err
	}
	base.Count = f.gpus
	if t := base.Track; t == algo.TrackPlacement || t == algo.TrackDispatch || t == algo.TrackCorun {
		for flag, instead := range map[string]string{
			"gpus":            "the size of a cluster or fleet is a parameter of the dataset, as in mfi/uniform?gpus=7",
			"reconfiguration": "instances come and go at once, or never",
		} {
			if c.Flags().Changed(flag) {
				return base, nil, fmt.Errorf("--%s has no meaning for the %s track: %s", flag, t, instead)
			}
		}
	}
	if base.Model, err = mig.ParseReconfiguration(f.model); err != nil {
		return base, nil, err
	}
	gpu := f.gpu
	if !c.Flags().Changed("gpu") {
		gpu = usualGPU(base.Track)
	}
	g, err := mig.Lookup(gpu)
	if err != nil {
		return base, nil, err
	}
	base.GPU = g.Name
	switch {
	case len(f.algorithms) == 0 || len(f.specs) == 0:
		err = fmt.Errorf("--algorithms and --datasets name at least one each")
	case f.instances < 1:
		err = fmt.Errorf("--instances %d: at least one instance is needed", f.instances)
	case f.gpus < 1:
		err = fmt.Errorf("--gpus %d: at least one GPU is needed", f.gpus)
	case f.workers < 0:
		err = fmt.Errorf("--workers %d: at least 0", f.workers)
	default:
		cells, err = competition(base, f.algorithms, f.specs, f.instances)
	}
	return base, cells, err
}

func (f *runFlags) run(c *cobra.Command, _ []string) error {
	part, err := run.ParseShard(f.shard)
	if err != nil {
		return err
	}
	base, cells, err := f.cells(c)
	if err != nil {
		return err
	}
	st, err := store.Open(filepath.Join(f.results, "store"))
	if err != nil {
		return err
	}
	progress := newProgress(c.ErrOrStderr(), "cells")
	defer progress.done()
	e := run.Engine{Store: st, Workers: f.workers, Shard: part, Progress: progress.set}
	r, err := e.Run(c.Context(), cells)
	if err != nil {
		return err
	}
	progress.done()
	table := filepath.Join(f.results, "results.csv")
	// Other shards may have gone on meanwhile: the table is of all there is.
	if err := store.ExportFolder(st.Dir(), table); err != nil {
		return err
	}
	failed := map[string]int{}
	for _, cell := range cells {
		if row, ok := r.Get(cell); ok && row.Kind != "" {
			failed[row.Kind]++
		}
	}
	fmt.Fprintf(c.OutOrStdout(), "%d cells; all results in %s\n", len(cells), table)
	for _, kind := range sortedKeys(failed) {
		fmt.Fprintf(c.OutOrStdout(), "%d of them ended as %q; see the column error\n", failed[kind], kind)
	}
	if !f.ranked {
		return nil
	}
	all, err := collect(st)
	if err != nil {
		return err
	}
	standings, err := all.standings(base.Track, base.GPU, f.gpus, base.Model)
	if err != nil {
		return rankingError(err)
	}
	ran := map[string]bool{}
	for _, cell := range cells {
		ran[cell.Dataset] = true
	}
	standings = slices.DeleteFunc(standings, func(s reports.Standing) bool { return !ran[s.Dataset] })
	return reports.LeaderboardText(c.OutOrStdout(), standings)
}

// competition lists the cells of algorithms on so many instances of each dataset, or all
// that it has, and of what a leaderboard compares them with.
func competition(base run.Series, algorithms, specs []string, instances int) ([]run.Cell, error) {
	var cells []run.Cell
	for _, d := range specs {
		spec, err := datasets.Parse(d)
		if err != nil {
			return nil, err
		}
		n := instances
		if have := spec.Instances(); have > 0 {
			n = min(n, have)
		}
		add := func(track algo.Track, id string) error {
			s := base
			s.Track, s.Dataset, s.Algorithm = track, d, id
			own, err := s.Cells(n)
			cells = append(cells, own...)
			return err
		}
		for _, id := range algorithms {
			if _, err := parseAlgorithm(id, base.Track); err != nil {
				return nil, err
			}
			if err := add(base.Track, id); err != nil {
				return nil, err
			}
		}
		for _, id := range alongside[base.Track] {
			if slices.Contains(algorithms, id) {
				continue
			}
			if err := add(base.Track, id); err != nil {
				return nil, err
			}
		}
		for _, id := range comparedWith[base.Track] {
			if err := add(algo.TrackBound, id); err != nil {
				return nil, err
			}
		}
	}
	return cells, nil
}

// usualGPU is the model that a track's paper is about.
func usualGPU(t algo.Track) string {
	if t == algo.TrackPlacement {
		return "A100-80GB"
	}
	return "A100"
}

// parseTrack reads the name of a track that competes.
func parseTrack(name string) (algo.Track, error) {
	known := []string{string(algo.TrackBatch), string(algo.TrackStream), string(algo.TrackPlacement), string(algo.TrackDispatch), string(algo.TrackCorun)}
	for _, k := range known {
		if strings.EqualFold(k, name) {
			return algo.Track(k), nil
		}
	}
	return "", nearest.Unknown("track", name, known)
}
