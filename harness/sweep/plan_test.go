package sweep

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"miglab/harness/algo"
	"miglab/harness/run"
)

func unknown(run.Series) (float64, bool) { return 0, false }

// drawn are cells of any kind, some of them twice; they are planned and never computed.
func drawn(r *rapid.T) []run.Cell {
	cells := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) run.Cell {
		dataset := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "dataset")
		return run.Cell{
			Series: run.Series{
				Track: algo.TrackBatch, Dataset: dataset, Content: dataset, GPU: rapid.SampledFrom([]string{"A100", "A30"}).Draw(r, "gpu"),
				Count: 1, Algorithm: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(r, "algorithm"),
			},
			Version: 1, Instance: rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(0, 1_000_000_000)).Draw(r, "instance"),
		}
	}), 1, 60).Draw(r, "cells")
	return append(cells, cells[:rapid.IntRange(0, len(cells)).Draw(r, "twice")]...)
}

type where struct {
	group    run.Group
	instance int
}

func whereOf(c *run.Cell) where { return where{c.Group(), c.Instance} }

func TestEveryCellIsInOneTask(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		cells := drawn(r)
		tasks := rapid.IntRange(1, 20).Draw(r, "tasks")
		costs := map[string]float64{}
		for _, a := range []string{"x", "y", "z"} {
			costs[a] = rapid.Float64Range(0.001, 1e6).Draw(r, "cost of "+a)
		}
		if rapid.Bool().Draw(r, "z is unknown") {
			delete(costs, "z")
		}
		micros := func(s run.Series) (float64, bool) {
			us, ok := costs[s.Algorithm]
			return us, ok
		}
		p, err := New([]string{"run"}, "/home", "1234", cells, micros, tasks)
		if err != nil {
			r.Fatal(err)
		}
		if again, err := New([]string{"run"}, "/home", "1234", cells, micros, tasks); err != nil || !reflect.DeepEqual(p, again) {
			r.Fatalf("the same arguments give %+v and %+v, %v", p, again, err)
		}
		if err := p.check(); err != nil {
			r.Fatal(err)
		}

		task := map[where]int{}
		times := map[run.Cell]int{}
		for i := range p.Tasks {
			own, err := p.Of(i, cells)
			if err != nil {
				r.Fatal(err)
			}
			if len(own) == 0 {
				r.Fatalf("task %d of %d has no cells", i, len(p.Tasks))
			}
			for _, c := range own {
				times[c]++
				w := whereOf(&c)
				if have, ok := task[w]; ok && have != i {
					r.Fatalf("tasks %d and %d have cells of %v", have, i, w)
				}
				task[w] = i
			}
		}
		listed := map[run.Cell]int{}
		for _, c := range cells {
			listed[c]++
		}
		if !reflect.DeepEqual(times, listed) {
			r.Fatalf("tasks have %v, and listed were %v", times, listed)
		}
		if want := min(tasks, len(task)); len(p.Tasks) != want || p.Count != len(listed) {
			r.Fatalf("%d tasks of %d cells, want %d of %d", len(p.Tasks), p.Count, want, len(listed))
		}

		// No task costs more than its share and the largest instance; where unknown series
		// cost the mean over the times that they are listed, the costs are the plan's.
		if len(costs) < 3 {
			return
		}
		instance, load := map[where]float64{}, make([]float64, len(p.Tasks))
		total, largest := 0.0, 0.0
		for c := range listed {
			us := costs[c.Algorithm]
			instance[whereOf(&c)] += us
			load[task[whereOf(&c)]] += us
			total += us
		}
		for _, us := range instance {
			largest = max(largest, us)
		}
		share := total / float64(len(p.Tasks))
		for i, us := range load {
			if us > (share+largest)*(1+1e-9) {
				r.Fatalf("task %d costs %v; its share is %v and the largest instance %v", i, us, share, largest)
			}
		}
		sum := 0.0
		for _, g := range p.Groups {
			sum += g.Micros * float64(g.Instances)
		}
		if math.Abs(sum-total) > 1e-9*total {
			r.Fatalf("the groups cost %v and the cells %v", sum, total)
		}
	})
}

