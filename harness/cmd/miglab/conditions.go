package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/track"
	"miglab/reports/leaderboard"
)

// mostGPUs is the largest number of GPUs of a problem. Each of them takes memory.
const mostGPUs = 100_000

// conditions are the flags that name a track and the conditions of its results.
type conditions struct {
	track  *track.Track
	gpu    *mig.GPU
	gpus   int
	model  mig.Reconfiguration
	rankBy string // the metric to rank by; "" means the usual metric of the track
}

// register adds the flags. --gpu may also name a GPU model that only the results in one of the folders have.
func (f *conditions) register(c *cobra.Command, models *mig.Catalog, folders ...*string) {
	names := track.Names()
	cli.AddFlag(c, &f.track, "track", names[0], track.Parse, strings.Join(names, ", "))
	usual := track.All()[0].GPU
	help := "GPU model"
	for _, t := range track.All() {
		if !t.Reference && t.GPU != usual {
			help += fmt.Sprintf("; for %s %s unless given", t.Name, t.GPU)
		}
	}
	addGPU(c, &f.gpu, models, usual, help, folders...)
	cli.AddFlag(c, &f.gpus, "gpus", "1", cli.WholeNumber(1, mostGPUs),
		"number of GPUs, in tracks whose datasets do not give it")
	cli.AddFlag(c, &f.model, "reconfiguration", "sequential", mig.ParseReconfiguration, "sequential, parallel or free")
}

// addRankBy adds the flag for rankBy.
func (f *conditions) addRankBy(c *cobra.Command) {
	c.Flags().StringVar(&f.rankBy, "rank-by", "",
		"another metric of the track's boards, such as energy_j; a model needs watts for it: --gpu 'A100?idle=75.4'")
}

// checkRankBy returns an error if the track does not rank by the metric, or if results on the GPU model lack it.
func (f *conditions) checkRankBy() error {
	if f.rankBy == "" {
		return nil
	}
	_, err := f.track.ParseMetric(f.rankBy, f.gpu)
	if err != nil {
		return fmt.Errorf("--rank-by %s: %w", f.rankBy, err)
	}
	return nil
}

// check returns an error for flags that have no meaning for the track. Without --gpu it sets the track's usual GPU.
func (f *conditions) check(c *cobra.Command) error {
	if !f.track.Reconfigures {
		const meaningless = "--%s has no meaning for the %s track: %s"
		if c.Flags().Changed("gpus") {
			return fmt.Errorf(meaningless, "gpus", f.track.Name,
				"the dataset gives the GPUs; where they can be chosen, gpus is one of its parameters")
		}
		if c.Flags().Changed("reconfiguration") {
			return fmt.Errorf(meaningless, "reconfiguration", f.track.Name, "instances come and go at once, or never")
		}
	}
	if !c.Flags().Changed("gpu") {
		f.gpu = mig.MustLookup(f.track.GPU)
	}
	return nil
}

// where describes the GPUs of the results.
func (f *conditions) where() string {
	if !f.track.Reconfigures {
		return f.gpu.Name
	}
	return fmt.Sprintf("%d x %s, %s reconfiguration", f.gpus, f.gpu, f.model)
}

// leaderboard returns the conditions of boards.
func (f *conditions) leaderboard() leaderboard.Conditions {
	return leaderboard.Conditions{Track: f.track, GPU: f.gpu, Count: f.gpus, Model: f.model, RankBy: f.rankBy}
}
