// Package leaderboard collects results of the results database and ranks the algorithms of a track on each dataset.
// It also audits: it compares every answer with the proven bound of its instance.
package leaderboard

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/track"
)

// Conditions are what all results of a leaderboard have in common.
type Conditions struct {
	Track *track.Track
	GPU   *mig.GPU
	// Count is the number of GPUs, and Model the reconfiguration model, for tracks with [track.Track.Reconfigures].
	Count int
	Model mig.Reconfiguration
	// RankBy is a metric of the track's boards; "" means the metric of the first board for a dataset.
	RankBy string
	// Datasets lists the datasets to rank; nil means all.
	Datasets []string
	// Algorithms lists the algorithms to rank; nil means all.
	Algorithms []string
}

// filter selects the series of a track under the conditions.
func (c *Conditions) filter(name string) store.Filter {
	f := store.Filter{Track: name, GPU: c.GPU.Name}
	if track.MustLookup(name).Reconfigures {
		f.Count, f.Model = c.Count, c.Model.String()
	}
	return f
}

// Standings ranks the algorithms on every dataset. It leaves out results from before a change of the dataset or of the
// algorithm's weights, and those of a version for which the database has a later one. It returns the errors of the
// database and of ranking, such as a [*BoundError].
func Standings(db *store.DB, c Conditions) ([]Standing, error) {
	boards, err := c.boards(db)
	if err != nil {
		return nil, err
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, b := range boards {
		g.Go(func() error { return b.rank(db) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(boards, func(a, b *board) int {
		return cmp.Or(cmp.Compare(a.contest, b.contest), cmp.Compare(a.place, b.place))
	})
	var out []Standing
	for _, b := range boards {
		out = append(out, b.standings...)
	}
	return out, nil
}

// A board is one dataset with its results, bounds and published values.
type board struct {
	track.Board
	conditions *Conditions
	// contest is the position of the dataset in the contests of the track. Boards of contests come first.
	contest int
	// place orders the other boards: by metric, and for one metric boards with bounds first.
	place int
	// algorithms has the series that count, by algorithm.
	algorithms [][]store.Series
	// bound has the bound's results, by ascending version, and bounds their values.
	bound     []store.Series
	bounds    map[instance]float64
	standings []Standing
}

func (c *Conditions) byDataset(all []store.Series) map[string][]store.Series {
	out := map[string][]store.Series{}
	for _, s := range all {
		if (c.Datasets == nil || slices.Contains(c.Datasets, s.Dataset)) &&
			(c.Algorithms == nil || slices.Contains(c.Algorithms, s.Algorithm)) {
			out[s.Dataset] = append(out[s.Dataset], s)
		}
	}
	return out
}

// boards reads the series of the track and leaves out what no longer counts.
func (c *Conditions) boards(db *store.DB) ([]*board, error) {
	all, err := db.Series(c.filter(c.Track.Name))
	if err != nil {
		return nil, err
	}
	byDataset := c.byDataset(all)
	references := map[track.Reference]map[string][]store.Series{}
	for _, b := range c.Track.Boards {
		if _, ok := references[b.Bound]; ok || b.Bound.Track == "" {
			continue
		}
		if references[b.Bound], err = c.reference(db, b.Bound, ""); err != nil {
			return nil, err
		}
	}
	var out []*board
	for _, dataset := range slices.Sorted(maps.Keys(byDataset)) {
		i := c.Track.BoardOf(datasets.RegimeOf(dataset), c.RankBy)
		if i < 0 {
			continue
		}
		b := &board{Board: c.Track.Boards[i], conditions: c, contest: c.contest(dataset), place: 2 * i}
		if err := b.count(db, byDataset[dataset]); err != nil {
			return nil, err
		}
		if len(b.algorithms) == 0 {
			continue
		}
		b.bound = references[b.Bound][dataset]
		if b.Bound.Algorithm != "" && len(b.bound) == 0 && !b.Unbounded {
			continue // without reading any result
		}
		out = append(out, b)
	}
	return out, nil
}

// contest returns the place of a dataset among those of the track's contests. A dataset that they lack comes last.
func (c *Conditions) contest(dataset string) int {
	n := 0
	for _, contest := range c.Track.Contests {
		if contest.GPU != c.GPU.Name || c.Track.Reconfigures && contest.Model != c.Model {
			continue
		}
		for _, id := range contest.Datasets {
			if d, err := datasets.Parse(id); err == nil && d.ID() == dataset {
				return n
			}
			n++
		}
	}
	return n
}

// reference returns a reference's series on each dataset, or only on a given one, by ascending version.
func (c *Conditions) reference(db *store.DB, r track.Reference, dataset string) (map[string][]store.Series, error) {
	f := c.filter(r.Track)
	f.Algorithm, f.Dataset = r.Algorithm, dataset
	all, err := db.Series(f)
	slices.SortStableFunc(all, func(a, b store.Series) int { return cmp.Compare(a.Version, b.Version) })
	out := map[string][]store.Series{}
	for _, s := range all {
		out[s.Dataset] = append(out[s.Dataset], s)
	}
	return out, err
}

// count sets the series of a dataset that count: of the content that the dataset has now and the weights that the
// algorithm has now, and of each algorithm the latest version. Where the dataset no longer exists every content
// counts, and where an algorithm no longer exists the weights that ran last.
func (b *board) count(db *store.DB, all []store.Series) (err error) {
	// An error is taken for a dataset that no longer exists: its results are still ranked.
	content, _ := run.Content(b.conditions.Track, all[0].Dataset, b.conditions.GPU)
	byAlgorithm := map[string][]store.Series{}
	for _, s := range all {
		if content == "" || s.Content == content {
			byAlgorithm[s.Algorithm] = append(byAlgorithm[s.Algorithm], s)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(byAlgorithm)) {
		own := byAlgorithm[id]
		if a, failed := algo.Parse(id); failed == nil {
			own = newestVersion(withWeights(own, a.Weights()))
		} else if own, err = lastRun(db, newestVersion(own)); err != nil {
			return err
		}
		if len(own) > 0 {
			b.algorithms = append(b.algorithms, own)
		}
	}
	return nil
}

// rank reads the results of the board's dataset and ranks the algorithms.
func (b *board) rank(db *store.DB) (err error) {
	defer func() { b.bounds = nil }() // the bounds of all boards take much memory
	if b.bounds, err = valuesByInstance(db, b.bound, b.Bound.Metric); err != nil {
		return err
	}
	contenders, err := b.contenders(db, comparedEnd(b.bounds))
	if err != nil || len(contenders) == 0 {
		return err
	}
	bounded := slices.ContainsFunc(contenders, (*contender).hasBounds)
	if b.Bound.Algorithm != "" && !bounded {
		if !b.Unbounded {
			return nil
		}
		b.place++
		b.bounds = nil // none is of these instances, so that all of them are compared, by the metric's value
		if contenders, err = b.contenders(db, math.MaxInt); err != nil {
			return err
		}
	}
	metric := Metric{Name: b.Metric, Higher: b.Higher, Bounded: bounded, Aside: b.Aside, Idle: b.idle(contenders)}
	b.standings, err = rankContenders(contenders, metric)
	if err != nil {
		return fmt.Errorf("%s: %w", contenders[0].series.Dataset, err)
	}
	return nil
}

// contenders reads the results of the board. Those from end on come without metrics.
func (b *board) contenders(db *store.DB, end int) (out []*contender, err error) {
	assumes := datasets.Assumed(b.algorithms[0][0].Dataset)
	for _, own := range b.algorithms {
		c, err := b.contender(db, own, end)
		if err != nil {
			return nil, err
		}
		c.standing.Assumes = assumes
		if len(c.entries) > 0 {
			out = append(out, c)
		}
	}
	return out, nil
}

func (b *board) contender(db *store.DB, own []store.Series, end int) (*contender, error) {
	c := newContender(own[0])
	c.load = make([][]float64, len(b.Load))
	if a, err := algo.Parse(own[0].Algorithm); err == nil {
		c.standing.Budget = a.Budget()
	}
	for _, s := range own {
		rows, err := readRows(db, s, end)
		if err != nil {
			return nil, err
		}
		c.entries = slices.Grow(c.entries, len(rows))
		for _, r := range rows {
			at := instance{s.Content, r.Instance}
			for i, least := range b.Load {
				if v, ok := r.Metrics.Get(least.Metric); ok {
					c.load[i] = append(c.load[i], v)
				}
			}
			bound, known := b.bounds[at]
			c.entries = append(c.entries, entry{
				instance: at, value: orNaN(r.Metrics.Get(b.Metric)), aside: orNaN(r.Metrics.Get(b.Aside)),
				bound: orNaN(bound, known), micros: cmp.Or(r.Micros, math.NaN()),
			})
		}
	}
	return c, nil
}

// idle reports whether no algorithm shows that the dataset loads the cluster.
func (b *board) idle(contenders []*contender) bool {
	return len(b.Load) > 0 && !slices.ContainsFunc(contenders, func(c *contender) bool {
		for i, least := range b.Load {
			if !(mean(c.load[i]) >= least.Value) {
				return false
			}
		}
		return true
	})
}

func (c *contender) hasBounds() bool {
	return slices.ContainsFunc(c.entries, func(e entry) bool { return !math.IsNaN(e.bound) })
}

// comparedEnd returns the number after the last instance with a bound, from which on no instance can be compared. It is
// [math.MaxInt] if bounds are missing.
func comparedEnd(bounds map[instance]float64) (end int) {
	for at := range bounds {
		end = max(end, at.number+1)
	}
	return cmp.Or(end, math.MaxInt)
}

// readRows reads the rows of a series before end. The rows from there on, which are only counted, have their numbers
// alone.
func readRows(db *store.DB, of store.Series, end int) ([]store.Row, error) {
	rows, err := db.Rows(of, 0, end)
	if err != nil || end == math.MaxInt {
		return rows, err
	}
	others, err := db.Instances(of, end)
	for _, n := range others {
		rows = append(rows, store.Row{Instance: n})
	}
	return rows, err
}

// valuesByInstance reads a metric of several series by instance. If an instance has several values, the last counts.
func valuesByInstance(db *store.DB, all []store.Series, metric string) (map[instance]float64, error) {
	out := map[instance]float64{}
	for _, s := range all {
		rows, err := db.Rows(s, 0, math.MaxInt)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if v, ok := r.Metrics.Get(metric); ok {
				out[instance{s.Content, r.Instance}] = v
			}
		}
	}
	return out, nil
}

// orNaN returns v if it is known, else NaN.
func orNaN(v float64, known bool) float64 {
	if !known {
		return math.NaN()
	}
	return v
}