// many are n cells, in series of so many instances.
func many(n, instances int) []run.Cell {
	cells := make([]run.Cell, 0, n)
	const algorithms = 40
	for s := 0; len(cells) < n; s++ {
		dataset := fmt.Sprintf("far/MIXEDSCALING+WIDETIMES?n=14&seed=%d", s/algorithms)
		series := run.Series{
			Track: algo.TrackBatch, Dataset: dataset, Content: fmt.Sprintf("%016x", s/algorithms), GPU: "A100", Count: 1,
			Algorithm: fmt.Sprintf("far?budget=%d", s%algorithms),
		}
		for i := range min(instances, n-len(cells)) {
			cells = append(cells, run.Cell{Series: series, Version: 1, Instance: i})
		}
	}
	return cells
}

func known(s run.Series) (float64, bool) { return float64(len(s.Algorithm)), true }

func TestTasksAreBalanced(t *testing.T) {
	cells := many(40_000, 100)
	p, err := New(nil, "", "", cells, func(s run.Series) (float64, bool) {
		us, ok := map[string]float64{"far?budget=0": 1000, "far?budget=1": 10}[s.Algorithm]
		return us, ok
	}, 7)
	if err != nil {
		t.Fatal(err)
	}
	// The others cost the mean, 505.
	const instance = 1000 + 10 + 38*505
	if got := p.Groups[0].Micros; got != instance {
		t.Errorf("an instance costs %v, want %d", got, instance)
	}
	for i, task := range p.Tasks {
		n := 0
		for _, r := range task {
			n += r.To - r.From
		}
		if n < 142 || n > 143 {
			t.Errorf("task %d has %d of 1000 instances", i, n)
		}
	}
}

// An instance that costs more than several shares leaves something for every task.
func TestOneLargeInstance(t *testing.T) {
	cells := many(10, 10)
	for i := range cells {
		cells[i].Algorithm = fmt.Sprint("a", i)
	}
	for large := range cells {
		p, err := New(nil, "", "", cells, func(s run.Series) (float64, bool) {
			if s.Algorithm == cells[large].Algorithm {
				return 1e9, true
			}
			return 1, true
		}, 5)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Tasks) != 5 || p.check() != nil {
			t.Errorf("instance %d is large: %v, %v", large, p.Tasks, p.check())
		}
	}
}

// What planning allocates grows as the cells do.
func TestPlanningIsLinear(t *testing.T) {
	allocated := func(cells []run.Cell) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := New(nil, "", "", cells, known, 100)
		runtime.ReadMemStats(&after)
		if err != nil || p.Count != len(cells) {
			t.Fatal(p, err)
		}
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(len(cells))
	}
	for _, instances := range []int{4, 1000} {
		small, large := allocated(many(10_000, instances)), allocated(many(100_000, instances))
		if large > 100 || large > 1.5*small {
			t.Errorf("series of %d: %.0f bytes a cell for 10,000 cells, %.0f for 100,000", instances, small, large)
		}
	}
}

func TestWhatCannotBePlanned(t *testing.T) {
	if _, err := New(nil, "", "", nil, unknown, 1); err == nil {
		t.Error("planned no cells")
	}
	if _, err := New(nil, "", "", many(1, 1), unknown, 0); err == nil {
		t.Error("planned for no tasks")
	}
	if _, err := NewUnits(nil, "", "", nil, nil, 1); err == nil {
		t.Error("planned no units")
	}
}

