package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"miglab/harness/deep"
	"miglab/harness/store"
)

// miglab runs the program in a folder and returns what it prints.
func miglab(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("miglab", args...)
	c.Dir = dir
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("miglab %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}

// An outcome is how a program ended that may have been interrupted.
type outcome struct {
	// interrupted is false where the program had done everything before.
	interrupted bool
	code        int
	stderr      string
}

// interrupt runs the program in a folder and sends it a signal as soon as ready
// reports true.
func interrupt(t *testing.T, dir string, signal os.Signal, ready func() bool, args ...string) outcome {
	t.Helper()
	c := exec.CommandContext(t.Context(), "miglab", args...)
	c.Dir = dir
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("miglab %s: %v\n%s", strings.Join(args, " "), err, &stderr)
			}
			return outcome{}
		case <-time.After(time.Millisecond):
		}
		if ready() {
			break
		}
	}
	if err := c.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	err := <-ended
	return outcome{err != nil, c.ProcessState.ExitCode(), stderr.String()}
}

// table is the export of a folder's results.
func table(t *testing.T, dir string) string {
	t.Helper()
	return miglab(t, dir, "export")
}

// sizeOf returns the length of a file; 0 where there is none.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// write writes a file and returns its path. A script can be run.
func write(t testing.TB, path, content string) string {
	t.Helper()
	mode := fs.FileMode(0o644)
	if strings.HasPrefix(content, "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// contents returns the files below a folder by relative path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out[path] = mustRead(t, filepath.Join(dir, path))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// equal compares files by name, those that only one side has included.
func equal(t *testing.T, got, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[name]; !ok {
			t.Errorf("%s is missing", name)
		} else if g != want[name] {
			t.Errorf("%s has other bytes", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is left over", name)
		}
	}
}

// workload takes long enough to be interrupted in the middle: some seconds. It computes bounds most of the time or,
// unless tests are deep, waits. Results are committed once a second.
var workload = []string{
	"run", "--algorithms", "far,miso,fixpartbest,dawdle", "--datasets", "WIDETIMES,POORSCALING", "--instances", strconv.Itoa(deep.N(20, 60)),
}

// unfinished is the workload with one more algorithm, a program that never answers, so that the command does
// not end however fast the machine is.
func unfinished(t *testing.T, dir string) []string {
	t.Helper()
	const silent = "#!/bin/sh\nread -r line\necho '{\"type\":\"hello\",\"protocol\":1,\"name\":\"silent\",\"version\":1}'\nread -r line && : >asked\ncat >/dev/null\n"
	write(t, filepath.Join(dir, "silent"), silent)
	out := slices.Clone(workload)
	out[slices.Index(out, "--algorithms")+1] += ",exec:./silent?timeout=1h"
	return out
}

// asked reports whether the program that never answers was asked.
func asked(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "asked"))
	return err == nil
}

// committed returns how many rows the database of an interrupted run has. There may be none yet.
func committed(t *testing.T, dir string) int {
	t.Helper()
	db, err := store.Open(filepath.Join(dir, "results"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all, err := db.Series(store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, s := range all {
		own, err := db.Rows(s, 0, math.MaxInt)
		if err != nil {
			t.Fatal(err)
		}
		rows += len(own)
	}
	return rows
}

func TestRunGivesTheSameBytesHoweverItCameAbout(t *testing.T) {
	t.Setenv(dawdles, "1")
	undisturbed := t.TempDir()
	miglab(t, undisturbed, append(workload, "--workers", "1")...)
	want := table(t, undisturbed)

	for _, workers := range []string{"2", "8"} {
		t.Run(workers+" workers", func(t *testing.T) {
			dir := t.TempDir()
			miglab(t, dir, append(workload, "--workers", workers)...)
			if table(t, dir) != want {
				t.Error("other bytes than with 1 worker")
			}
		})
	}

	t.Run("interrupted", func(t *testing.T) {
		dir := t.TempDir()
		o := interrupt(t, dir, os.Interrupt, func() bool { return asked(dir) && committed(t, dir) > 0 }, unfinished(t, dir)...)
		const message = "miglab: interrupted; what was computed is kept, run the same command again to go on\n"
		if o.code != exitInterrupted || o.stderr != message {
			t.Errorf("exit code %d, %q", o.code, o.stderr)
		}
		if rows := committed(t, dir); rows == 0 || rows >= strings.Count(want, "\n")-1 {
			t.Errorf("%d rows are kept", rows)
		}
		miglab(t, dir, workload...)
		if table(t, dir) != want {
			t.Error("other bytes than undisturbed")
		}
	})

	t.Run("2 processes", func(t *testing.T) {
		dir := t.TempDir()
		var running []*exec.Cmd
		for i := range 2 {
			c := exec.Command("miglab", append(workload, "--shard", fmt.Sprintf("%d/2", i))...)
			c.Dir = dir
			c.Stderr = os.Stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			running = append(running, c)
		}
		for _, c := range running {
			if err := c.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		shards := contents(t, filepath.Join(dir, "results"))
		if names := slices.Sorted(maps.Keys(shards)); !slices.Equal(names, []string{"results-0of2.db", "results-1of2.db"}) {
			t.Errorf("there are %q, want the databases of two shards", names)
		}
		if table(t, dir) != want {
			t.Error("other bytes than in one process")
		}
		miglab(t, dir, workload...)
		equal(t, contents(t, filepath.Join(dir, "results")), shards)
		if table(t, dir) != want {
			t.Error("other bytes after a run with nothing to do")
		}
	})
}

// TestReproduceGivesTheSameBytesHoweverItCameAbout compares few artefacts of each paper, and all of them under make
// test-long.
func TestReproduceGivesTheSameBytesHoweverItCameAbout(t *testing.T) {
	t.Parallel() // beside TestSlurm, which mostly waits
	// promised is what must not differ: everything but the database, which has wall times, too, and their tables.
	promised := func(dir string) map[string]string {
		files := contents(t, filepath.Join(dir, "results/quick"))
		maps.DeleteFunc(files, func(name, _ string) bool {
			return name == "results.db" || strings.HasPrefix(name, "timing")
		})
		return files
	}
	one, four := t.TempDir(), t.TempDir()
	reproduce := func(dir, workers string, flags ...string) {
		miglab(t, dir, append([]string{"reproduce", "--quick", "--workers", workers}, flags...)...)
	}
	few := []string{"--only", "far/table4,far/figure12,drl/figure12,mfi/figure6,deadline/table1,hierarchical/figure5"}
	reproduce(one, "1", few...)
	reproduce(four, "4", few...)
	want := promised(one)
	for _, name := range []string{"claims.csv", "far/README.md", "far/table4.csv", "far/figure12.pdf"} {
		if want[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
	equal(t, promised(four), want)
	if os.Getenv("MIGLAB_LONG") == "1" {
		reproduce(one, "1")
		reproduce(four, "4")
		equal(t, promised(four), promised(one))
	}
}
