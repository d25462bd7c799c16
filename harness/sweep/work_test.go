package sweep

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/run"
	"miglab/harness/store"
)

// rapid checks each property on few values unless the tests are deep.
func init() { flag.Set("rapid.checks", strconv.Itoa(deep.N(25, 100))) }

func cellsOf(t testing.TB, n int, algorithms ...string) []run.Span {
	t.Helper()
	base := store.Series{Track: algo.TrackBound, GPU: "A100"}
	all, err := run.Competition(base, algorithms, []string{"far/MIXEDSCALING+WIDETIMES?n=6"}, n)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func planOf(t testing.TB, cells []run.Span, tasks int) *Plan {
	t.Helper()
	return New([]string{"run"}, "/home", "12", Job{Spans: cells}, tasks)
}

func runTask(folder string, p *Plan, task int, runName string, cells []run.Span) error {
	e := run.Engine{Workers: 2, Shard: run.Shard{Index: 1, Of: 3}} // the shard is not asked
	return Work(context.Background(), folder, p, task, runName, Job{Spans: cells}, e)
}

// exported is the table of a store.
func exported(t testing.TB, st *store.DB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := st.Export(&b, store.Filter{}, "csv", false, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// alone is the table of one engine that computes all cells.
func alone(t testing.TB, cells []run.Span) []byte {
	t.Helper()
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := run.Engine{Store: st}
	if err := e.Run(context.Background(), cells); err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	return exported(t, st)
}

// merged is the table of what Merge makes of the sweep, and the status and error.
func merged(t testing.TB, folder string, p *Plan, cells []run.Span) ([]byte, Status, error) {
	t.Helper()
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s, err := Merge(folder, p, Job{Spans: cells}, st)
	return exported(t, st), s, err
}

func databaseFiles(t testing.TB, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(resultsOf(folder), "*.db"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestSweepEqualsOneMachine(t *testing.T) {
	cells := cellsOf(t, 30, "test-longest", "test-picky")
	cells = append(cells, run.Span{Trial: cells[0].Trial, To: 7})
	p, folder := planOf(t, cells, 4), t.TempDir()
	for task := range p.Tasks {
		if err := runTask(folder, p, task, "a", cells); err != nil {
			t.Fatal(err)
		}
	}
	got, s, err := merged(t, folder, p, cells)
	if err != nil {
		t.Fatal(err)
	}
	if want := alone(t, cells); !bytes.Equal(got, want) {
		t.Errorf("merged:\n%s\nwant:\n%s", got, want)
	}
	if s.Total != 60 || s.Done != 60 || s.Failed == 0 || s.Failed == 30 || s.Damaged != nil || s.Unfinished != nil {
		t.Errorf("status %+v", s)
	}

	// The times came along.
	into, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer into.Close()
	if _, err := Merge(folder, p, Job{Spans: cells}, into); err != nil {
		t.Fatal(err)
	}
	rows, err := into.Rows(cells[0].Series, 0, math.MaxInt)
	if err != nil || len(rows) != 30 {
		t.Fatalf("%d rows, %v; want 30", len(rows), err)
	}
	for _, row := range rows {
		if row.Micros <= 0 {
			t.Errorf("no time of %+v", row)
		}
	}
	// Merging again changes nothing.
	var before, after bytes.Buffer
	if err := into.Export(&before, store.Filter{}, "csv", true, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(folder, p, Job{Spans: cells}, into); err != nil {
		t.Fatal(err)
	}
	if err := into.Export(&after, store.Filter{}, "csv", true, nil); err != nil || before.String() != after.String() {
		t.Errorf("merged twice: %v", err)
	}
}

// Faults happen, tasks run again, and the table is that of one machine.
func TestFaults(t *testing.T) {
	cells := cellsOf(t, 8, "test-longest", "test-picky")
	want := alone(t, cells)
	defer func() { afterCell = func() {} }()
	// In memory, where there is such a folder: many small databases wait for the disk.
	root, err := os.MkdirTemp("/dev/shm", "miglab")
	if err != nil {
		root = t.TempDir()
	}
	defer os.RemoveAll(root)
	rapid.Check(t, func(r *rapid.T) {
		folder, err := os.MkdirTemp(root, "")
		if err != nil {
			r.Fatal(err)
		}
		p := planOf(t, cells, rapid.IntRange(1, 4).Draw(r, "tasks"))
		name := 0
		try := func(ctx context.Context, task, workers int) error {
			name++
			return Work(ctx, folder, p, task, fmt.Sprint("run-", name), Job{Spans: cells}, run.Engine{Workers: workers})
		}
		for range rapid.IntRange(1, 5).Draw(r, "faults") {
			task := rapid.IntRange(0, p.Tasks-1).Draw(r, "task")
			files := databaseFiles(t, folder)
			pick := func() string { return rapid.SampledFrom(files).Draw(r, "database") }
			fault := rapid.SampledFrom([]string{"cancelled", "none", "twice", "deleted", "truncated", "flipped", "copied", "overwritten", "left over"}).Draw(r, "fault")
			switch fault {
			case "cancelled":
				ctx, cancel := context.WithCancel(context.Background())
				left := rapid.IntRange(0, 8).Draw(r, "cells before it")
				afterCell = func() {
					if left--; left == 0 {
						cancel()
					}
				}
				err := try(ctx, task, 1)
				afterCell = func() {}
				if err != nil && !errors.Is(err, context.Canceled) || err != nil && ctx.Err() == nil {
					r.Fatal(err)
				}
				cancel()
			case "none":
				if err := try(context.Background(), task, 2); err != nil {
					r.Fatal(err)
				}
			case "twice":
				var both sync.WaitGroup
				var errs [2]error
				for i := range errs {
					both.Go(func() {
						errs[i] = Work(context.Background(), folder, p, task, fmt.Sprint("both-", name, "-", i), Job{Spans: cells}, run.Engine{Workers: 2})
					})
				}
				both.Wait()
				name++
				if err := errors.Join(errs[:]...); err != nil {
					r.Fatal(err)
				}
			case "left over":
				if err := errors.Join(os.MkdirAll(resultsOf(folder), 0o755), os.WriteFile(filepath.Join(resultsOf(folder), fmt.Sprint(".tmp-", name)), []byte("half a li"), 0o600)); err != nil {
					r.Fatal(err)
				}
			default:
				if len(files) == 0 {
					continue
				}
				path := pick()
				data, err := os.ReadFile(path)
				if err != nil {
					r.Fatal(err)
				}
				switch fault {
				case "deleted":
					err = os.Remove(path)
				case "truncated":
					err = os.Truncate(path, int64(rapid.IntRange(0, len(data)).Draw(r, "bytes")))
				case "flipped":
					if len(data) > 0 {
						data[rapid.IntRange(0, len(data)-1).Draw(r, "byte")] ^= byte(rapid.IntRange(1, 255).Draw(r, "bits"))
					}
					err = os.WriteFile(path, data, 0o644)
				case "copied":
					err = os.WriteFile(strings.TrimSuffix(path, ".db")+"-copy.db", data, 0o644)
				case "overwritten":
					from := rapid.IntRange(0, len(data)).Draw(r, "from")
					copy(data[from:], bytes.Repeat([]byte{0x5a}, rapid.IntRange(1, 5000).Draw(r, "bytes")))
					err = os.WriteFile(path, data, 0o644)
				}
				if err != nil {
					r.Fatal(err)
				}
			}
		}

		// What is merged early is right as far as it goes, and the status says how far.
		_, s, err := merged(t, folder, p, cells)
		if err != nil {
			r.Fatalf("%d cells are missing: %v", s.Total-s.Done, err)
		}
		for _, task := range s.Unfinished {
			if err := try(context.Background(), task, 2); err != nil {
				r.Fatal(err)
			}
		}
		got, s, err := merged(t, folder, p, cells)
		if err != nil || s.Unfinished != nil {
			r.Fatalf("%d cells are missing: %v", s.Total-s.Done, err)
		}
		if !bytes.Equal(got, want) {
			r.Fatalf("merged:\n%s\nwant:\n%s", got, want)
		}
		looked, err := ReadStatus(folder, p, Job{Spans: cells})
		if err != nil || !reflect.DeepEqual(looked, s) {
			r.Fatalf("Look says %+v, %v; Merge said %+v", looked, err, s)
		}
	})
}

// A damaged database is named, and its cells are missing until they are computed again.
func TestDamageIsNamed(t *testing.T) {
	t.Run("truncated", func(t *testing.T) {
		damageIsNamed(t, func(path string) error { return os.Truncate(path, 10_000) })
	})
	t.Run("format", func(t *testing.T) {
		damageIsNamed(t, func(path string) error {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			data[63] = 0x5a // the last byte of the schema's version
			return os.WriteFile(path, data, 0o644)
		})
	})
}

func damageIsNamed(t *testing.T, damage func(path string) error) {
	cells := cellsOf(t, 8, "test-longest")
	p, folder := planOf(t, cells, 2), t.TempDir()
	for task := range p.Tasks {
		if err := runTask(folder, p, task, "a", cells); err != nil {
			t.Fatal(err)
		}
	}
	path := databaseFiles(t, folder)[1]
	if err := damage(path); err != nil {
		t.Fatal(err)
	}
	check := func(missing int) {
		t.Helper()
		s, err := ReadStatus(folder, p, Job{Spans: cells})
		if err != nil || s.Total-s.Done != missing || len(s.Damaged) != 1 || s.Damaged[0].File != path {
			t.Errorf("%+v, %v; want %d missing and %s damaged", s, err, missing, path)
		}
	}
	check(5)
	_, s, err := merged(t, folder, p, cells)
	if err != nil || s.Lack() != "5 of 8 are missing, of task 1" || !slices.Equal(s.Unfinished, []int{1}) {
		t.Errorf("merged with %v, %s; unfinished are %v", err, s.Lack(), s.Unfinished)
	}
	if err := runTask(folder, p, 1, "a", cells); err != nil { // the same name, as of a container that starts again
		t.Fatal(err)
	}
	check(0)
	if n := len(databaseFiles(t, folder)); n != 3 {
		t.Errorf("%d databases, want the damaged one and two", n)
	}
}

// A run that is cancelled keeps what it has computed, and the next one computes only the rest.
func TestContinues(t *testing.T) {
	cells := cellsOf(t, 100, "test-slow")
	synctest.Test(t, func(t *testing.T) {
		p, folder := planOf(t, cells, 1), t.TempDir()
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 35500*time.Millisecond)
		defer cancel()
		var told int
		e := run.Engine{Workers: 1, Progress: func(done, _ int) { told = done }}
		if err := Work(ctx, folder, p, 0, "job-9", Job{Spans: cells}, e); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled: %v", err)
		}
		if s, err := ReadStatus(folder, p, Job{Spans: cells}); err != nil || s.Done != 35 || told != 35 {
			t.Errorf("stopped: %+v, %v; told %d", s, err, told)
		}
		if err := runTask(folder, p, 0, "job-10", cells); err != nil {
			t.Fatal(err)
		}
		if time.Since(start) > 70*time.Second {
			t.Errorf("it took %v in all; cells were computed again", time.Since(start))
		}
		if s, err := ReadStatus(folder, p, Job{Spans: cells}); err != nil || s.Unfinished != nil {
			t.Errorf("done: %+v, %v", s, err)
		}
	})
}

func TestWhatCannotBeWorkedOn(t *testing.T) {
	cells := cellsOf(t, 4, "test-longest")
	p, folder := planOf(t, cells, 2), t.TempDir()
	for _, name := range []string{"", ".a", "a/b", `a\b`} {
		if err := runTask(folder, p, 0, name, cells); err == nil {
			t.Errorf("a run is named %q", name)
		}
	}
	if err := runTask(folder, p, 2, "a", cells); err == nil {
		t.Error("there is a task 2 of 2")
	}
	others := []run.Span{{Trial: cells[0].Trial, From: 1, To: 4}}
	changed := func(err error) bool { return err != nil && strings.Contains(err.Error(), "has other cells") }
	if err := runTask(folder, p, 1, "a", others); !changed(err) {
		t.Errorf("other cells: %v", err)
	}
	if _, err := ReadStatus(folder, p, Job{Spans: others}); !changed(err) {
		t.Errorf("other cells to look for: %v", err)
	}
}

// Two runs that disagree are an error that names the later one's database.
func TestConflict(t *testing.T) {
	cells := cellsOf(t, 4, "test-longest")
	p, folder := planOf(t, cells, 1), t.TempDir()
	if err := runTask(folder, p, 0, "a", cells); err != nil {
		t.Fatal(err)
	}
	writeDatabase(t, newFile(folder, 0, "b"), map[store.Series][]store.Row{cells[0].Series: {{Instance: 2, Kind: "failed", Error: "no"}}})
	var conflict *store.ConflictError
	if _, _, err := merged(t, folder, p, cells); !errors.As(err, &conflict) || !strings.Contains(err.Error(), "0000-b.db") {
		t.Errorf("merged: %v", err)
	}
	if err := runTask(folder, p, 0, "c", cells); !errors.As(err, &conflict) {
		t.Errorf("worked on: %v", err)
	}
}
