package figures

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"gonum.org/v1/gonum/floats"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/schedule"
	"miglab/harness/stats"
	"miglab/harness/store"
	"miglab/harness/track"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// Data gives an artefact's Build the results of the cells that it asks for, and takes its output.
//
// Build runs twice. The first time Data is a plan: it notes the cells and returns ones. The second time it
// returns results. A cell that is asked for only the second time is an error.
//
// Data keeps the first error, like a [bufio.Writer], so that Build does not check each call. After an error, values are
// ones, schedules are empty, and Build's output is discarded.
type Data struct {
	Output
	Scale    Scale
	Claims   *claim.Set           // of the paper
	Title    string               // of the artefact
	Hardware datasets.HardwareSet // measurements on GPUs
	// TrainingRun says what a training run of the paper's agents costs.
	TrainingRun string
	// DefaultAlone allows Build to leave out all readings but the first one.
	DefaultAlone bool

	artefact string     // the name
	others   []Artefact // all artefacts of the paper
	planning bool
	needs    needs
	ctx      context.Context // nil while planning
	db       *store.DB       // nil while planning
	values   map[valuesKey][]float64
	err      error
}

// A valuesKey names the values that [Data.Span] has read.
type valuesKey struct {
	series   store.Series
	first, n int
	metric   string
}

// A need is instances From to To-1 of a series.
type need struct {
	store.Series
	From, To int
	// trial is the resolved series; nil until [needs.cells].
	trial *run.Trial
}

// needs are the cells of an artefact: a span of instances of each series.
type needs struct {
	list []*need
	at   map[store.Series]*need
}

// cells resolves the series and returns their cells.
func (ns *needs) cells() (out []run.Span, err error) {
	models := new(mig.Catalog)
	for _, n := range ns.list {
		if n.trial, err = run.Resolve(models, n.Series); err != nil {
			return nil, err
		}
		span, err := n.trial.Span(n.From, n.To)
		if err != nil {
			return nil, err
		}
		out = append(out, span)
	}
	return out, nil
}

// Planning reports whether Build runs for the first time: all numbers are ones, and it may skip what is expensive.
func (d *Data) Planning() bool { return d.planning }

// Err returns the first error.
func (d *Data) Err() error { return d.err }

// Fail keeps the first error. While planning, numbers are not real, and neither are errors about them.
func (d *Data) Fail(err error) {
	if d.err == nil && !d.planning {
		d.err = err
	}
}

// request notes the instances of a series from from up to to-1 while planning, and returns nil. Later it checks that
// they were noted, and returns the resolved series, or nil after an error.
func (d *Data) request(s store.Series, from, to int) *run.Trial {
	n := d.needs.at[s]
	switch {
	case d.planning && n == nil:
		n = &need{Series: s, From: from, To: to}
		d.needs.at[s], d.needs.list = n, append(d.needs.list, n)
	case d.planning:
		n.From, n.To = min(n.From, from), max(n.To, to)
	case n == nil || from < n.From || n.To < to:
		d.Fail(fmt.Errorf("figures: Build asks for %v, instances %d to %d, only when it has results; it must "+
			"ask for the same cells when it plans", s, from, to-1))
	case d.err == nil:
		return n.trial
	}
	return nil
}

// Values returns a metric of the first n instances of a series, where n is the paper's number of replicates; a
// quick run has fewer. The caller must not change the slice, which later calls return again.
func (d *Data) Values(s store.Series, n int, metric string) []float64 {
	return d.Span(s, 0, d.Scale.Replicates(n), metric)
}

// Span returns a metric of instances first to first+n-1 of a series.
func (d *Data) Span(s store.Series, first, n int, metric string) []float64 {
	ones := slices.Repeat([]float64{1}, n)
	trial := d.request(s, first, first+n)
	if trial == nil {
		return ones
	}
	key := valuesKey{s, first, n, metric}
	if v, ok := d.values[key]; ok {
		return v
	}
	v, err := run.Span{Trial: trial, From: first, To: first + n}.Values(d.db, metric)
	if err != nil {
		d.Fail(err)
		return ones
	}
	d.values[key] = v
	return v
}

