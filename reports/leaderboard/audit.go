package leaderboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"time"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/stats"
	"miglab/harness/store"
	"miglab/harness/track"
)

// An Outcome is the outcome of an audit.
type Outcome struct {
	// Answers counts the answers that were compared with a bound, and Instances their instances.
	Answers, Instances int
	// PassedOver counts results of datasets that have changed or no longer exist, at least for the GPU.
	PassedOver int
	// NoBound counts the results on instances without a bound, of boards that also rank without bounds
	// ([track.Board.Unbounded]).
	NoBound int
	// Left counts the bounds that were not computed before the time was over.
	Left int
}

// Audit compares every answer in the engine's database with the proven bounds of its instance, for all audited boards
// ([track.Track.Audited]). It computes missing bounds first, except of boards that also rank without bounds
// ([track.Board.Unbounded]). within limits the time for that; 0 means no limit. Bounds that are then missing are left
// to the next audit. The first answer on the wrong side of its bound is a [*BoundError]. Audit returns an error if it
// compared no answer and leaves no bound; other errors are those of the engine, the database and datasets.
func Audit(ctx context.Context, e *run.Engine, models *mig.Catalog, within time.Duration) (found Outcome, err error) {
	if err := e.Store.Check(); err != nil {
		return found, err
	}
	a := auditor{models: models, bounds: map[boundKey]*auditedBound{}}
	if err := a.addAll(e.Store); err != nil {
		return found, err
	}
	found.PassedOver = a.passedOver
	var spans []run.Span
	for _, b := range a.ordered {
		if b.board.Unbounded {
			if _, err := b.keepBounded(e.Store); err != nil {
				return found, err
			}
		}
		spans = append(spans, b.spans()...)
	}
	computing, cancel := ctx, func() {}
	if within > 0 {
		computing, cancel = context.WithTimeout(ctx, within)
	}
	defer cancel()
	if err := e.Run(computing, spans); err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
		return found, err
	}
	instances := map[auditedInstance]bool{}
	for _, b := range a.ordered {
		left, err := b.keepBounded(e.Store)
		if err != nil {
			return found, err
		}
		found.Left += left
		if err := b.compare(e.Store, &found, instances); err != nil {
			return found, err
		}
	}
	found.Instances = len(instances)
	if found.Answers+found.Left > 0 {
		return found, nil
	}
	without := "compute some with miglab run or miglab reproduce"
	if found.PassedOver+found.NoBound > 0 {
		without = fmt.Sprintf("%d are of datasets that have changed or no longer exist, and %d on instances without "+
			"one", found.PassedOver, found.NoBound)
	}
	return found, fmt.Errorf("no results in %s have a bound; %s", e.Store.Dir(), without)
}

// An auditedBound is a bound with the series that it holds for. An answer is counted with the board's own bound of the
// first board that has its metric.
type auditedBound struct {
	*run.Trial
	// board has the metrics of the bound and of the answers that are compared with it.
	board track.Board
	// added is the name of a proven bound other than the board's own; "" is the board's own.
	added  string
	series []auditedSeries
	// instances holds the instances of all series, ascending.
	instances []int
}

// An auditedSeries is a series whose answers are compared with a bound.
type auditedSeries struct {
	store.Series
	// countedElsewhere means that its answers are counted with another bound.
	countedElsewhere bool
}

// An auditedInstance tells instances apart by the conditions of their bound: a series without track and algorithm.
type auditedInstance struct {
	series   store.Series
	instance int
}

// A boundKey tells bounds apart.
type boundKey struct {
	series store.Series
	metric string
}

// An auditor collects the bounds of series.
type auditor struct {
	models *mig.Catalog
	bounds map[boundKey]*auditedBound
	// ordered holds the bounds in the order in which their first series was added.
	ordered []*auditedBound
	// passedOver counts the results of datasets that have changed or no longer exist.
	passedOver int
}

// addAll adds the series of all audited tracks.
func (a *auditor) addAll(db *store.DB) error {
	for _, t := range track.All() {
		if len(t.Audited) == 0 {
			continue
		}
		all, err := db.Series(store.Filter{Track: t.Name})
		if err != nil {
			return err
		}
		for _, s := range all {
			rows, err := db.Rows(s, 0, math.MaxInt)
			if err != nil {
				return err
			}
			if err := a.add(s, rows, t.Audited); err != nil {
				return err
			}
		}
	}
	for _, b := range a.ordered {
		slices.Sort(b.instances)
		b.instances = slices.Compact(b.instances)
	}
	return nil
}

