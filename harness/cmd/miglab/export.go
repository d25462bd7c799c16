package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/run"
	"miglab/harness/store"
)

type exportFlags struct {
	filter  store.Filter
	gpu     *mig.GPU
	catalog mig.Catalog
	results string
	out     cli.File
	timing  bool
}

func newExport() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export",
		Short: "Write results as a table: CSV or JSON lines",
		RunE:  f.run,
	}
	cli.AddFolder(c, &f.results, "results", "results", "folder with the results")
	c.Flags().StringVar(&f.filter.Track, "track", "", "only this track")
	c.Flags().StringVar(&f.filter.Dataset, "dataset", "", "only this dataset, by the name that results have")
	c.Flags().StringVar(&f.filter.Algorithm, "algorithm", "", "only this algorithm, by the name that results have")
	addGPU(c, &f.gpu, &f.catalog, "", "only this GPU model", &f.results)
	f.out.RegisterFormat(c, store.ExportFormats...)
	f.out.Register(c, "out", "file to write (default: standard output)", store.ExportFormats...)
	c.Flags().BoolVar(&f.timing, "timing", false, "add the column microseconds: how long the algorithm took")
	return c
}

func (f *exportFlags) run(c *cobra.Command, _ []string) error {
	if f.gpu != nil {
		f.filter.GPU = f.gpu.Name
	}
	db, err := run.Open(f.results, &f.catalog)
	if err != nil {
		return err
	}
	defer db.Close()
	f.filter.Dataset = canonical(f.filter.Dataset)
	if a, err := algo.Parse(f.filter.Algorithm); err == nil {
		f.filter.Algorithm = a.ID
	}
	if err := f.checkFilters(db); err != nil {
		return err
	}
	progress := cli.NewProgress(c.ErrOrStderr(), "series")
	defer progress.Done()
	set := progress.Set
	if f.out.Printed() && cli.TerminalWidth(c.OutOrStdout()) > 0 {
		set = nil // the rows on the terminal show the progress
	}
	return f.out.Emit(c, func(w io.Writer) error {
		return db.Export(w, f.filter, f.out.Format, f.timing, set)
	})
}

// checkFilters returns an error if no result matches the filters. If a single filter matches none, the error names it.
func (f *exportFlags) checkFilters(db *store.DB) error {
	all, err := db.Series(store.Filter{})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("%s has no results; compute some with miglab run", f.results)
	}
	for _, flag := range []struct {
		name, value string
		of          func(s store.Series) string
	}{
		{"track", f.filter.Track, func(s store.Series) string { return s.Track }},
		{"dataset", f.filter.Dataset, func(s store.Series) string { return s.Dataset }},
		{"algorithm", f.filter.Algorithm, func(s store.Series) string { return s.Algorithm }},
		{"GPU", f.filter.GPU, func(s store.Series) string { return s.GPU }},
	} {
		known := nearest.Names(all, flag.of)
		slices.Sort(known)
		known = slices.Compact(known)
		if flag.value != "" && !slices.Contains(known, flag.value) {
			return fmt.Errorf("%s has no results of this %s: %w", f.results, flag.name,
				nearest.Unknown(flag.name, flag.value, known))
		}
	}
	all, err = db.Series(f.filter)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s has no results that all of the filters select", f.results)
	}
	return err
}

// canonical returns the name that results have for a dataset. The name of an unknown dataset stays as it is: results
// may be of a dataset that no longer exists.
func canonical(dataset string) string {
	if d, err := datasets.Parse(dataset); err == nil {
		return d.ID()
	}
	return dataset
}