// First returns a metric of the first instance of a series.
func (d *Data) First(s store.Series, metric string) float64 { return d.Span(s, 0, 1, metric)[0] }

// Above returns, by instance, by how many percent the makespans of a series exceed another's.
func (d *Data) Above(a, b store.Series, n int) []float64 {
	return Percent(Ratios(d.Values(a, n, track.MetricMakespan), d.Values(b, n, track.MetricMakespan)))
}

// AboveBound returns, by instance, by how many percent the makespans of a series exceed a bound.
func (d *Data) AboveBound(s, bound store.Series, n int) []float64 {
	return Percent(Ratios(d.Values(s, n, track.MetricMakespan), d.Values(bound, n, track.MetricBound)))
}

// Micros returns the wall times of the first n instances of a series in microseconds; nil while planning. Some or all
// may be missing: timings are not results, and a power cut may lose them.
func (d *Data) Micros(s store.Series, n int) []float64 {
	n = d.Scale.Replicates(n)
	trial := d.request(s, 0, n)
	if trial == nil {
		return nil
	}
	us, err := run.Span{Trial: trial, To: n}.Microseconds(d.db)
	d.Fail(err)
	return us
}

// Schedule returns the schedule of one cell, for drawing; an empty one while planning or after an error.
func (d *Data) Schedule(s store.Series, instance int) (schedule.Problem, schedule.Schedule) {
	if trial := d.request(s, instance, instance+1); trial != nil {
		p, plan, err := trial.Schedule(d.ctx, instance)
		if err == nil {
			return p, plan
		}
		d.Fail(err)
	}
	return schedule.Problem{GPU: mig.MustLookup(s.GPU)}, schedule.Schedule{}
}

// Summarize is [stats.Summarize].
func (d *Data) Summarize(values []float64) stats.Summary {
	s, err := stats.Summarize(values)
	d.Fail(err)
	return s
}

// Measurement is the project's value for a claim.
type Measurement = verdict.Measurement

// Exactly returns a measurement that was not sampled.
func Exactly[N ~int | ~float64](v N) Measurement { return verdict.Exactly(float64(v)) }

// PlusMinus formats a measurement and half its interval: the cells of [reports.Columns.PlusMinus].
func PlusMinus(m Measurement, decimals int) []string {
	return reports.Cells(decimals, m.Value, m.High-m.Value)
}

// MeanOf returns the mean of a sample with its interval by [verdict.MeanOf].
func (d *Data) MeanOf(values []float64, unit verdict.Unit, paper int) Measurement {
	m, err := verdict.MeanOf(values, unit, paper)
	d.Fail(err)
	return m
}

// Crossed returns the mean over training runs and draws by [verdict.Crossed], or 1 while planning.
func (d *Data) Crossed(values [][]float64) Measurement {
	if d.planning {
		return Exactly(1)
	}
	m, err := verdict.Crossed(values)
	d.Fail(err)
	return m
}

// Mean returns the mean of values.
func Mean(values []float64) float64 { return stats.Mean(values) }

// Ratios returns x over y by instance, of as many instances as both have.
func Ratios(x, y []float64) []float64 {
	out := make([]float64, min(len(x), len(y)))
	for i := range out {
		out[i] = x[i] / y[i]
	}
	return out
}

// Differences returns x less y by instance, of as many instances as both have.
func Differences(x, y []float64) []float64 {
	n := min(len(x), len(y))
	return floats.SubTo(make([]float64, n), x[:n], y[:n])
}

// Percent returns by how many percent ratios exceed 1.
func Percent(ratios []float64) []float64 {
	return Map(ratios, func(r float64) float64 { return (r - 1) * 100 })
}

// Each yields every pair of a row and a column, row by row.
func Each[R, C any](rows []R, columns []C) iter.Seq2[R, C] {
	return func(yield func(R, C) bool) {
		for _, r := range rows {
			for _, c := range columns {
				if !yield(r, c) {
					return
				}
			}
		}
	}
}

// Map returns the results of f for all values.
func Map[V, T any](values []V, f func(V) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
}

// Count counts the values that a condition holds for.
func Count[V any](values []V, holds func(V) bool) (n int) {
	for _, v := range values {
		if holds(v) {
			n++
		}
	}
	return n
}
