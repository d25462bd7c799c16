//go:build cgo && linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"miglab/harness/store"
)

// finished returns the runs that a folder has; none if there is no folder.
func finished(t *testing.T, dir string) (runs []store.Unit) {
	t.Helper()
	db, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	runs, err = db.Units("")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return runs
}

// await waits until ready reports true or a command that was started ends. The channel then tells how the
// command ends: true if nobody killed it.
func await(c *exec.Cmd, ready func() bool) <-chan bool {
	over, ended := make(chan struct{}), make(chan bool, 1)
	go func() {
		_ = c.Wait() // the exit code says more
		ended <- c.ProcessState.ExitCode() >= 0
		close(over)
	}()
	for !ready() {
		select {
		case <-over:
			return ended
		case <-time.After(time.Millisecond):
		}
	}
	return ended
}

// benchA30 is a bench with an A30, on which an operation on instances takes 40 ms.
func benchA30(t *testing.T) *bench {
	b := newFastBench(t, "time create 14 40", "time create 5 40", "time create 0 40", "time destroy 14 40", "time destroy 5 40", "time destroy 0 40")
	b.state.Remove(t, "gpu")
	b.state.Add(t, fmt.Sprintf("gpu 0 A30 GPU-%08x-2222-3333-4444-555555555555 1 1", b.number))
	b.write("short.yaml", "version: 1\nsuite: s\ndefaults: {repetitions: 1, timeout: 20s, warmup: 0s}\nkernels:\n"+
		"  - {name: a, argv: [./sleeper, 0.12, 0.12, 0.12, 0.12, 0.12]}\n"+
		"  - {name: b, argv: [./sleeper, 0.12, 0.12, 0.12, 0.12, 0.12]}\n")
	return b
}

// Samples that the driver does not give are said in one line, and change no time.
func TestGPUMissingSamplesAreSaid(t *testing.T) {
	t.Parallel()
	b := benchA30(t)
	b.state.Add(t, "fail nvmlDeviceGetClockInfo 3 2 UNKNOWN")
	code, _, stderr := b.run("profile", "isolation", "--kernels", "./short.yaml", "--only", "a", "--out", "out")
	const want = "miglab: 2 samples of the GPU's clocks, power and temperature could not be taken; the conditions of these rows are incomplete\n"
	if code != 0 || strings.Count(stderr, want) != 1 {
		t.Errorf("exit code %d, %q; want one line %q", code, stderr, want)
	}
	if rows := b.rows("out/isolation.csv"); len(rows) != 4+3 {
		t.Errorf("%d rows, want 7", len(rows))
	}
}

// TestGPUKilledAtRandomMoments kills measurements and executions. Their times are real and differ. But the runs and files
// are the same, finished runs keep their records, rows are those of all runs and have their conditions, and nothing is
// left on the GPU. An execution remembers nothing: it is done as a whole or not at all.
func TestGPUKilledAtRandomMoments(t *testing.T) {
	emulated := func(t *testing.T) *bench {
		b := newFastBench(t)
		b.emulated(cudaStub(t))
		return b
	}
	sleeping := func(t *testing.T) *bench {
		b := newFastBench(t)
		b.write("tasks.csv", "task,t1,t2,t3,t4,t7\nscales,0.7,0.36,0.25,0.19,0.11\nstops,0.4,0.21,0.15,0.15,0.15\n")
		return b
	}
	for _, c := range []struct {
		bench func(*testing.T) *bench
		args  string
		file  string // with rows of runs, if any
		rows  int    // of single runs
	}{
		{sleeping, "profile --kernels ./kernels.yaml --only super,largest --repetitions 1", "", 0},
		{sleeping, "execute --tasks tasks.csv --kernels ./kernels.yaml", "", 0},
		{benchA30, "profile isolation --kernels ./short.yaml", "isolation.csv", 2 * (4 + 3)},
		{benchA30, "profile reconfiguration --repetitions 2", "reconfiguration.csv", 2 * 2 * (3 + 2*(4+2+3))}, // creates and destroys
		{ // each kernel alone on 16, 24 and 42 multiprocessors and without a limit, and three pairs on two splits
			emulated, "profile corun --mode sm-partition --only bfs,stream --small --milliseconds 100 --warm-up 1 --splits 16:24,all:all",
			"overlap.csv", 2*(3+1) + 2*3*2,
		},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			var b *bench
			killAtRandom(t, func() (string, func() *exec.Cmd) {
				b = c.bench(t)
				return b.dir, func() *exec.Cmd {
					return b.command(context.Background(), append(strings.Fields(c.args), "--out", "out")...)
				}
			}, func(string) map[string]string {
				b.nothingLeft()
				found := map[string]string{}
				for name := range contents(t, filepath.Join(b.dir, "out")) {
					found[name] = "" // no part of a file is left
				}
				for _, u := range finished(t, filepath.Join(b.dir, "out")) {
					found[u.Key] = ""
				}
				if c.file != "" {
					b.checkRows(filepath.Join("out", c.file), c.rows)
				}
				return found
			})
		})
	}
}

// checkRows expects rows of so many runs, with the GPU's conditions unless CUDA is emulated.
func (b *bench) checkRows(file string, want int) {
	b.t.Helper()
	rows, sampled := 0, file == "out/overlap.csv"
	for _, row := range b.rows(file) {
		n, err := strconv.Atoi(cmp.Or(row["runs"], "1"))
		if err != nil {
			b.t.Fatal(err)
		}
		rows += n
		sampled = sampled || row["samples"] != "0" && row["sm_clock_mean_mhz"] != "0" && row["power_max_w"] != "0"
	}
	if rows != want || !sampled {
		b.t.Errorf("rows of %d runs, want %d; with samples: %v", rows, want, sampled)
	}
}
