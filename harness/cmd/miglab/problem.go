package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// problemFlags are the flags that together describe a problem.
type problemFlags struct {
	gpu             *mig.GPU
	tasks           string
	reconfiguration mig.Reconfiguration
	count           int
	// file is the tasks file after problem has read it.
	file batchFile
}

// register adds the flags, of which --tasks is required.
func (f *problemFlags) register(c *cobra.Command) {
	f.addOptional(c)
	requireFlags(c, "tasks")
}

// addOptional adds the flags, all optional.
func (f *problemFlags) addOptional(c *cobra.Command) {
	addGPU(c, &f.gpu, new(mig.Catalog), "A100", "GPU model (miglab list gpus)")
	cli.AddFlag(c, &f.count, "gpus", "1", cli.WholeNumber(1, mostGPUs), "number of GPUs of the model")
	c.Flags().StringVar(&f.tasks, "tasks", "",
		"tasks CSV: task,t1,t2,t3,t4,t7 (A30: task,t1,t2,t4), seconds, inf where a task does not fit; - for standard "+
			"input")
	cli.AddFlag(c, &f.reconfiguration, "reconfiguration", "sequential", mig.ParseReconfiguration,
		"sequential, parallel or free")
}

// problem reads the tasks file and returns the problem that the flags describe.
func (f *problemFlags) problem(ctx context.Context) (_ schedule.Problem, err error) {
	f.file, err = cli.Interruptible(ctx, func() (batchFile, error) { return readTasks(f.tasks, f.gpu) })
	return schedule.Problem{GPU: f.gpu, Count: f.count, Model: f.reconfiguration, Tasks: f.file.tasks}, err
}

// emitJSON prints a value as JSON.
func emitJSON(c *cobra.Command, v any) error { return encodeJSON(c.OutOrStdout(), v) }

func encodeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// readFile reads a file, or standard input where the path is "-".
func readFile[T any](path string, decode func(io.Reader) (T, error)) (v T, err error) {
	file, path, err := openInput(path)
	if err != nil {
		return v, err
	}
	defer file.Close()
	if v, err = decode(file); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return v, err
}

// brokenError says how many violations the referee found in a schedule.
func brokenError(schedule string, violations int) error {
	return fmt.Errorf("%s breaks the rules %s", schedule, cli.Count(violations, "times"))
}

// violationsError joins what the referee found into one error, a line each.
func violationsError(what string, vs []schedule.Violation) error {
	errs := []error{brokenError(what, len(vs))}
	for _, v := range vs {
		errs = append(errs, v)
	}
	return cli.FailedError{Err: errors.Join(errs...)}
}
