package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"miglab/harness/atomicfile"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// problemFlags are the flags that together describe a problem.
type problemFlags struct {
	gpu, tasks, model string
	count             int
	// file is the tasks file after problem has read it.
	file batchFile
}

func (f *problemFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.gpu, "gpu", "A100", "GPU model (miglab list gpus)")
	c.Flags().IntVar(&f.count, "gpus", 1, "number of GPUs of the model")
	c.Flags().StringVar(&f.tasks, "tasks", "", "tasks CSV: task,t1,t2,t3,t4,t7 (A30: task,t1,t2,t4), seconds, inf where a task does not fit")
	c.Flags().StringVar(&f.model, "reconfiguration", "sequential", "sequential, parallel or free")
	if err := c.MarkFlagRequired("tasks"); err != nil {
		panic(err)
	}
}

// problem reads and checks what the flags name.
func (f *problemFlags) problem() (schedule.Problem, error) {
	var p schedule.Problem
	var err error
	if p.GPU, err = mig.Lookup(f.gpu); err != nil {
		return p, err
	}
	if p.Model, err = mig.ParseReconfiguration(f.model); err != nil {
		return p, err
	}
	if f.count < 1 {
		return p, fmt.Errorf("--gpus %d: at least one GPU is needed", f.count)
	}
	p.Count = f.count
	f.file, err = readTasks(f.tasks, p.GPU)
	p.Tasks = f.file.tasks
	return p, err
}

// emit writes to a file as a whole, or to standard output when path is empty or "-".
func emit(c *cobra.Command, path string, write func(io.Writer) error) error {
	if path == "" || path == "-" {
		return write(c.OutOrStdout())
	}
	return atomicfile.WriteFile(path, write)
}

// violationsError joins what the referee found into one error, a line each.
func violationsError(what string, vs []schedule.Violation) error {
	errs := []error{fmt.Errorf("%s breaks the rules %d times", what, len(vs))}
	for _, v := range vs {
		errs = append(errs, v)
	}
	return failedError{errors.Join(errs...)}
}
