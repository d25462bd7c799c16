package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/work"
)

// span is instances of a series that is planned and never computed.
func span(s store.Series, from, to int) run.Span {
	s.Track, s.Count, s.Version, s.Model = algo.TrackBatch, 1, 1, "sequential"
	return run.Span{Trial: &run.Trial{Series: s}, From: from, To: to}
}

// Every cell is in one task, all cells of an instance in the same one, and one that is listed twice
// counts once.
func TestEveryCellIsInOneTask(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		spans := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) run.Span {
			dataset := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "dataset")
			gpu, algorithm := rapid.SampledFrom([]string{"A100", "A30"}).Draw(r, "gpu"), rapid.SampledFrom([]string{"x", "y", "z"}).Draw(r, "algorithm")
			from := rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(0, 1_000_000_000)).Draw(r, "instance")
			s := span(store.Series{Dataset: dataset, Content: dataset, GPU: gpu, Algorithm: algorithm}, from, from+rapid.IntRange(2, 5).Draw(r, "cells"))
			s.Split = rapid.SampledFrom([]run.Split{"", "", run.Tune, run.Test}).Draw(r, "half")
			return s
		}), 1, 60).Draw(r, "spans")
		p := New(nil, "", "", Job{Spans: spans}, rapid.IntRange(1, 20).Draw(r, "tasks"))
		type cell struct {
			store.Series
			instance int
		}
		different := map[cell]bool{}
		want := make([]map[store.Series]int, p.Tasks)
		for i := range want {
			want[i] = map[store.Series]int{}
		}
		for _, s := range spans {
			for i := s.From; i < s.To; i++ {
				if c := (cell{s.Series, i}); s.Has(i) && !different[c] {
					different[c] = true
					want[run.ShardOf(s.Series, i, p.Tasks)][s.Series]++
				}
			}
		}
		if got := cellsByTask(spans, p.Tasks); p.Count != len(different) || !reflect.DeepEqual(got, want) {
			r.Fatalf("%d cells, shared as %v; want %d, as %v", p.Count, got, len(different), want)
		}
	})
}

// many are n cells, in series of so many instances.
func many(n, instances int) (out []run.Span) {
	const algorithms = 40
	for s := 0; n > 0; s++ {
		out = append(out, span(store.Series{
			Dataset: fmt.Sprintf("far/MIXEDSCALING+WIDETIMES?n=14&seed=%d", s/algorithms), Content: fmt.Sprintf("%016x", s/algorithms),
			GPU: "A100", Algorithm: fmt.Sprintf("far?budget=%d", s%algorithms),
		}, 0, min(instances, n)))
		n -= instances
	}
	return out
}

// cellsByTask returns how many cells of which series each task has to compute.
func cellsByTask(spans []run.Span, tasks int) []map[store.Series]int {
	out := make([]map[store.Series]int, tasks)
	for task := range out {
		out[task] = map[store.Series]int{}
		for _, share := range sharesOf(spans, tasks) {
			for _, s := range share.series {
				if n := share.cells[task]; n > 0 {
					out[task][s] = n
				}
			}
		}
	}
	return out
}

// Tasks have about as many instances each, and no task has nothing to do where there are many.
func TestTasksAreBalanced(t *testing.T) {
	const instances, tasks = 4000, 8
	for task, of := range cellsByTask(many(instances, instances), tasks) {
		for _, n := range of {
			if share := instances / tasks; n < share*85/100 || n > share*115/100 {
				t.Errorf("task %d has %d of %d instances", task, n, instances)
			}
		}
		if len(of) != 1 {
			t.Errorf("task %d has %d series, want 1", task, len(of))
		}
	}
}

// plans are one of cells and one of units.
func plans(t testing.TB) []*Plan {
	t.Helper()
	ofCells := New([]string{"run", "--algorithms", "far<&>"}, "/home/x", "12", Job{Spans: many(80, 10)}, 9)
	return []*Plan{ofCells, New([]string{"train"}, "/home/x", "12", Job{Units: []work.Unit{{Key: "a 1"}, {Key: "a 2"}, {Key: "b 1"}}}, 2)}
}

func TestPlanIsReadAsWritten(t *testing.T) {
	both := plans(t)
	for _, p := range both {
		folder := filepath.Join(t.TempDir(), "new")
		if err := p.Write(folder); err != nil {
			t.Fatal(err)
		}
		got, err := ReadPlan(folder)
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("read %+v, %v; written %+v", got, err, p)
		}
	}
	if len(both[0].Name()) != 12 || both[0].Name() == both[1].Name() {
		t.Errorf("names %q and %q", both[0].Name(), both[1].Name())
	}
}

func TestBadPlans(t *testing.T) {
	p := plans(t)[0]
	folder := t.TempDir()
	if err := p.Write(folder); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, planFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][3]string{
		{`"format": 5`, `"format": 1`, "format 1"},
		{`"format": 5,`, `"format": 5, "colour": 3,`, `"colour"`},
		{`"count": 80`, `"count": "80"`, planFile + ": line 10: "},
		{`"count": 80,`, `"count": 80,,`, planFile + ": line 10: "},
		{`"count": 80`, `"count": 0`, "9 tasks for 0 cells"},
		{`"tasks": 9`, `"tasks": 0`, "0 tasks"},
		{`"tasks": 9`, `"tasks": 81`, "81 tasks"},
		{p.Hash, p.Hash[1:], "hexadecimal"},
		{"}\n", "} {}\n", "more text after the end"},
	} {
		text := strings.Replace(string(data), bad[0], bad[1], 1)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadPlan(folder); err == nil || !strings.Contains(err.Error(), bad[2]) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s for %s: %v", bad[1], bad[0], err)
		}
	}
	if _, err := ReadPlan(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no plan: %v", err)
	}
}

func TestChangedCommand(t *testing.T) {
	spans := many(100, 10)
	p := planOf(t, spans, 3)
	other, swapped := slices.Clone(spans), slices.Clone(spans)
	newer := spans[5].Series
	newer.Version = 2
	other[5].Trial = &run.Trial{Series: newer}
	slices.Reverse(swapped)
	for i, now := range [][]run.Span{nil, spans[1:], append(slices.Clone(spans), spans[0]), other, swapped} {
		if err := p.checkJob(Job{Spans: now}); err == nil || !strings.Contains(err.Error(), "has other cells than the 100 that were planned") {
			t.Errorf("change %d: %v", i, err)
		}
	}
	if err := p.checkJob(Job{Spans: many(100, 10)}); err != nil {
		t.Error(err)
	}
}

// What is read as a plan can be worked with, and is written as it was read.
func FuzzRead(f *testing.F) {
	for _, p := range plans(f) {
		text, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, planFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := ReadPlan(folder)
		if err != nil {
			return
		}
		if len(p.Name()) != 12 {
			t.Errorf("name %q", p.Name())
		}
		if err := p.Write(folder); err != nil {
			t.Fatal(err)
		}
		if again, err := ReadPlan(folder); err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("read %+v, then %+v, %v", p, again, err)
		}
	})
}
