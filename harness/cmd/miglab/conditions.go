package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/mig"
	"miglab/harness/track"
)

// conditionFlags are the flags that name a track and the conditions of its results.
type conditionFlags struct {
	track, gpu, model string
	gpus              int
}

func (f *conditionFlags) register(c *cobra.Command) {
	names := track.Names()
	c.Flags().StringVar(&f.track, "track", names[0], strings.Join(names, ", "))
	usual := track.All()[0].GPU
	help := "GPU model"
	for _, t := range track.All() {
		if !t.Reference && t.GPU != usual {
			help += fmt.Sprintf("; for %s %s unless given", t.Name, t.GPU)
		}
	}
	c.Flags().StringVar(&f.gpu, "gpu", usual, help)
	c.Flags().IntVar(&f.gpus, "gpus", 1, "number of GPUs, in tracks whose datasets do not give it")
	c.Flags().StringVar(&f.model, "reconfiguration", "sequential", "sequential, parallel or free")
}

// conditions are what the flags name.
type conditions struct {
	track *track.Track
	gpu   *mig.GPU
	gpus  int
	model mig.Reconfiguration
}

// read checks the flags.
func (f *conditionFlags) read(c *cobra.Command) (out conditions, err error) {
	if out.track, err = track.Parse(f.track); err != nil {
		return out, err
	}
	if !out.track.Reconfigures {
		for _, flag := range []struct{ name, why string }{
			{"gpus", "the dataset gives the GPUs; where they can be chosen, gpus is one of its parameters"},
			{"reconfiguration", "instances come and go at once, or never"},
		} {
			if c.Flags().Changed(flag.name) {
				return out, fmt.Errorf("--%s has no meaning for the %s track: %s", flag.name, out.track.Name, flag.why)
			}
		}
	}
	gpu := f.gpu
	if !c.Flags().Changed("gpu") {
		gpu = out.track.GPU
	}
	if out.gpu, err = mig.Lookup(gpu); err != nil {
		return out, err
	}
	if out.model, err = mig.ParseReconfiguration(f.model); err != nil {
		return out, err
	}
	if out.gpus = f.gpus; out.gpus < 1 {
		return out, fmt.Errorf("--gpus %d: at least one GPU is needed", out.gpus)
	}
	return out, nil
}
