package leaderboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/track"
)

// Audited is the outcome of an audit.
type Audited struct {
	// Answers counts the answers that were compared with a bound, and Instances their instances.
	Answers, Instances int
	// PassedOver counts results of datasets that have changed or no longer exist.
	PassedOver int
	// NoBound counts results in tracks that do not need bounds, on instances without one.
	NoBound int
	// Left counts the bounds that were not computed before the time was over.
	Left int
}

// tolerance is the relative difference up to which an answer may lie below its bound, for rounding.
const tolerance = 1e-9

// Audit compares every answer in the engine's database with the proven bounds of its instance, in the tracks that
// have some ([track.Track.Audited]). It computes missing bounds first, except in tracks that also rank without bounds
// ([track.Board.Unbounded]). within limits the time for that; 0 means no limit. Bounds that are then missing are left
// to the next audit. The first answer on the wrong side of its bound is the error, a [*BoundError].
func Audit(ctx context.Context, e *run.Engine, models *mig.Catalog, within time.Duration) (found Audited, err error) {
	if err := e.Store.Check(); err != nil {
		return found, err
	}
	all, err := auditedBounds(e.Store, models, &found)
	if err != nil {
		return found, err
	}
	var spans []run.Span
	for _, b := range all {
		if b.board.Unbounded {
			if _, err := b.keepBounded(e.Store); err != nil {
				return found, err
			}
		}
		spans = append(spans, b.spans()...)
	}
	if len(spans) == 0 {
		return found, fmt.Errorf("no results in %s have a bound; compute some with miglab run or miglab reproduce",
			e.Store.Dir())
	}
	computing, cancel := ctx, func() {}
	if within > 0 {
		computing, cancel = context.WithTimeout(ctx, within)
	}
	defer cancel()
	if err := e.Run(computing, spans); err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
		return found, err
	}
	for _, b := range all {
		left, err := b.keepBounded(e.Store)
		if err != nil {
			return found, err
		}
		found.Left += left
		counts := &found
		if b.again {
			counts = &Audited{}
		}
		if err := b.compare(e.Store, counts); err != nil {
			return found, err
		}
	}
	return found, nil
}

// An auditedBound is a bound with the series that it holds for.
type auditedBound struct {
	*run.Trial
	// board has the metrics of the bound and of the answers that are compared with it.
	board track.Board
	// added is the name of the bound; "" if it is the board's.
	added string
	// again means that another bound counts the answers.
	again  bool
	series []store.Series
	// instances holds the instances of all series, ascending.
	instances []int
}

// An auditedKey tells bounds apart.
type auditedKey struct {
	series store.Series
	metric string
}

// auditedBounds returns the bounds of all audited series.
func auditedBounds(db *store.DB, models *mig.Catalog, found *Audited) (out []*auditedBound, err error) {
	known := map[auditedKey]*auditedBound{}
	for _, t := range track.All() {
		if len(t.Audited) == 0 {
			continue
		}
		all, err := db.Series(store.Filter{Track: t.Name})
		if err != nil {
			return nil, err
		}
		for _, s := range all {
			rows, err := db.Rows(s, 0, math.MaxInt)
			if err != nil {
				return nil, err
			}
			added, passedOver, err := addSeries(s, rows, t.Audited, models, known)
			if err != nil {
				return nil, err
			}
			out = append(out, added...)
			found.PassedOver += passedOver
		}
	}
	for _, b := range out {
		slices.Sort(b.instances)
		b.instances = slices.Compact(b.instances)
	}
	return out, nil
}

// addSeries adds a series to its bounds. It returns the bounds that were not known, and the number of results that have
// no bound because the dataset has changed or no longer exists.
func addSeries(
	s store.Series, rows []store.Row, boards []track.Board, models *mig.Catalog, known map[auditedKey]*auditedBound,
) (out []*auditedBound, passedOver int, err error) {
	again := false
	for _, board := range boards {
		var instances []int
		for _, r := range rows {
			_, ok := r.Metrics.Get(board.Metric)
			if ok {
				instances = append(instances, r.Instance)
			}
		}
		if len(instances) == 0 {
			continue
		}
		bounds, err := findBounds(s, board, models, known)
		if err != nil {
			return nil, 0, err
		}
		if bounds == nil && !again {
			passedOver = len(instances)
		}
		for _, b := range bounds {
			if b.series == nil {
				b.again = again || b.added != ""
				out = append(out, b)
			}
			b.series, b.instances = append(b.series, s), append(b.instances, instances...)
		}
		again = true
	}
	return out, passedOver, nil
}

// findBounds returns the bounds of a series, nil if its dataset has changed or no longer exists.
func findBounds(
	s store.Series, board track.Board, models *mig.Catalog, known map[auditedKey]*auditedBound,
) ([]*auditedBound, error) {
	var out []*auditedBound
	if _, err := mig.ParseReconfiguration(s.Model); err != nil {
		return nil, fmt.Errorf("%v: %w", s, err)
	}
	names := []string{""}
	for _, b := range algo.All(board.Bound.Track) {
		if b.Proven && b.Name != board.Bound.Algorithm {
			names = append(names, b.Name)
		}
	}
	for _, added := range names {
		bound := s
		bound.Track, bound.Algorithm = board.Bound.Track, cmp.Or(added, board.Bound.Algorithm)
		trial, err := run.Resolve(models, bound)
		if err != nil || trial.Series.Content != s.Content {
			return nil, nil
		}
		key := auditedKey{trial.Series, board.Metric}
		if known[key] == nil {
			known[key] = &auditedBound{Trial: trial, board: board, added: added}
		}
		out = append(out, known[key])
	}
	return out, nil
}

// keepBounded leaves only the instances whose bound is in the database, and returns how many others there were.
func (b *auditedBound) keepBounded(db *store.DB) (others int, err error) {
	bounded, err := db.Instances(b.Series, 0)
	all := len(b.instances)
	b.instances = slices.DeleteFunc(b.instances, func(i int) bool {
		_, ok := slices.BinarySearch(bounded, i)
		return !ok
	})
	return all - len(b.instances), err
}

// spans returns the instances as spans.
func (b *auditedBound) spans() (out []run.Span) {
	for _, n := range b.instances {
		if last := len(out) - 1; last >= 0 && out[last].To == n {
			out[last].To++
		} else {
			out = append(out, run.Span{Trial: b.Trial, From: n, To: n + 1})
		}
	}
	return out
}

func (b *auditedBound) compare(db *store.DB, found *Audited) error {
	bounds := map[int]float64{}
	for _, span := range b.spans() {
		values, err := span.Values(db, b.board.Bound.Metric)
		if err != nil {
			return err
		}
		for i, v := range values {
			bounds[span.From+i] = v
		}
	}
	found.Instances += len(bounds)
	for _, s := range b.series {
		rows, err := db.Rows(s, 0, math.MaxInt)
		if err != nil {
			return err
		}
		for _, r := range rows {
			value, ok := r.Metrics.Get(b.board.Metric)
			bound, bounded := bounds[r.Instance]
			if ok && !bounded {
				found.NoBound++
			}
			if !ok || !bounded {
				continue
			}
			found.Answers++
			if !b.board.Higher && value < bound*(1-tolerance) || b.board.Higher && value > bound*(1+tolerance) {
				return &BoundError{
					Series: s, Instance: r.Instance, Metric: b.board.Metric, Value: value, Bound: bound, Added: b.added,
				}
			}
		}
	}
	return nil
}
