package figures

import (
	"context"
	"fmt"
	"iter"

	"gonum.org/v1/gonum/stat"

	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/schedule"
	"miglab/harness/stats"
	"miglab/harness/track"
)

// Data gives an artefact's Build the results of its cells.
//
// Data keeps the first error, like a [bufio.Writer], so that Build does not check each call.
// A call that fails returns zeros, as many as there are instances. After an error the output
// of Build is discarded.
type Data struct {
	Scale   Scale
	ctx     context.Context
	engine  *run.Engine
	results run.Results
	needs   map[run.Series]Need
	// values are what Values has returned before.
	values map[valuesKey][]float64
	err    error
}

type valuesKey struct {
	series run.Series
	metric string
}

// Err returns the first error.
func (d *Data) Err() error { return d.err }

// fail keeps the first error.
func (d *Data) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// need returns the instances of a series that the artefact needs. A series that it does
// not list is a mistake in the program, so need panics.
func (d *Data) need(s run.Series) Need {
	n, ok := d.needs[s]
	if !ok {
		panic(fmt.Sprintf("figures: the artefact does not list %v among its needs", s))
	}
	return n
}

// Values returns a metric of a series that the artefact needs, by instance. Later calls
// return the same slice, so the caller must not change it.
func (d *Data) Values(s run.Series, metric string) []float64 {
	key := valuesKey{s, metric}
	if v, ok := d.values[key]; ok {
		return v
	}
	n := d.need(s)
	v, err := d.results.Values(s, n.First, n.N, metric)
	if err != nil {
		d.fail(err)
		v = make([]float64, n.N)
	}
	if d.values == nil {
		d.values = map[valuesKey][]float64{}
	}
	d.values[key] = v
	return v
}

// First returns a metric of the first instance of a series.
func (d *Data) First(s run.Series, metric string) float64 { return d.Values(s, metric)[0] }

// Above returns, by instance, by how many percent the makespans of a series exceed another's.
func (d *Data) Above(a, b run.Series) []float64 {
	return Percent(Ratios(d.Values(a, track.MetricMakespan), d.Values(b, track.MetricMakespan)))
}

// AboveBound is [Data.Above] for a bound.
func (d *Data) AboveBound(s, bound run.Series) []float64 {
	return Percent(Ratios(d.Values(s, track.MetricMakespan), d.Values(bound, track.MetricBound)))
}

// Micros returns the wall times of a series in microseconds. Some or all may be missing:
// timings are not results, and a power cut may lose them.
func (d *Data) Micros(s run.Series) []float64 {
	n := d.need(s)
	us, err := d.results.Microseconds(s, n.First, n.N)
	if err != nil {
		d.fail(err)
		return nil
	}
	out := make([]float64, len(us))
	for i := range us {
		out[i] = float64(us[i])
	}
	return out
}

// Schedule returns the schedule of one cell, for drawing. After an error it is an empty one
// on the GPU of the series.
func (d *Data) Schedule(s run.Series, instance int) (schedule.Problem, schedule.Schedule) {
	cells, err := s.Cells(instance + 1)
	if err == nil && d.err == nil {
		var p schedule.Problem
		var plan schedule.Schedule
		if p, plan, err = d.engine.Schedule(d.ctx, cells[instance]); err == nil {
			return p, plan
		}
	}
	d.fail(err)
	return schedule.Problem{GPU: mig.MustLookup(s.GPU)}, schedule.Schedule{}
}

// Summarize returns the summary of a sample, see [stats.Summarize].
func (d *Data) Summarize(values []float64) stats.Summary {
	s, err := stats.Summarize(values)
	d.fail(err)
	return s
}

// MeanOf returns the mean of a sample with its interval, see [MeanOf].
func (d *Data) MeanOf(values []float64, replicates int) Measurement {
	return d.Measured(MeanOf(values, replicates))
}

// Measured returns a measurement, and keeps the error of the calculation behind it.
func (d *Data) Measured(m Measurement, err error) Measurement {
	d.fail(err)
	return m
}

// Judge compares a measured value with a claim, as [Judge] does; a quick run gives
// no verdict.
func (d *Data) Judge(c Claim, m Measurement, reading, reason string) Finding {
	f := Judge(c, m, reading, reason)
	if d.Scale.Quick {
		f.Verdict, f.Reason = Undecided, "quick run"
	}
	return f
}

// Mean returns the mean of values.
func Mean(values []float64) float64 { return stat.Mean(values, nil) }

// Ratios returns x over y by instance, of as many instances as both have.
func Ratios(x, y []float64) []float64 {
	out := make([]float64, min(len(x), len(y)))
	for i := range out {
		out[i] = x[i] / y[i]
	}
	return out
}

// Percent returns by how many percent ratios exceed 1.
func Percent(ratios []float64) []float64 {
	out := make([]float64, len(ratios))
	for i, r := range ratios {
		out[i] = (r - 1) * 100
	}
	return out
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
