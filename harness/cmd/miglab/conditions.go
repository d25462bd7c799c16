package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/track"
)

// mostGPUs is the largest number of GPUs of a problem, each of which takes memory.
const mostGPUs = 100_000

// conditions are the flags that name a track and the conditions of its results.
type conditions struct {
	track *track.Track
	gpu   *mig.GPU
	gpus  int
	model mig.Reconfiguration
	// rankBy is a metric to rank by; "" is the usual one.
	rankBy string
}

// register adds the flags. folders are folders of results, whose GPU models --gpu may name.
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

// addRankBy adds the flag for another metric to rank by.
func (f *conditions) addRankBy(c *cobra.Command) {
	c.Flags().StringVar(&f.rankBy, "rank-by", "",
		"another metric of the track's boards, such as energy_j; a model needs watts for it: --gpu 'A100?idle=75.4'")
}

// checkRankBy refuses a metric that the track does not rank by, or that results on the GPU model lack.
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

// check refuses flags that have no meaning for the track, and sets the GPU that the track usually has.
func (f *conditions) check(c *cobra.Command) error {
	if !f.track.Reconfigures {
		for _, flag := range []struct{ name, why string }{
			{"gpus", "the dataset gives the GPUs; where they can be chosen, gpus is one of its parameters"},
			{"reconfiguration", "instances come and go at once, or never"},
		} {
			if c.Flags().Changed(flag.name) {
				return fmt.Errorf("--%s has no meaning for the %s track: %s", flag.name, f.track.Name, flag.why)
			}
		}
	}
	if !c.Flags().Changed("gpu") {
		f.gpu = mig.MustLookup(f.track.GPU)
	}
	return nil
}
