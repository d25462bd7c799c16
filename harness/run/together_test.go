package run

import (
	"slices"
	"sync/atomic"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/sim"
	"miglab/harness/store"
	"miglab/harness/track"
)

// together is a dispatcher that takes the last free slice and counts how it is called.
type together struct{ fails func(q *sim.Queue) bool }

// alone counts decisions for one day, and side the most days in one call.
var alone, side atomic.Int64

func (d together) Dispatch(q *sim.Queue) int {
	alone.Add(1)
	return d.choose(q)
}

func (d together) DispatchAll(queues []*sim.Queue, choices []int) {
	side.Store(max(side.Load(), int64(len(queues))))
	for i, q := range queues {
		if choices[i] = d.choose(q); q.Free() < 2 {
			panic("a decision without a choice")
		}
	}
}

func (d together) choose(q *sim.Queue) int {
	if d.fails(q) {
		return -1
	}
	for i, s := range slices.Backward(q.Slices()) {
		if !s.Busy {
			return i
		}
	}
	panic("no slice is free")
}

// rare is true at some instants with a choice of some days.
func rare(q *sim.Queue) bool { return q.Free() > 1 && int(q.Now()*1e6)%3001 == 0 }

func init() {
	never := func(*sim.Queue) bool { return false }
	for name, fails := range map[string]func(*sim.Queue) bool{
		"test-apart":          never,
		"test-together":       never,
		"test-together-wrong": rare,
		"test-together-panic": func(q *sim.Queue) bool {
			if rare(q) {
				panic("an unlucky instant")
			}
			return false
		},
	} {
		n := 4
		if name == "test-apart" {
			n = 0
		}
		algo.Register(algo.Spec{
			Name: name, Version: 1, Together: n,
			New: algo.NewDispatcher(func(algo.Args, sim.DispatchSetting) (sim.Dispatcher, error) { return together{fails}, nil }),
		})
	}
}

func togetherCells(t *testing.T, n int) (all []Span) {
	for _, a := range []string{"test-together", "test-together-wrong", "test-apart", "test-together-panic"} {
		all = append(all, cellsOf(t, store.Series{Track: algo.TrackDispatch, Dataset: "deadline/relaxed", GPU: "A100", Algorithm: a}, n))
	}
	return all
}

// Instances solved together have the results of those solved alone, error rows included.
func TestTogetherDoesNotShow(t *testing.T) {
	const n = 22
	cells := togetherCells(t, n)
	dir, apart := t.TempDir(), t.TempDir()
	side.Store(0)
	before := alone.Load()
	db := mustRun(t, Engine{Store: open(t, dir), Workers: 2}, cells...)
	if side.Load() != 4 {
		t.Errorf("at most %d days side by side, want 4", side.Load())
	}
	failed := map[string]int{}
	for _, s := range cells {
		for i := range n {
			failed[s.Series.Algorithm+" "+get(t, db, s, i).Kind]++
		}
	}
	for _, name := range []string{"test-together-wrong " + KindInvalid, "test-together-panic " + store.KindPanic} {
		if failed[name] == 0 || failed[name] == n {
			t.Errorf("%d of %d instances are %s, want some", failed[name], n, name)
		}
	}
	if v, err := cells[0].Values(db, "late_percent"); err != nil || len(v) != n {
		t.Errorf("values %v, %v", v, err)
	}

	side.Store(0)
	e := Engine{Store: open(t, apart)}
	for i := range n {
		var one []Span
		for _, s := range cells {
			one = append(one, Span{Trial: s.Trial, From: i, To: i + 1})
		}
		mustRun(t, e, one...)
	}
	if side.Load() != 0 || alone.Load() == before {
		t.Errorf("%d days side by side, %d decisions alone, want none and some", side.Load(), alone.Load()-before)
	}
	if export(t, dir) != export(t, apart) {
		t.Error("instances solved together and alone export different bytes")
	}
}

// Parts have consecutive jobs with the same series, and every worker has one.
func TestSplit(t *testing.T) {
	batched := &planned{Trial: &Trial{track: track.Dispatch, algorithm: algo.MustParse("test-together")}}
	single := &planned{Trial: &Trial{track: track.Dispatch, algorithm: algo.MustParse("test-apart")}}
	var jobs []job
	for i := range 11 {
		jobs = append(jobs, job{i, []*planned{single, batched}})
	}
	for i := range 3 {
		jobs = append(jobs, job{11 + i, []*planned{single}})
	}
	for workers, want := range map[int][]int{
		1: {4, 4, 3, 1, 1, 1}, 2: {4, 4, 3, 1, 1, 1}, 7: {2, 2, 2, 2, 2, 1, 1, 1, 1}, 20: {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
	} {
		var got []int
		next := 0
		for _, part := range splitJobs(jobs, workers) {
			got = append(got, len(part))
			for _, j := range part {
				if j.instance != next {
					t.Errorf("%d workers: instance %d, want %d", workers, j.instance, next)
				}
				next++
			}
		}
		if !slices.Equal(got, want) || next != len(jobs) {
			t.Errorf("%d workers: parts of %v, want %v", workers, got, want)
		}
	}
}
