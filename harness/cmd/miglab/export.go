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
	out     output
	timing  bool
}

func newExport() *cobra.Command {
	f := new(exportFlags)
	c := &cobra.Command{
		Use:   "export",
		Short: "Write results as a table: CSV or JSON lines",
		RunE:  f.run,
	}
	c.Flags().StringVar(&f.results, "results", "results", "folder with the results")
	c.Flags().StringVar(&f.filter.Track, "track", "", "only this track")
	c.Flags().StringVar(&f.filter.Dataset, "dataset", "", "only this dataset, by the name that results have")
	c.Flags().StringVar(&f.filter.Algorithm, "algorithm", "", "only this algorithm, by the name that results have")
	addGPU(c, &f.gpu, &f.catalog, "", "only this GPU model", &f.results)
	f.out.registerFormat(c, store.ExportFormats...)
	f.out.register(c, "out", "file to write (default: standard output)", store.ExportFormats...)
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
	if f.out.printed() && terminalWidth(c.OutOrStdout()) > 0 {
		set = nil // the rows are seen as they come
	}
	return f.out.emit(c, func(w io.Writer) error {
		return db.Export(w, f.filter, f.out.format, f.timing, set)
	})
}

// checkFilters returns an error that names a flag without matching results.
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
		if known = slices.Compact(known); flag.value != "" && !slices.Contains(known, flag.value) {
			return fmt.Errorf("%s has no results of this %s: %w", f.results, flag.name,
				nearest.Unknown(flag.name, flag.value, known))
		}
	}
	if all, err = db.Series(f.filter); err == nil && len(all) == 0 {
		err = fmt.Errorf("%s has no results that all of the filters select", f.results)
	}
	return err
}

// canonical returns a dataset as results name it. One that no longer exists may have results, and stays as it is.
func canonical(dataset string) string {
	if d, err := datasets.Parse(dataset); err == nil {
		return d.ID()
	}
	return dataset
}
