package main

import (
	"fmt"
	"os"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// A batchFile is a tasks file that was read.
type batchFile struct {
	path  string
	tasks task.Batch
	// lines holds the line of each task.
	lines []int
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

// openInput opens a file for reading, or standard input where the path is "-", and returns the name
// that errors call it by.
func openInput(path string) (*os.File, string, error) {
	if path == "-" {
		return os.Stdin, "standard input", nil
	}
	file, err := os.Open(path)
	return file, path, err
}

// where returns the file and the line of a task, or the file if it has no such task.
func (f *batchFile) where(name string) string {
	i := slices.IndexFunc(f.tasks, func(t task.Task) bool { return t.Name == name })
	if i < 0 {
		return f.path
	}
	return fmt.Sprintf("%s:%d", f.path, f.lines[i])
}
