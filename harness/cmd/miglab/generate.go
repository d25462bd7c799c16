package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"miglab/datasets"
	"miglab/harness/atomicfile"
	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/track"
)

func newGenerate() *cobra.Command {
	var dataset, out string
	var g *mig.GPU
	var count int
	c := &cobra.Command{
		Use:   "generate",
		Short: "Write instances of a dataset as CSV: tasks, requests, jobs or programs",
		RunE: func(c *cobra.Command, _ []string) error {
			spec, err := datasets.Parse(dataset)
			if err != nil {
				return err
			}
			if !c.Flags().Changed("gpu") {
				g = usualGPU(spec, g)
			}
			all := spec.Instances() // 0 if their number is not limited
			if all > 0 && count > all {
				if c.Flags().Changed("instances") {
					return fmt.Errorf("--instances %d: dataset %s has %d", count, spec.ID(), all)
				}
				count = all
			}
			if err := writeInstances(c, spec, g, count, out); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s of %s for %s in %s\n", cli.Count(count, "instances"), spec.ID(), g, out)
			return nil
		},
	}
	c.Flags().StringVar(&dataset, "dataset", "", "dataset (miglab list datasets)")
	addGPU(c, &g, new(mig.Catalog), "A100", "GPU model that the instances are for; for requests A100-80GB unless given")
	cli.AddFlag(c, &count, "instances", "1", cli.AtLeast(1), "number of instances")
	cli.AddFolder(c, &out, "out", ".", "folder to write to")
	cli.RequireFlags(c, "dataset")
	return c
}

// writeInstances writes the first instances of a dataset, a file each.
func writeInstances(c *cobra.Command, spec datasets.Spec, g *mig.GPU, count int, out string) error {
	name := strings.NewReplacer("/", "-", "?", "_", "&", "_", "=", "", "+", "-", ":", "-").Replace(spec.ID())
	for i := range count {
		if err := c.Context().Err(); err != nil {
			return err
		}
		in, err := spec.Instance(g, i)
		if err != nil {
			return err
		}
		path := filepath.Join(out, fmt.Sprintf("%s-%04d.csv", name, i))
		if err := atomicfile.WriteFile(path, func(w io.Writer) error { return in.WriteCSV(w, g) }); err != nil {
			return err
		}
	}
	return nil
}

// usualGPU returns the usual model of the track that takes the dataset's kind of instances, or otherwise if no track
// does. It reads an instance for each model, because a file of requests can be read only for the right one.
func usualGPU(spec datasets.Spec, otherwise *mig.GPU) *mig.GPU {
	for _, t := range track.All() {
		g := mig.MustLookup(t.GPU)
		if in, err := spec.Instance(g, 0); err == nil && in.Kind() == t.Data {
			return g
		}
	}
	return otherwise
}
