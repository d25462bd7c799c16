package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/run"
	"miglab/reports"
)

// cellFlags are the flags of commands that compute cells. catalog has the GPU models that the command knows.
type cellFlags struct {
	catalog mig.Catalog
	results string
	workers int
}

// register adds the flags. folder is the usage of --results, and noun names the work in it.
func (f *cellFlags) register(c *cobra.Command, folder, noun string) {
	cli.AddFolder(c, &f.results, "results", "results", folder)
	cli.AddFlag(c, &f.workers, "workers", "0", cli.AtLeast(0), noun+" computed at a time; 0 means one a processor")
}

// runCells opens the database in the folder of results and has work compute cells in it. noun names the units of work.
func (f *cellFlags) runCells(c *cobra.Command, noun string, work func(e *run.Engine) error) error {
	db, err := run.Open(f.results, &f.catalog)
	if err != nil {
		return err
	}
	defer db.Close()
	return rankingError(cli.RunUnits(c, noun, func(p *cli.Progress) error {
		return work(&run.Engine{Store: db, Workers: f.workers, Progress: p.Set, Share: p.SetShare})
	}))
}

// addShard adds the flag --shard.
func addShard(c *cobra.Command, to *run.Shard) {
	cli.AddFlag(c, to, "shard", "0/1", run.ParseShard, "the part of the work that this process takes, i/n")
}

// addGPU adds the flag for a GPU model. The model joins the catalog. The flag may change the costs of a model, and may
// name a model that only the results in one of the folders have; a folder "" is skipped.
func addGPU(c *cobra.Command, to **mig.GPU, models *mig.Catalog, byDefault, usage string, folders ...*string) {
	name := c.Flags().String("gpu", byDefault, usage+"; 'NAME?create=0.05&destroy=10x' has other costs: seconds for "+
		"every profile, or a multiple of the model's; 'A100?idle=75.4' gives results an energy (watts)")
	cli.CheckArgs(c, func() (err error) {
		if *name == "" && !c.Flags().Changed("gpu") {
			return nil
		}
		*to, err = models.LookupOrRead(*name)
		for _, folder := range folders {
			_, unknown := errors.AsType[*nearest.UnknownError](err)
			if !unknown || *folder == "" {
				continue
			}
			db, failed := run.Open(*folder, models)
			if failed != nil {
				return failed
			}
			defer db.Close()
			*to, err = models.LookupOrRead(*name)
		}
		if err != nil {
			err = fmt.Errorf("--gpu %s: %w", *name, err)
		}
		return err
	})
}

// A figureFile is a file for a figure.
type figureFile struct{ cli.File }

// registerTimeline adds the flag for a chart of a subject, such as the schedule, over time.
func (f *figureFile) registerTimeline(c *cobra.Command, subject string) {
	f.Register(c, "timeline", "file to draw "+subject+" over time in: slices in use, what waits, and late jobs, "+
		".svg or .pdf", reports.FigureFormats...)
}

// draw writes a figure.
func (f *figureFile) draw(c *cobra.Command, figure reports.Figure) error {
	return f.Emit(c, func(w io.Writer) error { return reports.Encode(w, f.Format, figure) })
}
