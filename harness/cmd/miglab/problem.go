package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// problemFlags are the flags that describe a batch problem.
type problemFlags struct {
	gpu             *mig.GPU
	tasks           string
	reconfiguration mig.Reconfiguration
	count           int
	file            batchFile // the tasks file after problem has read it
}

// register adds the flags. None of them is required.
func (f *problemFlags) register(c *cobra.Command) {
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

// A batchFile is a tasks file that was read.
type batchFile struct {
	path  string
	tasks task.Batch
	lines []int // the line of each task
}

func readTasks(path string, g *mig.GPU) (f batchFile, err error) {
	file, path, err := openInput(path)
	if err != nil {
		return f, err
	}
	defer file.Close()
	f.path = path
	f.tasks, f.lines, err = task.ReadCSVLines(file, path, g)
	return f, err
}

// locate returns the file and the line of a task, or the file if it has no such task.
func (f *batchFile) locate(name string) string {
	i := slices.IndexFunc(f.tasks, func(t task.Task) bool { return t.Name == name })
	if i < 0 {
		return f.path
	}
	return fmt.Sprintf("%s:%d", f.path, f.lines[i])
}

// openInput opens a file, or standard input if the path is "-". It also returns the name of the input in errors.
func openInput(path string) (*os.File, string, error) {
	if path == "-" {
		return os.Stdin, "standard input", nil
	}
	file, err := os.Open(path)
	return file, path, err
}

// readFile decodes a file, or standard input if the path is "-". Errors name the file.
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
