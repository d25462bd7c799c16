package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/reports/site"
)

func newSite() *cobra.Command {
	var f cellFlags
	var out string
	var quick bool
	c := &cobra.Command{
		Use:   "site",
		Short: "Write leaderboards, claims and schedules as a static web site",
		RunE: func(c *cobra.Command, _ []string) error {
			if quick && !c.Flags().Changed("results") {
				f.results = filepath.Join(f.results, "quick")
			}
			if _, err := os.Stat(f.results); errors.Is(err, fs.ErrNotExist) {
				if c.Flags().Changed("results") {
					return fmt.Errorf("--results %s: there is no such folder; miglab reproduce --results %[1]s makes one", f.results)
				}
				fmt.Fprintf(c.ErrOrStderr(), "%s is not there yet: the leaderboards take about two minutes of processor time "+
					"first; miglab reproduce adds claims and figures\n", f.results)
			}
			if !c.Flags().Changed("out") {
				out = filepath.Join(f.results, "site")
			}
			var data site.Data
			if err := f.runCells(c, "cells", func(e *run.Engine) (err error) {
				data, err = site.Gather(c.Context(), e, commit(), quick)
				return err
			}); err != nil {
				return err
			}
			if err := addWritten(&data, f.results); err != nil {
				return err
			}
			if err := site.Write(out, data); err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), filepath.Join(out, "index.html"))
			return nil
		},
	}
	f.register(c)
	c.Flags().StringVar(&out, "out", "", "folder to write (default: site in the results)")
	c.Flags().BoolVar(&quick, "quick", false, "few instances, into results/quick/site")
	return c
}

// addWritten adds the claims and figures that miglab reproduce has written, if it has.
func addWritten(d *site.Data, results string) error {
	m, err := figures.ReadManifest(results)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for r := range m.Rows() {
		if r.Repeats {
			continue
		}
		cells := r.Cells()
		d.Claims = append(d.Claims, site.Claim{
			Paper: r.Paper, Artefact: r.Artefact, Name: r.Claim, Kind: string(r.Kind), Reading: r.Reading, Default: r.Default,
			Published: cells.Published, Measured: cells.Measured, Low: cells.Low, High: cells.High, Margin: cells.Margin,
			Unit: r.Unit, Verdict: string(r.Verdict), Cause: string(r.Cause), Reason: r.Reason,
			Evidence: r.Evidence, Numbers: r.Numbers,
		})
	}
	for _, p := range m.Papers {
		if err := addFigures(d, filepath.Join(results, p.Name), p); err != nil {
			return err
		}
	}
	return nil
}

// addFigures adds the figures of a paper, in the order of its page, and then its tables by
// name.
func addFigures(d *site.Data, dir string, p figures.PaperRecord) error {
	var tables []site.Figure
	for _, a := range p.Artefacts {
		for _, f := range a.Figures {
			svg, err := os.ReadFile(filepath.Join(dir, f.File+".svg"))
			if err != nil {
				return fmt.Errorf("%w; miglab reproduce writes it again", err)
			}
			d.Figures = append(d.Figures, site.Figure{Paper: p.Name, Artefact: f.File, Title: f.Title, SVG: svg})
		}
		for _, t := range a.Tables {
			title := t.Table.Title
			t.Table.Title = "" // stands above the table
			tables = append(tables, site.Figure{Paper: p.Name, Artefact: t.File, Title: title, Table: &t.Table})
		}
	}
	slices.SortFunc(tables, func(a, b site.Figure) int { return strings.Compare(a.Artefact, b.Artefact) })
	d.Figures = append(d.Figures, tables...)
	return nil
}
