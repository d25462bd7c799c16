package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"miglab/datasets"
	"miglab/harness/cli"
	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/deadline"
	"miglab/paper-figures/drl"
	"miglab/paper-figures/far"
	"miglab/paper-figures/hierarchical"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/mfi"
	"miglab/paper-figures/miso"
	"miglab/paper-figures/render"
)

// papers returns the papers that miglab reproduces.
func papers() ([]figures.Paper, error) {
	var out []figures.Paper
	all := []func() (figures.Paper, error){
		far.Paper, drl.Paper, mfi.Paper, deadline.Paper, hierarchical.Paper, miso.Paper,
	}
	for _, paper := range all {
		p, err := paper()
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

type reproduceFlags struct {
	cellFlags
	shard        run.Shard
	papers, only []string
	hardware     string
	quick, stub  bool
}

func newReproduce() *cobra.Command {
	var f reproduceFlags
	c := &cobra.Command{
		Use:   "reproduce",
		Short: "Regenerate every table and figure of the papers beside the published numbers",
		RunE:  f.run,
	}
	c.Flags().StringSliceVar(&f.papers, "paper", nil, "only these papers, joined by commas (miglab list papers)")
	c.Flags().StringSliceVar(&f.only, "only", nil,
		"only these artefacts, joined by commas, for example far/table4,far/figure12")
	c.Flags().BoolVar(&f.quick, "quick", false,
		"few replicates and no verdicts, into results/quick unless --results is given")
	f.register(c, "folder for results", "cells")
	addShard(c, &f.shard)
	cli.AddFolder(c, &f.hardware, "hardware", "",
		"folder of measurements on GPUs, as datasets/hardware/README.md describes them")
	c.Flags().BoolVar(&f.stub, "stub", false,
		"show measurements that were made on a stub, marked as such (for dry runs)")
	return c
}

// measurements returns the measurements of --hardware. Without --stub it refuses measurements of a stub.
func (f *reproduceFlags) measurements() (h datasets.HardwareSet, err error) {
	if f.hardware == "" {
		return h, nil
	}
	if h, err = datasets.ReadHardware(os.DirFS(f.hardware)); err != nil {
		return h, fmt.Errorf("--hardware %s: %w", f.hardware, err)
	}
	if h.Stub != "" && !f.stub {
		return h, fmt.Errorf("%s was made on a stub, not on a GPU: it is no data; take it away, or show it as what it "+
			"is with --stub", filepath.Join(f.hardware, h.Stub))
	}
	return h, nil
}

// reproduction returns the reproduction that the flags ask for, without an engine.
func (f *reproduceFlags) reproduction(c *cobra.Command) (*figures.Reproduction, error) {
	if f.stub && !c.Flags().Changed("results") {
		return nil, errors.New("--stub: name another folder for results with --results; they are no data")
	}
	h, err := f.measurements()
	if err != nil {
		return nil, err
	}
	all, err := papers()
	if err != nil {
		return nil, err
	}
	if len(f.papers) > 0 && len(f.only) > 0 {
		return nil, errors.New("--paper and --only exclude each other")
	}
	keep, err := figures.Select(all, f.papers, f.only)
	if err != nil {
		return nil, err
	}
	if f.quick && !c.Flags().Changed("results") {
		f.results = filepath.Join(f.results, "quick")
	}
	r := &figures.Reproduction{
		Papers: all, Dir: f.results, Scale: figures.Scale{Quick: f.quick}, Only: keep, Hardware: h,
	}
	if f.hardware != "" {
		r.Inputs, err = hashFiles(os.DirFS(f.hardware))
	}
	return r, err
}

// hashFiles returns a hash of the names and contents of the files in a folder that [datasets.ReadHardware] could read.
func hashFiles(dir fs.FS) (string, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, e := range entries {
		text, err := fs.ReadFile(dir, e.Name())
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%q %d %s", e.Name(), len(text), text)
	}
	return fmt.Sprintf(" %x", hash.Sum(nil)), nil
}

// computeShard computes the cells of a shard, and writes no pages.
func (f *reproduceFlags) computeShard(c *cobra.Command, r *figures.Reproduction) error {
	cells, err := r.Cells()
	if err != nil {
		return err
	}
	err = f.runCells(c, "cells", func(e *run.Engine) error {
		e.Shard = f.shard
		return e.Run(c.Context(), cells)
	})
	if err == nil {
		fmt.Fprintf(c.OutOrStdout(), "shard %s is in %s; the same command without --shard writes the pages\n",
			c.Flags().Lookup("shard").Value, r.Dir)
	}
	return err
}

func (f *reproduceFlags) run(c *cobra.Command, _ []string) error {
	r, err := f.reproduction(c)
	if err != nil {
		return err
	}
	// Most cells allocate little, and only the list of all cells stays in memory: collect rarely, within 2 GiB.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(2 << 30)
	if c.Flags().Changed("shard") {
		return f.computeShard(c, r)
	}
	var m *manifest.Manifest
	if err := f.runCells(c, "cells and artefacts", func(e *run.Engine) error {
		r.Engine = e
		m, err = r.Run(c.Context())
		return err
	}); err != nil {
		return err
	}
	out := c.OutOrStdout()
	if f.quick {
		fmt.Fprintf(out, "%d claims, no verdicts in a quick run\n", m.Count("").Total())
	} else {
		fmt.Fprintf(out, "printed numbers: %v\n", m.Count(claim.Printed))
		stated := m.Count(claim.Stated)
		if len(stated) > 0 {
			fmt.Fprintf(out, "stated claims:   %v\n", stated)
		}
	}
	if m.Left > 0 {
		fmt.Fprintf(out, "%d artefacts are not done and not in the claims; the same command without --only or --paper "+
			"does them\n", m.Left)
	}
	fmt.Fprintf(out, "summary  %s\nclaims   %s\n", filepath.Join(r.Dir, "README.md"),
		filepath.Join(r.Dir, "claims.csv"))
	for _, p := range m.Papers {
		if len(p.Artefacts) > 0 {
			fmt.Fprintf(out, "%-8s %s\n", p.Name, filepath.Join(r.Dir, p.Name, "README.md"))
		}
	}
	return nil
}

func newReadme() *cobra.Command {
	var results string
	c := &cobra.Command{
		Use:   "readme",
		Short: "Bring the table of verdicts and the images in README.md, and the papers' pages, up to date",
		RunE:  func(*cobra.Command, []string) error { return render.UpdateReadme(".", results) },
	}
	cli.AddFolder(c, &results, "results", "results", "folder with the results")
	return c
}
