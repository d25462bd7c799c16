//go:build cgo && linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"miglab/datasets"
	"miglab/harness/store"
)

// finished returns the runs that a folder has; none if there is no folder.
func finished(t *testing.T, dir string) (runs []store.Unit) {
	t.Helper()
	db, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := db.Units("")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, u := range all {
		if strings.Contains(u.Key, " run ") { // not a fact about the bench
			runs = append(runs, u)
		}
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

func (b *bench) hardware(kind string) datasets.HardwareSet {
	b.t.Helper()
	h, err := datasets.ReadHardware(fstest.MapFS{"bench." + kind + ".csv": {Data: []byte(mustRead(b.t, filepath.Join(b.dir, "out", kind+".csv")))}})
	if err != nil {
		b.t.Fatal(err)
	}
	return h
}

// Killed by SIGKILL, isolation goes on, and its rows have the conditions of the runs.
func TestGPUKilledIsolationGoesOn(t *testing.T) {
	t.Parallel()
	b := benchA30(t)
	const want = 2 * (4 + 3) // kernels, and cases of both sizes
	b.goesOn(want, true, "profile", "isolation", "--kernels", "./short.yaml", "--out", "out")
	rows := b.hardware("isolation").Isolation[0].Rows
	if len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	for _, r := range rows {
		if r.Runs != 1 || r.Samples == 0 || r.ClockMean != 1410 || r.PowerMax != 387.5 {
			t.Errorf("%+v", r)
		}
	}
}

// Killed by SIGKILL, reconfiguration goes on with whole rounds.
func TestGPUKilledReconfigurationGoesOn(t *testing.T) {
	t.Parallel()
	b := benchA30(t)
	b.goesOn(2*(3+2*3), true, "profile", "reconfiguration", "--repetitions", "2", "--out", "out")
	samples := 0
	for _, r := range b.hardware("reconfiguration").Reconfiguration[0].Rows {
		samples += r.Samples
		if r.Runs != 2*strings.Count("-"+r.Partition+"-", fmt.Sprintf("-%d", r.Size)) {
			t.Errorf("%+v", r)
		}
	}
	if samples == 0 {
		t.Error("no conditions")
	}
}

// Killed by SIGKILL, co-runs of processes under MPS go on with the next mix.
func TestGPUKilledCorunGoesOn(t *testing.T) {
	t.Parallel()
	b := newFastBench(t)
	fakes, err := filepath.Abs(filepath.Join("testdata", "gpu", "mps"))
	if err != nil {
		t.Fatal(err)
	}
	b.env = append(b.env, "PATH="+fakes+string(os.PathListSeparator)+os.Getenv("PATH"))
	b.write("limited.yaml", "version: 1\nsuite: s\ndefaults: {repetitions: 4, timeout: 20s, time: {source: regexp, pattern: 'time_s: (.*)', unit: s}}\n"+
		"kernels:\n  - {name: a, argv: [sh, -c, 'sleep 0.2; "+fakes+"/limited']}\n  - {name: b, argv: ["+fakes+"/limited]}\n")
	b.goesOn(4*(2+3), false, "profile", "corun", "--mode", "mps-sm-limit", "--kernels", "./limited.yaml", "--out", "out")
	samples := 0
	for _, r := range b.hardware("corun").Corun[0].Rows {
		samples += r.Samples
		if r.Runs != 4 || r.Samples > 0 && (r.ClockMean != 1755 || r.Throttle != "power-cap") {
			t.Errorf("%+v", r)
		}
	}
	if samples == 0 {
		t.Error("no conditions")
	}
}

// Killed by SIGKILL, co-runs in a MIG instance go on; neither it nor its daemon is left.
func TestGPUKilledCorunInMIGGoesOn(t *testing.T) {
	t.Parallel()
	b := newFastBench(t)
	b.emulated(cudaStub(t))
	smallKernels(t, b.dir)
	args := []string{"profile", "corun", "--size", "3", "--kernels", "./k.yaml", "--milliseconds", "300", "--splits", "50:50,all:all", "--out", "out"}
	b.goesOn(12, true, args...)
	if rows := b.hardware("overlap").Overlap[0].Rows; len(rows) != 18 {
		t.Errorf("%d rows, want 18", len(rows))
	}
	if left, err := filepath.Glob(filepath.Join(b.stateDir(), "mps-MIG-*", "pipe", "*.pid")); err != nil || len(left) > 0 {
		t.Errorf("daemons are left: %q, %v", left, err)
	}
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
	if rows := b.hardware("isolation").Isolation[0].Rows; len(rows) != 4+3 {
		t.Errorf("%d rows, want 7", len(rows))
	}
}

// A disk that is full while something is measured is one line with the remedy. What is on it is whole, and with
// room again the same command goes on.
func TestGPUFullDisk(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	p := partitioner{t, t.TempDir(), cudaStub(t)}
	const args = "profile --mode sm-partition --only bfs,stream --small --milliseconds 1 --warm-up 1 --sms 8,16,24,32,40,48 --repetitions 20 --out out"
	// Files may grow to 200 KiB.
	c := exec.CommandContext(t.Context(), "bash", "-c", "trap '' XFSZ; ulimit -f 200; exec miglab "+args)
	c.Dir, c.Env = p.dir, p.env
	var stderr strings.Builder
	c.Stderr = &stderr
	_ = c.Run() // it fails
	if said := stderr.String(); c.ProcessState.ExitCode() <= 0 || strings.Count(said, "check that the folder can be written to and its disk has room") != 1 {
		t.Errorf("exit code %d, %q", c.ProcessState.ExitCode(), said)
	}
	before := finished(t, filepath.Join(p.dir, "out"))
	if len(before) == 0 || len(before) == 12*20 {
		t.Errorf("%d runs", len(before))
	}
	if left, err := filepath.Glob(filepath.Join(p.dir, "out", ".*")); err != nil || len(left) > 0 {
		t.Errorf("parts of files are left: %q, %v", left, err)
	}
	if code, output := p.run(strings.Fields(args)...); code != 0 || len(p.rows()) != 12*20 {
		t.Errorf("with room again: exit code %d, %d rows\n%s", code, len(p.rows()), output)
	}
}

// Killed by SIGKILL, co-runs on partitions of the multiprocessors go on.
func TestGPUKilledPartitionsGoOn(t *testing.T) {
	t.Parallel()
	b := newFastBench(t)
	b.emulated(cudaStub(t))
	b.goesOn(2*(3+1)+2*3, false, "profile", "corun", "--mode", "sm-partition", "--only", "bfs,stream", "--small", "--milliseconds", "100", "--warm-up", "1",
		"--splits", "16:24,all:all", "--out", "out")
	rows := b.hardware("overlap").Overlap[0].Rows
	if want := 2*(3+1) + 2*3*2; len(rows) != want {
		t.Errorf("%d rows, want %d: each kernel alone on 16, 24 and 42 and without a limit, and three pairs on two splits", len(rows), want)
	}
}
