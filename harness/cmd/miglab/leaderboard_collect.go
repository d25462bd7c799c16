package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unique"

	"miglab/harness/track"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/reports"
)

// A source is an algorithm whose results are bounds for others.
type source struct {
	track     algo.Track
	algorithm string
}

var (
	certified = source{algo.TrackBound, "certified"}
	lBound    = source{algo.TrackBound, "l-bound"}
	optimum   = source{algo.TrackCorun, "exact"}
)

// sources are the metrics that are the bounds.
var sources = map[source]string{certified: track.MetricBound, lBound: track.MetricBound, optimum: track.MetricMakespan}

// board is what datasets of a track are ranked by.
type board struct {
	reports.Metric
	// holds reports whether the board is for a dataset.
	holds func(dataset string) bool
	// bound and published are where an entry's bounds are from; the zero value for none.
	bound, published source
	// unbounded says that datasets of which no instance has a bound are ranked by the
	// metric itself; otherwise they have no board.
	unbounded bool
}

// boards are those of each track. Requests in a steady state are counted once the
// cluster is full, all others from the first.
var boards = func() map[algo.Track][]board {
	all := func(string) bool { return true }
	steady := func(dataset string) bool { return strings.Contains(dataset, "lifespan=steady") }
	bounded := reports.Metric{Name: track.MetricMakespan, Bounded: true}
	makespan := board{Metric: bounded, holds: all, bound: certified, published: lBound}
	return map[algo.Track][]board{
		algo.TrackBatch:  {makespan},
		algo.TrackStream: {makespan},
		algo.TrackPlacement: {
			{Metric: reports.Metric{Name: "acceptance", Higher: true}, holds: func(d string) bool { return !steady(d) }},
			{Metric: reports.Metric{Name: "acceptance_steady", Higher: true}, holds: steady},
		},
		algo.TrackDispatch: {{Metric: reports.Metric{Name: "late_percent"}, holds: all}},
		algo.TrackCorun:    {{Metric: bounded, holds: all, bound: optimum, unbounded: true}},
	}
}()

// boardOf returns the board for a dataset and whether there is one.
func boardOf(t algo.Track, dataset string) (board, bool) {
	for _, b := range boards[t] {
		if b.holds(dataset) {
			return b, true
		}
	}
	return board{}, false
}

// rank ranks the algorithms on every dataset.
func (b board) rank(entries []reports.Entry) ([]reports.Standing, error) {
	bounded := map[string]bool{}
	for _, e := range entries {
		bounded[e.Dataset] = bounded[e.Dataset] || !math.IsNaN(e.Bound)
	}
	var with, without []reports.Entry
	for _, e := range entries {
		if b.unbounded && !bounded[e.Dataset] {
			without = append(without, e)
		} else {
			with = append(with, e)
		}
	}
	standings, err := reports.Leaderboard(with, b.Metric)
	if err != nil {
		return nil, err
	}
	own, err := reports.Leaderboard(without, reports.Metric{Name: b.Name, Higher: b.Higher})
	return append(standings, own...), err
}

// storedCell is the part of a stored cell that a leaderboard reads.
type storedCell struct {
	Track                                            algo.Track
	Dataset, Content, GPU, Algorithm, Weights, Model string
	Count, Version, Instance                         int
}

// Conditions are what all results of a leaderboard have in common.
type conditions struct {
	gpu string
	// gpus and model are zero for tracks that they are no condition of.
	gpus  int
	model string
}

// reconfigures reports whether the number of GPUs and the reconfiguration model are
// conditions of a track's results, rather than of its datasets or of none.
func reconfigures(t algo.Track) bool {
	return t == algo.TrackBatch || t == algo.TrackStream || t == algo.TrackBound
}

// conditionsOf leaves out what is no condition of the track.
func conditionsOf(t algo.Track, gpu string, gpus int, model string) conditions {
	if !reconfigures(t) {
		return conditions{gpu: gpu}
	}
	return conditions{gpu, gpus, model}
}

// A setting is what a leaderboard is of.
type setting struct {
	track algo.Track
	conditions
}

// A problem is what a bound is of.
type problem struct {
	source
	conditions
	dataset, content string
	instance         int
}

type bound struct {
	value   float64
	version int
}

// A result is an entry, whose bounds are not set, with what its algorithm had learned.
type result struct {
	reports.Entry
	weights string
}