// add adds a series to the bounds of each board whose metric it has. Only the first such board counts its answers.
func (a *auditor) add(s store.Series, rows []store.Row, boards []track.Board) error {
	counted := false
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
		bounds, err := a.find(s, board)
		if err != nil {
			return err
		}
		if bounds == nil && !counted {
			a.passedOver += len(instances)
		}
		for _, b := range bounds {
			if b.series == nil {
				a.ordered = append(a.ordered, b)
			}
			b.series = append(b.series, auditedSeries{s, counted || b.added != ""})
			b.instances = append(b.instances, instances...)
		}
		counted = true
	}
	return nil
}

// find returns the bounds of a board on a series: the board's own and all other proven ones. It returns nil, nil if the
// dataset of the series has changed or no longer exists for the GPU. A dataset that cannot be read is an error.
func (a *auditor) find(s store.Series, board track.Board) (bounds []*auditedBound, err error) {
	if _, err := mig.ParseReconfiguration(s.Model); err != nil {
		return nil, fmt.Errorf("%v: %w", s, err)
	}
	gpu, err := a.models.Lookup(s.GPU)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", s, err)
	}
	content, err := run.Content(track.MustLookup(board.Bound.Track), s.Dataset, gpu)
	switch {
	case err != nil && !isGone(s.Dataset, err):
		return nil, fmt.Errorf("%v: %w", s, err)
	case err != nil || content != s.Content:
		return nil, nil
	}
	added := []string{""}
	for _, b := range algo.All(board.Bound.Track) {
		if b.Proven && b.Name != board.Bound.Algorithm {
			added = append(added, b.Name)
		}
	}
	for _, name := range added {
		bound := s
		bound.Track, bound.Algorithm = board.Bound.Track, cmp.Or(name, board.Bound.Algorithm)
		trial, err := run.Resolve(a.models, bound)
		if err != nil {
			return nil, fmt.Errorf("bound of %v: %w", s, err)
		}
		key := boundKey{trial.Series, board.Metric}
		if a.bounds[key] == nil {
			a.bounds[key] = &auditedBound{Trial: trial, board: board, added: name}
		}
		bounds = append(bounds, a.bounds[key])
	}
	return bounds, nil
}

// isGone reports whether an error of [run.Content] means that the dataset no longer exists, at least for the GPU: its
// name or parameters are unknown, its file is missing, it has no first instance, or it was not measured on the GPU.
func isGone(dataset string, err error) bool {
	_, unknown := datasets.Parse(dataset)
	_, empty := errors.AsType[*datasets.IndexError](err)
	_, unmeasured := errors.AsType[*datasets.UnmeasuredError](err)
	return unknown != nil || empty || unmeasured || errors.Is(err, fs.ErrNotExist)
}

// keepBounded keeps the instances whose bound is in the database, and returns how many others there were.
func (b *auditedBound) keepBounded(db *store.DB) (others int, err error) {
	bounded, err := db.Instances(b.Series, 0)
	all := len(b.instances)
	b.instances = slices.DeleteFunc(b.instances, func(i int) bool {
		_, ok := slices.BinarySearch(bounded, i)
		return !ok
	})
	return all - len(b.instances), err
}

// spans returns the instances as runs of consecutive numbers.
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

// compare compares the answers on the instances with their bounds, counts them and marks the instances of those that it
// counts. The first answer on the wrong side is a [*BoundError]; other errors are those of the database.
func (b *auditedBound) compare(db *store.DB, found *Outcome, instances map[auditedInstance]bool) error {
	values := map[int]float64{} // the bounds by instance
	for _, span := range b.spans() {
		own, err := span.Values(db, b.board.Bound.Metric)
		if err != nil {
			return err
		}
		for i, v := range own {
			values[span.From+i] = v
		}
	}
	conditions := b.Series
	conditions.Track, conditions.Algorithm, conditions.Version, conditions.Weights = "", "", 0, ""
	for _, s := range b.series {
		rows, err := db.Rows(s.Series, 0, math.MaxInt)
		if err != nil {
			return err
		}
		for _, r := range rows {
			value, ok := r.Metrics.Get(b.board.Metric)
			bound, bounded := values[r.Instance]
			if ok && !bounded && b.board.Unbounded && !s.countedElsewhere {
				found.NoBound++
			}
			if !ok || !bounded {
				continue
			}
			if !s.countedElsewhere {
				found.Answers++
				instances[auditedInstance{conditions, r.Instance}] = true
			}
			if !b.board.Higher && value < bound*(1-stats.RoundingError) ||
				b.board.Higher && value > bound*(1+stats.RoundingError) {
				return &BoundError{
					Series: s.Series, Instance: r.Instance, Metric: b.board.Metric, Value: value, Bound: bound,
					Added: b.added,
				}
			}
		}
	}
	return nil
}
