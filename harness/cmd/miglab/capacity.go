package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"miglab/bounds"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/task"
	"miglab/harness/track"
	"miglab/reports"
)

type capacityFlags struct {
	gpu               *mig.GPU
	algorithms, specs []string
	instances         int
	format            string
}

func newCapacity() *cobra.Command {
	var f capacityFlags
	c := &cobra.Command{
		Use:   "capacity",
		Short: "Find the least cluster on which placement algorithms accept every request",
		Long: `capacity places the requests of each instance on larger and larger clusters, beginning with the least number of GPUs
on which any algorithm could accept all (proven in package bounds). An algorithm needs N GPUs if it accepts every
request on N, N+1, N+2 and N+3 of them: more GPUs do not always help. The number of GPUs in a dataset's name does
not matter, except where the length of its streams depends on it.`,
		Example: `  miglab capacity --algorithms mfi,fgd --datasets 'openb?pods=shared' --instances 20`,
		RunE:    f.run,
	}
	addGPU(c, &f.gpu, track.Placement.GPU, "GPU model")
	c.Flags().StringSliceVar(&f.algorithms, "algorithms", nil, "placement algorithms, separated by commas")
	c.Flags().StringSliceVar(&f.specs, "datasets", nil, "datasets of requests, separated by commas")
	completeFlag(c, "algorithms", algo.Complete)
	completeFlag(c, "datasets", datasets.Complete)
	addFlag(c, &f.instances, "instances", "20", atLeast(2), "instances of each dataset")
	addFlag(c, &f.format, "format", "text", oneOf("format", reports.TableFormats), "text, csv, markdown, latex or json")
	require(c, "algorithms", "datasets")
	return c
}

func (f *capacityFlags) run(c *cobra.Command, _ []string) error {
	t := reports.Table{
		Title: fmt.Sprintf("Least number of %s GPUs on which all requests are accepted", f.gpu),
		Columns: reports.Left("dataset", "algorithm").
			Right("instances", "gpus", "ci_low", "ci_high", "least", "most", "bound"),
		Notes: []string{"gpus: mean over the instances, with its 95 % bootstrap interval, which is too narrow for " +
			"fewer than " +
			"10 instances; least and most: over the instances; bound: mean of what is proven to be needed by any algorithm"},
	}
	for _, text := range f.specs {
		d, err := datasets.Parse(text)
		if err != nil {
			return err
		}
		for _, id := range f.algorithms {
			a, err := algo.ParseFor(id, algo.TrackPlacement)
			if err != nil {
				return err
			}
			row, err := f.row(c.Context(), d, a)
			if err != nil {
				return fmt.Errorf("%s on %s: %w", a.ID, d.ID(), err)
			}
			t.Rows = append(t.Rows, append([]string{d.ID(), a.ID}, row...))
		}
		assumes := datasets.Assumed(text)
		if note := "assumed: " + assumes; assumes != "" && !slices.Contains(t.Notes, note) {
			t.Notes = append(t.Notes, note)
		}
	}
	return t.Encode(c.OutOrStdout(), f.format)
}

// row returns what stands behind the names of a dataset and an algorithm.
func (f *capacityFlags) row(ctx context.Context, d datasets.Spec, a algo.Algorithm) ([]string, error) {
	needed, proven := make([]float64, f.instances), make([]float64, f.instances)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range f.instances {
		g.Go(func() error {
			in, err := datasets.InstanceOf[task.Requests](d, f.gpu, i)
			if err != nil {
				return err
			}
			least, err := bounds.GPUsAtLeast(f.gpu, in.Requests)
			if err != nil {
				return err
			}
			n, err := track.LeastGPUs(ctx, a, f.gpu, in, max(least, 1))
			needed[i], proven[i] = float64(n), float64(least)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	s, err := stats.Summarize(needed)
	if err != nil {
		return nil, err
	}
	low, high, err := stats.Bootstrap(needed, 1) // Student's t goes below the least number of GPUs
	if err != nil {
		return nil, err
	}
	bound, err := stats.Summarize(proven)
	return []string{
		strconv.Itoa(s.N), reports.Fixed(s.Mean, 2), reports.Fixed(low, 2), reports.Fixed(high, 2),
		reports.Fixed(s.Min, 0), reports.Fixed(s.Max, 0), reports.Fixed(bound.Mean, 2),
	}, err
}
