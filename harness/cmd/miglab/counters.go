package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"miglab/profiling"
	"miglab/profiling/counters"
	"miglab/profiling/kernel"
	"miglab/profiling/measure"
	"miglab/profiling/session"
)

// counters reads the counters of kernels on the whole GPU, and sorts those into classes
// whose times the folder has.
func (f *profileFlags) counters(c *cobra.Command, s *session.Session, kernels []kernel.Kernel) error {
	id := s.Identity()
	on, err := wholeGPU(c, s)
	if err != nil {
		return err
	}
	progress := newProgress(c.ErrOrStderr(), "kernels")
	defer progress.done()
	var rows []counters.Row
	for i := range kernels {
		k := &kernels[i]
		progress.set(i, len(kernels))
		read, err := counters.Collect(c.Context(), k, on, counters.Options{})
		if err != nil {
			return fmt.Errorf("%s: %w", k.Name, err)
		}
		rows = append(rows, counters.Row{Provenance: measure.Provenance(id), Kernel: k.Name, Counters: read})
	}
	progress.done()
	if err := f.save("counters.csv", func(w io.Writer) error { return counters.WriteCSV(w, rows) }); err != nil {
		return err
	}
	profile, err := f.measured()
	if errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(c.OutOrStdout(), "%d kernels; %s has no times yet, so that they have no class: run `miglab profile`\n", len(rows), f.out)
		return nil
	}
	if err != nil {
		return err
	}
	tasks, _ := profile.Tasks()
	var classes []counters.Classification
	for _, t := range tasks {
		i := slices.IndexFunc(rows, func(r counters.Row) bool { return r.Kernel == t.Name })
		if i < 0 {
			continue
		}
		class, err := counters.Classify(t, id.Model, profile.Runs[0].Source, rows[i].Counters)
		if err != nil {
			return err
		}
		classes = append(classes, class)
	}
	return f.table(c, "classes", counters.Table(classes))
}

// wholeGPU is where counters are read: MIG's largest instance; or the GPU without MPS,
// whose clients Nsight Compute does not support.
func wholeGPU(c *cobra.Command, s *session.Session) (profiling.Instance, error) {
	id := s.Identity()
	if id.Source != profiling.MIG {
		return profiling.Instance{Env: []string{"CUDA_VISIBLE_DEVICES=" + id.UUID}}, nil
	}
	whole := id.Model.Tree()[0].Instance
	on, _, err := s.Create(c.Context(), whole)
	return on, err
}

// measured reads the times that the folder has.
func (f *profileFlags) measured() (*measure.Profile, error) {
	path := filepath.Join(f.out, "runs.csv")
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	runs, err := measure.ReadRuns(file, path)
	return measure.Summarize(runs), err
}