func TestPlanIsReadAsWritten(t *testing.T) {
	cells := many(1000, 10)
	ofCells, err := New([]string{"run", "--algorithms", "far<&>"}, "/home/x", "12", cells, known, 9)
	if err != nil {
		t.Fatal(err)
	}
	ofUnits, err := NewUnits([]string{"train"}, "/home/x", "12", []string{"a 1", "a 2", "b 1"}, []float64{1, 1, 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*Plan{ofCells, ofUnits} {
		folder := filepath.Join(t.TempDir(), "new")
		if err := p.Write(folder); err != nil {
			t.Fatal(err)
		}
		got, err := Read(folder)
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("read %+v, %v; written %+v", got, err, p)
		}
	}
	if len(ofCells.Name()) != 12 || ofCells.Name() == ofUnits.Name() {
		t.Errorf("names %q and %q", ofCells.Name(), ofUnits.Name())
	}
}

func TestBadPlans(t *testing.T) {
	p, err := New([]string{"run"}, "/home/x", "12", many(80, 2), known, 1)
	if err != nil {
		t.Fatal(err)
	}
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
		{`"format": 2`, `"format": 1`, "format 1"},
		{`"format": 2,`, `"format": 2, "colour": 3,`, `"colour"`},
		{`"count": 80`, `"count": "80"`, planFile + ":8: "},
		{`"count": 80,`, `"count": 80,,`, planFile + ":8: "},
		{`"count": 80`, `"count": 0`, "0 cells"},
		{p.Hash, p.Hash[1:], "hexadecimal"},
		{`"to": 2`, `"to": 0`, "group 0"},
		{`"from": 0`, `"from": -1`, "group 0"},
		{`"group": 0`, `"group": 1`, "group 1"},
		{"}\n", "} {}\n", "more text after the end"},
	} {
		text := strings.Replace(string(data), bad[0], bad[1], 1)
		if bad[0] == "}\n" {
			text = string(data) + "{}"
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), bad[2]) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s for %s: %v", bad[1], bad[0], err)
		}
	}
	if _, err := Read(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no plan: %v", err)
	}
}

func TestChangedCommand(t *testing.T) {
	cells := many(100, 10)
	p, err := New([]string{"run"}, "", "", cells, known, 3)
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(cells)
	other[50].Version = 2
	swapped := slices.Clone(cells)
	slices.SortFunc(swapped, func(a, b run.Cell) int { return cmp.Compare(b.Instance, a.Instance) })
	for _, now := range [][]run.Cell{nil, cells[1:], append(slices.Clone(cells), cells[0]), other, swapped} {
		want := fmt.Sprintf("stands for other cells than when the sweep was planned (100 then, %d now", len(now))
		if _, err := p.Of(0, now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d cells: %v", len(now), err)
		}
	}
	for _, task := range []int{-1, 3} {
		if _, err := p.Of(task, cells); err == nil {
			t.Errorf("there is a task %d", task)
		}
	}
	p.Tasks[1] = p.Tasks[1][1:]
	if _, err := p.Of(0, cells); err == nil || !strings.Contains(err.Error(), "by hand") {
		t.Errorf("a plan that lost a range: %v", err)
	}
}

// What is read as a plan can be worked with, and is written as it was read.
func FuzzRead(f *testing.F) {
	for _, tasks := range []int{1, 3} {
		p, err := New([]string{"run"}, "/", "12", many(200, 3), known, tasks)
		if err != nil {
			f.Fatal(err)
		}
		units, err := NewUnits([]string{"train"}, "/", "12", []string{"a", "b", "c"}, []float64{1, 1, 1}, tasks)
		if err != nil {
			f.Fatal(err)
		}
		for _, p := range []*Plan{p, units} {
			text, err := json.Marshal(p)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, planFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := Read(folder)
		if err != nil {
			return
		}
		if s, err := Look(folder, p, nil, time.Time{}); p.Units != nil && (err != nil || s.Done != 0) {
			t.Errorf("%+v, %v", s, err)
		}
		if len(p.Name()) != 12 {
			t.Errorf("name %q", p.Name())
		}
		if err := p.Write(folder); err != nil {
			t.Fatal(err)
		}
		if again, err := Read(folder); err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("read %+v, then %+v, %v", p, again, err)
		}
	})
}
