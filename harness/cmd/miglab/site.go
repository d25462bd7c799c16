package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/paper-figures/render"
	"miglab/reports/site"
	"miglab/reports/suite"
)

func newSite() *cobra.Command {
	var f cellFlags
	var out, try string
	var quick, own bool
	c := &cobra.Command{
		Use:   "site",
		Short: "Write leaderboards, claims and schedules as a static web site",
		RunE: func(c *cobra.Command, _ []string) error {
			if quick && !c.Flags().Changed("results") {
				f.results = filepath.Join(f.results, "quick")
			}
			if _, err := os.Stat(f.results); c.Flags().Changed("results") && errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("--results %s: there is no such folder; miglab reproduce --results %[1]s makes one",
					f.results)
			}
			if !c.Flags().Changed("out") {
				out = filepath.Join(f.results, "site")
			}
			var data site.Data
			err := f.runCells(c, "cells", func(e *run.Engine) (err error) {
				data, err = gatherSite(c, e, &f.catalog, quick, own)
				return err
			})
			if err != nil {
				return err
			}
			if err := render.AddToSite(&data, f.results); err != nil {
				return err
			}
			data.Flags = cli.Words([]string{"--results", f.results})
			if quick {
				data.Flags = "--quick " + data.Flags
			}
			if try == "" {
				fmt.Fprintln(c.ErrOrStderr(), "The site has no try.html; make site builds the program for it.")
			} else if data.Try, err = site.ReadProgram(try); err != nil {
				return err
			}
			if err := site.Write(out, data); err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), filepath.Join(out, "index.html"))
			return nil
		},
	}
	f.register(c, "folder with the results", "cells")
	cli.AddFolder(c, &out, "out", "", "folder to write (default: site in the results)")
	c.Flags().StringVar(&try, "try", "", "program of the page try.html, which make site builds (default: no such page)")
	c.Flags().BoolVar(&quick, "quick", false, "few instances, into results/quick/site")
	c.Flags().BoolVar(&own, "own", false,
		"only what the folder has; otherwise leaderboards of all tracks are computed into it")
	return c
}

// gatherSite returns the site's leaderboards and the tables of the suite. It computes missing results unless the site
// shows only what the folder has. Results of datasets that the papers lack are the user's own.
func gatherSite(c *cobra.Command, e *run.Engine, models *mig.Catalog, quick, own bool) (d site.Data, err error) {
	if own {
		d, err = site.GatherOwn(e.Store, models)
	} else {
		d, err = computeSite(c, e, models, quick)
	}
	if err == nil {
		d.Suite, err = suite.Tables(e.Store)
	}
	return d, err
}

// computeSite computes the missing results of the site's leaderboards.
func computeSite(c *cobra.Command, e *run.Engine, models *mig.Catalog, quick bool) (none site.Data, err error) {
	all, err := papers()
	if err != nil {
		return none, err
	}
	r := figures.Reproduction{Papers: all, Scale: figures.Scale{Quick: quick}}
	cells, err := r.Cells()
	if err != nil {
		return none, err
	}
	return site.Gather(c.Context(), e, models, quick, cells)
}
