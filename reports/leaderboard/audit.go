package leaderboard

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/track"
)

// Audited is the outcome of an audit.
type Audited struct {
	// Answers is how many were compared with the bound of their instance, and Instances the
	// number of those instances.
	Answers, Instances int
	// PassedOver counts results of datasets that have changed or no longer exist.
	PassedOver int
	// NoBound counts results in tracks that do not need bounds, on instances without one.
	NoBound int
}

// tolerance is the relative difference up to which an answer may lie below its bound, for
// rounding.
const tolerance = 1e-9

// Audit compares every answer in the engine's database with the bound of its instance, in the tracks
// that have one ([track.Track.Audited]), and with the other proven bounds of its kind. Bounds that are
// missing are computed first, except in tracks that also rank without bounds ([track.Board.Unbounded]):
// there the bounds in the database count. The first answer on the wrong side of its bound is the error,
// a [*BoundError]. An interrupted audit keeps the bounds it has computed.
func Audit(ctx context.Context, e *run.Engine) (Audited, error) {
	var found Audited
	groups, err := answers(e.Store, &found)
	if err != nil {
		return found, err
	}
	var cells []run.Cell
	for _, g := range groups {
		if err := g.keepBounded(e.Store); err != nil {
			return found, err
		}
		own, err := g.cells()
		if err != nil {
			return found, err
		}
		cells = append(cells, own...)
	}
	if len(cells) == 0 {
		return found, fmt.Errorf("no results in %s have a bound; compute some with miglab run or miglab reproduce",
			e.Store.Dir())
	}
	r, err := e.Run(ctx, cells)
	if err != nil {
		return found, err
	}
	for _, g := range groups {
		counts := &found
		if g.added != "" {
			counts = &Audited{} // its answers are counted with the bound of the board
		}
		if err := g.compare(e.Store, r, counts); err != nil {
			return found, err
		}
	}
	return found, nil
}

// A group is the series that share instances and their bound.
type group struct {
	bound  run.Series
	metric string
	// board has the metric that is compared with the bound.
	board track.Board
	// added is the name of the bound, "" if it is that of the board.
	added  string
	series []store.Series
	// instances are those of all series, ascending.
	instances []int
}

// answers groups the audited series by the series of their bound.
func answers(db *store.DB, found *Audited) ([]*group, error) {
	var groups []*group
	byBound := map[run.Series]*group{}
	for _, t := range track.All() {
		if t.Audited == "" {
			continue
		}
		all, err := db.Series(store.Filter{Track: string(t.Name)})
		if err != nil {
			return nil, err
		}
		for _, s := range all {
			rows, err := db.Rows(s, 0, math.MaxInt)
			if err != nil {
				return nil, err
			}
			rows = slices.DeleteFunc(rows, func(r store.Row) bool {
				_, ok := r.Metrics.Get(t.Audited)
				return !ok
			})
			if len(rows) == 0 {
				continue
			}
			board := t.Boards[slices.IndexFunc(t.Boards, func(b track.Board) bool { return b.Metric == t.Audited })]
			model, err := mig.ParseReconfiguration(s.Model)
			if err != nil {
				return nil, err
			}
			for _, added := range append([]string{""}, provenBounds(board.Bound)...) {
				bound, err := run.Series{
					Track: board.Bound.Track, Dataset: s.Dataset, GPU: s.GPU, Count: s.Count, Model: model,
					Algorithm: cmp.Or(added, board.Bound.Algorithm),
				}.Canonical()
				if err != nil || bound.Content != s.Content { // an error where the dataset no longer exists
					found.PassedOver += len(rows)
					break
				}
				g := byBound[bound]
				if g == nil {
					g = &group{bound: bound, metric: board.Bound.Metric, board: board, added: added}
					byBound[bound] = g
					groups = append(groups, g)
				}
				g.series = append(g.series, s)
				for _, r := range rows {
					g.instances = append(g.instances, r.Instance)
				}
			}
		}
	}
	for _, g := range groups {
		slices.Sort(g.instances)
		g.instances = slices.Compact(g.instances)
	}
	return groups, nil
}

// provenBounds returns the proven bounds of a kind without that of the board.
func provenBounds(of track.Reference) []string {
	var out []string
	for _, s := range algo.All(of.Track) {
		if s.Proven && s.Name != of.Algorithm {
			out = append(out, s.Name)
		}
	}
	return out
}

// keepBounded leaves only the instances whose bound is in the database, where bounds are not needed.
func (g *group) keepBounded(db *store.DB) error {
	if !g.board.Unbounded {
		return nil
	}
	first, err := g.bound.Cells(1)
	if err != nil {
		return err
	}
	all, err := db.Series(store.Filter{
		Track: string(g.bound.Track), GPU: g.bound.GPU, Dataset: g.bound.Dataset, Content: g.bound.Content,
		Algorithm: g.bound.Algorithm, Version: first[0].Version,
	})
	if err != nil {
		return err
	}
	bounded := map[int]bool{}
	for _, s := range all {
		instances, err := db.Instances(s, 0)
		if err != nil {
			return err
		}
		for _, i := range instances {
			bounded[i] = true
		}
	}
	g.instances = slices.DeleteFunc(g.instances, func(i int) bool { return !bounded[i] })
	return nil
}

func (g *group) cells() ([]run.Cell, error) {
	if len(g.instances) == 0 {
		return nil, nil
	}
	all, err := g.bound.Cells(g.instances[len(g.instances)-1] + 1)
	if err != nil {
		return nil, err
	}
	out := make([]run.Cell, len(g.instances))
	for i, n := range g.instances {
		out[i] = all[n]
	}
	return out, nil
}

func (g *group) compare(db *store.DB, r run.Results, found *Audited) error {
	bounds := map[int]float64{}
	cells, err := g.cells()
	if err != nil {
		return err
	}
	for span := range run.Spans(cells) {
		values, err := r.Values(span.Series, span.From, span.To-span.From, g.metric)
		if err != nil {
			return err
		}
		for i, v := range values {
			bounds[span.From+i] = v
		}
	}
	found.Instances += len(bounds)
	for _, s := range g.series {
		rows, err := db.Rows(s, 0, math.MaxInt)
		if err != nil {
			return err
		}
		for _, r := range rows {
			value, ok := r.Metrics.Get(g.board.Metric)
			bound, bounded := bounds[r.Instance]
			if ok && !bounded {
				found.NoBound++
			}
			if !ok || !bounded {
				continue
			}
			found.Answers++
			if !g.board.Higher && value < bound*(1-tolerance) || g.board.Higher && value > bound*(1+tolerance) {
				return &BoundError{
					Series: s, Instance: r.Instance, Metric: g.board.Metric, Value: value, Bound: bound, Added: g.added,
				}
			}
		}
	}
	return nil
}