// A collector holds the results of a store by the leaderboard that they belong to, so
// that several are made of one reading.
type collector struct {
	results map[setting][]result
	// bounds are the sources'; of several versions the latest counts.
	bounds map[problem]bound
	// weights are those of each algorithm that count: what it has learned now, or, of one
	// that is not there any more, what the last of its results had.
	weights map[string]string
	// contents are what the datasets stand for now, where that can be told.
	contents map[place]string
}

// A place is a dataset on a GPU.
type place struct {
	track        algo.Track
	dataset, gpu string
}

// collect reads a store.
func collect(st *store.Store) (*collector, error) {
	timings, err := st.Timings()
	if err != nil {
		return nil, err
	}
	// There are many results and few names.
	same := func(s string) string { return unique.Make(s).Value() }
	c := &collector{results: map[setting][]result{}, bounds: map[problem]bound{}, weights: map[string]string{}, contents: map[place]string{}}
	present := map[string]*algo.Algorithm{} // nil for one that is not there any more
	for row := range st.Rows() {
		var cell storedCell
		if err := json.Unmarshal([]byte(row.Cell), &cell); err != nil {
			return nil, fmt.Errorf("cell %s: %w", row.Cell, err)
		}
		dataset, content, id := same(cell.Dataset), same(cell.Content), same(cell.Algorithm)
		where := conditionsOf(cell.Track, same(cell.GPU), cell.Count, same(cell.Model))
		if from := (source{cell.Track, id}); sources[from] != "" {
			p := problem{from, where, dataset, content, cell.Instance}
			if v, ok := row.Metrics.Get(sources[from]); ok && cell.Version >= c.bounds[p].version {
				c.bounds[p] = bound{v, cell.Version}
			}
		}
		b, ok := boardOf(cell.Track, dataset)
		if !ok {
			continue
		}
		a, ok := present[id]
		if !ok {
			if found, err := algo.Parse(id); err == nil {
				a = &found
				c.weights[id] = a.Weights()
			}
			present[id] = a
		}
		e := reports.Entry{
			Track: string(cell.Track), Dataset: dataset, GPU: where.gpu, Model: where.model, Algorithm: id, Version: cell.Version,
			Content: content, Instance: cell.Instance, Value: math.NaN(), Micros: math.NaN(),
		}
		if where.gpus > 1 {
			e.GPU = same(fmt.Sprintf("%d x %s", where.gpus, where.gpu))
		}
		if a == nil {
			c.weights[id] = cell.Weights
		} else {
			e.Budget = same(a.Budget())
		}
		here := place{cell.Track, dataset, where.gpu}
		if _, ok := c.contents[here]; !ok && a != nil && a.Spec.Open == nil { // another would be started
			// It is an error where the dataset is unknown by now, or its file is gone.
			now, _ := run.Series{Track: cell.Track, Dataset: dataset, GPU: where.gpu, Count: cell.Count, Algorithm: id}.Canonical()
			c.contents[here] = now.Content
		}
		if v, ok := row.Metrics.Get(b.Name); ok {
			e.Value = v
		}
		if us, ok := timings[row.Key()]; ok {
			e.Micros = float64(us)
		}
		at := setting{cell.Track, where}
		c.results[at] = append(c.results[at], result{e, same(cell.Weights)})
	}
	return c, nil
}

// standings makes the leaderboard of a track, of results that still count: not of those
// from before an algorithm learned other things or a dataset changed. Its errors are those
// of [reports.Leaderboard]; without results that can be ranked it is empty.
func (c *collector) standings(track algo.Track, gpu string, gpus int, model mig.Reconfiguration) ([]reports.Standing, error) {
	at := setting{track, conditionsOf(track, gpu, gpus, model.String())}
	var out []reports.Standing
	for _, b := range boards[track] {
		var entries []reports.Entry
		for _, r := range c.results[at] {
			if !b.holds(r.Dataset) || r.weights != c.weights[r.Algorithm] {
				continue
			}
			if now := c.contents[place{track, r.Dataset, gpu}]; now != "" && now != r.Content {
				continue
			}
			of := func(from source) float64 {
				if found, ok := c.bounds[problem{from, at.conditions, r.Dataset, r.Content, r.Instance}]; ok {
					return found.value
				}
				return math.NaN()
			}
			r.Bound, r.Published = of(b.bound), of(b.published)
			entries = append(entries, r.Entry)
		}
		own, err := b.rank(entries)
		if err != nil {
			return nil, err
		}
		out = append(out, own...)
	}
	return out, nil
}
