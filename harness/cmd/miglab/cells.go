package main

import (
	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/run"
)

// cellFlags are the flags of commands that compute cells. catalog has the GPU models that the command knows.
type cellFlags struct {
	catalog mig.Catalog
	results string
	workers int
}

// register adds the flags, given the usage of the folder of results and the noun for the work in it.
func (f *cellFlags) register(c *cobra.Command, folder, what string) {
	c.Flags().StringVar(&f.results, "results", "results", folder)
	cli.AddFlag(c, &f.workers, "workers", "0", cli.AtLeast(0), what+" computed at a time; 0 means one a processor")
}

// addShard adds the flag --shard.
func addShard(c *cobra.Command, to *run.Shard) {
	cli.AddFlag(c, to, "shard", "0/1", run.ParseShard, "the part of the work that this process takes, i/n")
}

// runCells opens the database in the folder of results and has work compute cells in it.
func (f *cellFlags) runCells(c *cobra.Command, unit string, work func(e *run.Engine) error) error {
	db, err := run.Open(f.results, &f.catalog)
	if err != nil {
		return err
	}
	defer db.Close()
	return rankingError(cli.RunUnits(c, unit, func(p *cli.Progress) error {
		return work(&run.Engine{Store: db, Workers: f.workers, Progress: p.Set, Share: p.SetShare})
	}))
}
