package run

import (
	"fmt"
	"math"

	"miglab/harness/store"
)

// Results looks up the outcome of cells in all of the store, other shards' included.
type Results struct {
	store *store.DB
}

// Get returns a cell's row and whether there is one. Errors are those of [store.DB.Rows].
func (r Results) Get(c Cell) (store.Row, bool, error) {
	return r.store.Row(c.Stored(c.Version), c.Instance)
}

// Failures counts the cells that ended with an error, by kind. Errors are those of [store.DB.Rows].
func (r Results) Failures(cells []Cell) (map[string]int, error) {
	out := map[string]int{}
	for span := range Spans(cells) {
		own, err := r.store.Failures(span.Stored(), span.From, span.To)
		if err != nil {
			return nil, err
		}
		for kind, n := range own {
			out[kind] += n
		}
	}
	return out, nil
}

// Values returns a metric of instances first to first+n-1 of a series at the
// algorithm's present version. The first cell without it is an error. Other errors are those of
// [Series.Cells] and [store.DB.Rows].
func (r Results) Values(s Series, first, n int, metric string) ([]float64, error) {
	known, points, err := r.part(s, first, n, metric, false)
	if err != nil {
		return nil, err
	}
	out := make([]float64, n)
	for i := range out {
		if i >= len(points) || points[i].Instance != first+i || math.IsNaN(points[i].Value) {
			return nil, r.why(Cell{known.series, known.algorithm.Spec.Version, first + i}, metric)
		}
		out[i] = points[i].Value
	}
	return out, nil
}

// Microseconds returns how long the algorithm took on instances first to
// first+n-1 of a series. It is no result: it differs from run to run, and some may be unknown,
// which are left out. Errors are those of [Results.Values].
func (r Results) Microseconds(s Series, first, n int) ([]float64, error) {
	known, points, err := r.part(s, first, n, "", true)
	if err != nil {
		return nil, err
	}
	out := make([]float64, 0, n)
	for i := range n {
		if i < len(points) && points[i].Instance == first+i && !math.IsNaN(points[i].Micros) {
			out = append(out, points[i].Micros)
		} else if err := r.why(Cell{known.series, known.algorithm.Spec.Version, first + i}, ""); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// part reads a metric, and wall times if timed, of those instances that have a result.
func (r Results) part(s Series, first, n int, metric string, timed bool) (*resolved, []store.Point, error) {
	known, err := resolve(s)
	if err != nil {
		return known, nil, err
	}
	points, err := r.store.Part(known.series.Stored(known.algorithm.Spec.Version), metric, first, n, timed)
	return known, points, err
}

// why says why a cell does not have a metric; nil if it has metrics and none is named.
func (r Results) why(c Cell, metric string) error {
	row, ok, err := r.Get(c)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("%v has no result; it was not run, or belongs to another shard", c)
	case row.Kind != "":
		return fmt.Errorf("%v: %s: %s", c, row.Kind, row.Error)
	case metric != "":
		return fmt.Errorf("%v has no metric %q", c, metric)
	}
	return nil
}
