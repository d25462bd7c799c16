package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/nearest"
	"miglab/harness/run"
	"miglab/harness/sweep"
	"miglab/harness/sweep/slurm"
	figures "miglab/paper-figures"
)

// An assignment is what a command line computes: cells, or trainings.
type assignment struct {
	cells     []run.Span
	trainings []training
	// results is the folder that sweeps are put under, and store that of the results database.
	results, store string
	// workers is what the command says; 0 where it leaves it open.
	workers int
}

// sweepKey is the key of a context for the *assignment that its command line fills in, instead of computing.
type sweepKey struct{}

// sweepOf returns what the command is to fill in, or nil if it is no part of a sweep.
func sweepOf(c *cobra.Command) *assignment {
	w, _ := c.Context().Value(sweepKey{}).(*assignment)
	return w
}

// spreadable are the commands that a sweep can spread.
var spreadable = []string{"run", "reproduce", "train"}

// readAssignment lists what a command line would compute. Nothing is computed.
func readAssignment(ctx context.Context, args []string) (*assignment, error) {
	if len(args) == 0 {
		return nil, errors.New("submit needs a command, as in " +
			"miglab submit slurm -- run --algorithms far --datasets WIDETIMES")
	}
	if !slices.Contains(spreadable, args[0]) {
		return nil, fmt.Errorf("submit takes run, reproduce or train and cannot spread %q", args[0])
	}
	w, root := new(assignment), newRoot()
	root.SetArgs(args)
	root.SetOut(io.Discard) // of --help
	c, err := root.ExecuteContextC(context.WithValue(ctx, sweepKey{}, w))
	switch {
	case err != nil:
		return nil, err
	case c.Flags().Changed("shard"):
		return nil, fmt.Errorf("--shard has no meaning in a sweep: its tasks share the work")
	case len(w.cells)+len(w.trainings) == 0:
		return nil, fmt.Errorf("miglab %s computes no cells: there is nothing to submit", shellLine(args))
	}
	return w, nil
}

// plan spreads the work over tasks.
func (w *assignment) plan(args []string, tasks int) (*sweep.Plan, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	program, err := figures.Program()
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range w.trainings {
		names = append(names, w.trainings[i].name())
	}
	return sweep.New(args, dir, program, w.cells, names, tasks), nil
}

// An openSweep is a sweep with what its command computes.
type openSweep struct {
	// dir is the absolute path of its folder.
	dir  string
	plan *sweep.Plan
	*assignment
}

// readSweep opens a sweep and goes to the folder in which its command was given, which the
// command's paths may be relative to.
func readSweep(ctx context.Context, dir string) (*openSweep, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	p, err := sweep.ReadPlan(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is no sweep that this machine sees: it has no plan.json", dir)
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chdir(p.Dir); err != nil {
		return nil, fmt.Errorf("the folder that the sweep was submitted in: %w", err)
	}
	w, err := readAssignment(ctx, p.Args)
	return &openSweep{dir, p, w}, err
}

// sameProgram refuses a program that is not the one that planned the sweep: together they might
// compute what neither would alone.
func (s *openSweep) sameProgram() error {
	program, err := figures.Program()
	if err == nil && program != s.plan.Program {
		err = fmt.Errorf("another build of miglab planned %s: use that one, or submit the command again with "+
			"--sweep and another folder", s.dir)
	}
	return err
}

// status says how the sweep stands, from its files alone.
func (s *openSweep) status() (sweep.Status, error) {
	return sweep.ReadStatus(s.dir, s.plan, s.cells, time.Now())
}

// unitName names what the sweep counts.
func (s *openSweep) unitName() string {
	if s.trainings != nil {
		return "trainings"
	}
	return "cells"
}

// missing is the error of a sweep that is not complete, with the way on.
func (s *openSweep) missing(status *sweep.Status) error {
	return cli.FailedError{Err: fmt.Errorf("%s: %s; to go on: miglab submit --missing %s", s.unitName(), status.Lack(),
		slurm.Word(s.dir))}
}

// shellLine writes a command line as a shell would take it.
func shellLine(args []string) string {
	return strings.Join(nearest.Names(args, slurm.Word), " ")
}
