//go:build cgo && linux

package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGPUKilledAtRandomMoments kills measurements and executions at random moments. Their times are real and differ.
// But the runs and files are the same, finished runs keep their records, and nothing is left on the GPU. An execution
// remembers nothing: it is done as a whole or not at all.
func TestGPUKilledAtRandomMoments(t *testing.T) {
	for name, args := range map[string][]string{
		"profile": {"profile", "--kernels", "./kernels.yaml", "--only", "super,largest", "--repetitions", "1", "--out", "out"},
		"execute": {"execute", "--tasks", "tasks.csv", "--kernels", "./kernels.yaml", "--out", "out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b *bench
			killAtRandom(t, func() (string, func() *exec.Cmd) {
				b = newFastBench(t)
				b.write("tasks.csv", "task,t1,t2,t3,t4,t7\nscales,0.7,0.36,0.25,0.19,0.11\nstops,0.4,0.21,0.15,0.15,0.15\n")
				return b.dir, func() *exec.Cmd { return b.command(context.Background(), args...) }
			}, func(string) map[string]string {
				b.nothingLeft()
				found := map[string]string{}
				for name := range contents(t, filepath.Join(b.dir, "out")) {
					found[name] = "" // no part of a file is left
				}
				for _, u := range finished(t, filepath.Join(b.dir, "out")) {
					found[u.Key] = ""
				}
				return found
			})
		})
	}
}
