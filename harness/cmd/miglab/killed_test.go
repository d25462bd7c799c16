//go:build cgo && linux

package main

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
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

// kill starts miglab and kills it when a folder has so many runs, and an instance exists if there is to be one.
func (b *bench) kill(dir string, runs int, instance bool, args ...string) (kept []store.Unit) {
	b.t.Helper()
	c := b.command(b.t.Context(), args...)
	var stderr strings.Builder
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		b.t.Fatal(err)
	}
	ended := await(c, func() bool {
		return len(finished(b.t, dir)) >= runs && (!instance || len(b.state.Instances(b.t)) > 0)
	})
	if c.Process.Kill(); <-ended {
		b.t.Fatalf("miglab %s ended before it was killed\n%s", strings.Join(args, " "), &stderr)
	}
	return finished(b.t, dir)
}

// goesOn kills miglab in the middle of an experiment twice, and then lets it end: no instance is
// left, no finished run is lost, and none is measured again.
func (b *bench) goesOn(runs int, instance bool, args ...string) {
	b.t.Helper()
	dir := filepath.Join(b.dir, "out")
	first := b.kill(dir, 3, instance, args...)
	if instance && len(b.state.Instances(b.t)) == 0 {
		b.t.Error("nothing was left behind; it was killed too early")
	}
	second := b.kill(dir, len(first)+2, instance, args...)
	b.must(args...)
	b.nothingLeft()
	whole := finished(b.t, dir)
	b.must(args...)
	lost := func(before, after []store.Unit) bool {
		return slices.ContainsFunc(before, func(u store.Unit) bool { return !slices.Contains(after, u) })
	}
	if lost(first, second) || lost(second, whole) || len(whole) != runs || !slices.Equal(finished(b.t, dir), whole) {
		b.t.Errorf("after the first kill:\n%q\nafter the second:\n%q\nat the end, of %d runs:\n%q", first, second, runs, whole)
	}
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

// Killed by SIGKILL, each experiment goes on; its rows are those of all runs and have their conditions.
func TestGPUKilledExperimentsGoOn(t *testing.T) {
	emulated := func(t *testing.T) *bench {
		b := newFastBench(t)
		b.emulated(cudaStub(t))
		return b
	}
	for _, c := range []struct {
		bench    func(*testing.T) *bench
		args     string
		runs     int
		instance bool // whether an instance exists when it is killed
		file     string
		rows     int // of single runs
	}{
		{benchA30, "isolation --kernels ./short.yaml", 2 * (4 + 3), true, "isolation.csv", 2 * (4 + 3)},
		{benchA30, "reconfiguration --repetitions 2", 2 * (3 + 2*3), true, "reconfiguration.csv", 2 * 2 * (3 + 2*(4+2+3))}, // creates and destroys
		{ // each kernel alone on 16, 24 and 42 multiprocessors and without a limit, and three pairs on two splits
			emulated, "corun --mode sm-partition --only bfs,stream --small --milliseconds 100 --warm-up 1 --splits 16:24,all:all",
			2*(3+1) + 2*3, false, "overlap.csv", 2*(3+1) + 2*3*2,
		},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			b := c.bench(t)
			b.goesOn(c.runs, c.instance, append(append([]string{"profile"}, strings.Fields(c.args)...), "--out", "out")...)
			rows, sampled := 0, false
			for _, row := range b.rows(filepath.Join("out", c.file)) {
				n, err := strconv.Atoi(cmp.Or(row["runs"], "1"))
				if err != nil {
					t.Fatal(err)
				}
				rows += n
				sampled = sampled || row["samples"] != "0" && row["sm_clock_mean_mhz"] != "0" && row["power_max_w"] != "0"
			}
			if rows != c.rows || !sampled && !strings.Contains(c.args, "sm-partition") { // the emulated CUDA has no conditions
				t.Errorf("rows of %d runs, want %d; with samples: %v", rows, c.rows, sampled)
			}
		})
	}
}
