package run

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/sim"
	"miglab/harness/sim/corun"
	"miglab/harness/store"
)

// The metrics of a schedule; its counters go under their own names besides. A
// bound has [MetricBound] alone.
const (
	// MetricMakespan is the instant at which the last task ends, in seconds (FAR 2.2).
	MetricMakespan = "makespan_s"
	// MetricUtilisation is the share of the compute slices' time that is work, from 0 to 1.
	MetricUtilisation = "utilisation"
	// MetricReconfigurations is the number of creates and destroys.
	MetricReconfigurations = "reconfigurations"
	// MetricReconfiguration is the sum of their durations, in seconds.
	MetricReconfiguration = "reconfiguration_s"
	// MetricBound is what a bound gives, in seconds.
	MetricBound = "bound_s"
	// MetricAcceptedAtMost is what an offline bound gives: a number of requests.
	MetricAcceptedAtMost = "accepted_at_most"
)

// The metrics of the co-run track (hierarchical paper V-B), besides [MetricMakespan]. All are
// simulated.
const (
	// MetricThroughput is relative to time sharing, the time that the jobs take one after
	// the other, [MetricTimeSharing] in seconds.
	MetricThroughput  = "throughput"
	MetricTimeSharing = "time_sharing_s"
	// MetricSlowdownMean and MetricSlowdownMax are over the jobs: a job's time in its group
	// over its solo time.
	MetricSlowdownMean = "slowdown_mean"
	MetricSlowdownMax  = "slowdown_max"
	// MetricFairness is the smallest slowdown over the largest.
	MetricFairness = "fairness"
	// MetricGroups is the number of groups, and MetricSlowerGroups that of those that take
	// longer than their jobs one after the other.
	MetricGroups       = "groups"
	MetricSlowerGroups = "slower_groups"
)

// The kinds of error rows. Besides, [store.KindTimeout] marks cells that took
// longer than [Engine.Timeout], and an [algo.Failure] names its kind itself.
const (
	// KindInfeasible is an [*algo.InfeasibleError]: the algorithm's rules leave a task without a place.
	KindInfeasible = "infeasible"
	// KindInvalid is an answer that the referee refuses.
	KindInvalid = "invalid"
	// KindPanic is a panic of the algorithm.
	KindPanic = "panic"
	// KindFailed is any other error that the algorithm returned.
	KindFailed = "failed"
)

// PanicError says that an algorithm panicked.
type PanicError struct {
	// Value is what it panicked with, as text.
	Value string
	// Stack is where, for people: it differs between builds and is no part of a result.
	Stack []byte
}

func (e *PanicError) Error() string { return "panic: " + e.Value }

// AnswerError says that an answer is no valid one for a reason that is not the
// schedule's own.
type AnswerError struct {
	Reason string
}

func (e *AnswerError) Error() string { return "invalid answer: " + e.Reason }

// answer is what an algorithm gave for one instance, already judged.
type answer struct {
	problem  schedule.Problem
	schedule schedule.Schedule
	metrics  store.Metrics
	took     time.Duration
}

// solve runs the algorithm on an instance and has the referee check what it gives.
//
// Algorithms of the tracks that unfold in time may draw random numbers from a
// stream that is seeded by what names the instance.
func (r *resolved) solve(ctx context.Context, in datasets.Instance, index int) (a answer, err error) {
	seed := seedOf(r.series, index)
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{fmt.Sprint(v), debug.Stack()}
		}
	}()
	switch r.series.Track {
	case algo.TrackPlacement:
		return r.place(in, seed)
	case algo.TrackDispatch:
		return r.dispatch(in, seed)
	case algo.TrackCorun:
		return r.corun(ctx, in.Window)
	case algo.TrackOffline:
		return r.offline(ctx, in)
	}
	a.problem = schedule.Problem{GPU: r.gpu, Count: r.series.Count, Model: r.series.Model, Tasks: in.Tasks}
	// The referee and the next algorithm must see the tasks as they were, even if
	// this one sorts in place.
	given := a.problem
	given.Tasks = slices.Clone(in.Tasks)
	if r.series.Track == algo.TrackBound {
		var b mig.Seconds
		b, a.took, err = r.bound(ctx, given)
		a.metrics = store.Metrics{{Name: MetricBound, Value: float64(b)}}
		return a, err
	}
	if r.series.Track == algo.TrackStream {
		a.schedule, a.took, err = r.stream(ctx, given, slices.Clone(in.Lengths))
	} else {
		a.schedule, a.took, err = r.batch(ctx, given)
	}
	if err == nil {
		a.metrics, err = measure(a.problem, a.schedule)
	}
	return a, err
}

// place runs a stream of requests through the engine of the placement track, which
// checks every choice.
func (r *resolved) place(in datasets.Instance, seed uint64) (a answer, err error) {
	p, err := r.algorithm.Spec.Placement(r.algorithm.Args, sim.PlacementSetting{
		GPU: r.gpu, GPUs: r.series.Count, Demand: in.Demand, Seed: seed,
	})
	if err != nil {
		return a, err
	}
	start := time.Now()
	result, err := sim.RunPlacement(r.gpu, r.series.Count, in.Requests, p, sim.SteadyWindow)
	a.took = time.Since(start)
	if err == nil {
		a.metrics = metricsOf(result.Metrics())
	}
	return a, err
}

// dispatch runs a queue of jobs through the engine of the dispatch track.
func (r *resolved) dispatch(in datasets.Instance, seed uint64) (a answer, err error) {
	d, err := r.algorithm.Spec.Dispatch(r.algorithm.Args, sim.DispatchSetting{Seed: seed, Slices: slicesOf(in.Fleet)})
	if err != nil {
		return a, err
	}
	start := time.Now()
	result, err := sim.RunDispatch(in.Jobs, in.Fleet, d)
	a.took = time.Since(start)
	if err == nil {
		a.metrics = metricsOf(result.Metrics())
	}
	return a, err
}

// corun has a window planned and the referee run the plan.
func (r *resolved) corun(ctx context.Context, w corun.Window) (a answer, err error) {
	c, err := r.algorithm.Spec.Corun(r.algorithm.Args)
	if err != nil {
		return a, err
	}
	given := w
	given.Jobs = slices.Clone(w.Jobs)
	start := time.Now()
	p, err := c.Plan(ctx, given)
	a.took = time.Since(start)
	if err != nil {
		return a, err
	}
	result, err := corun.Measure(w, p)
	if err != nil {
		return a, err
	}
	a.metrics = store.Metrics{
		{Name: MetricFairness, Value: result.Fairness()},
		{Name: MetricGroups, Value: float64(len(result.Groups))},
		{Name: MetricMakespan, Value: float64(result.Makespan)},
		{Name: MetricSlowdownMax, Value: slices.Max(result.Slowdowns)},
		{Name: MetricSlowdownMean, Value: result.MeanSlowdown()},
		{Name: MetricSlowerGroups, Value: float64(result.Slower)},
		{Name: MetricThroughput, Value: result.Throughput()},
		{Name: MetricTimeSharing, Value: float64(result.TimeSharing)},
	}
	return a, nil
}

func (r *resolved) offline(ctx context.Context, in datasets.Instance) (a answer, err error) {
	o, err := r.algorithm.Spec.Offline(r.algorithm.Args)
	if err != nil {
		return a, err
	}
	start := time.Now()
	n, err := o.AcceptedAtMost(ctx, r.gpu, r.series.Count, in.Requests)
	a.took = time.Since(start)
	a.metrics = store.Metrics{{Name: MetricAcceptedAtMost, Value: float64(n)}}
	return a, err
}

func metricsOf(ms []sim.Metric) store.Metrics {
	out := make(store.Metrics, 0, len(ms))
	for _, m := range ms {
		if !math.IsNaN(m.Value) {
			out = append(out, store.Metric{Name: m.Name, Value: m.Value})
		}
	}
	slices.SortFunc(out, func(a, b store.Metric) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// seedOf is the seed of an instance: the same for every algorithm.
func seedOf(s Series, index int) uint64 {
	h := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%d", s.Dataset, s.Content, s.GPU, index))
	return binary.LittleEndian.Uint64(h[:8])
}

func (r *resolved) batch(ctx context.Context, p algo.Problem) (schedule.Schedule, time.Duration, error) {
	// A new algorithm each time, so that nothing carries over from cell to cell.
	b, err := r.algorithm.Spec.Batch(r.algorithm.Args)
	if err != nil {
		return schedule.Schedule{}, 0, err
	}
	start := time.Now()
	s, err := b.Schedule(ctx, p)
	return s, took(b, start), err
}

// took is how long an algorithm took that was called at an instant.
func took(algorithm any, start time.Time) time.Duration {
	if t, ok := algorithm.(algo.Timed); ok {
		return t.Took()
	}
	return time.Since(start)
}

func (r *resolved) stream(ctx context.Context, p algo.Problem, lengths []int) (schedule.Schedule, time.Duration, error) {
	b, err := r.algorithm.Spec.Stream(r.algorithm.Args)
	if err != nil {
		return schedule.Schedule{}, 0, err
	}
	start := time.Now()
	s, err := b.ScheduleStream(ctx, p, lengths)
	return s, took(b, start), err
}

func (r *resolved) bound(ctx context.Context, p algo.Problem) (mig.Seconds, time.Duration, error) {
	b, err := r.algorithm.Spec.Bound(r.algorithm.Args)
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	v, err := b.Bound(ctx, p)
	took := time.Since(start)
	if f := float64(v); err == nil && (math.IsNaN(f) || math.IsInf(f, 0) || f < 0) {
		err = &AnswerError{fmt.Sprintf("a bound of %v s; it must be finite and not negative", v)}
	}
	return v, took, err
}

func measure(p schedule.Problem, s schedule.Schedule) (store.Metrics, error) {
	m, err := schedule.Measure(p, s)
	if err != nil {
		return nil, err
	}
	out := make(store.Metrics, 0, 4+len(s.Counters))
	out = append(out,
		store.Metric{Name: MetricMakespan, Value: float64(m.Makespan)},
		store.Metric{Name: MetricReconfiguration, Value: float64(m.Reconfiguring)},
		store.Metric{Name: MetricReconfigurations, Value: float64(m.Reconfigurations)},
		store.Metric{Name: MetricUtilisation, Value: m.Utilisation})
	for _, name := range slices.Sorted(maps.Keys(s.Counters)) {
		if _, taken := out[:4].Get(name); taken {
			return nil, &AnswerError{fmt.Sprintf("a counter has the name of the metric %s", name)}
		}
		out = append(out, store.Metric{Name: name, Value: float64(s.Counters[name])})
	}
	slices.SortFunc(out, func(a, b store.Metric) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// kindOf classifies the error of a cell that was neither cut short by the caller
// nor by the time-out.
func kindOf(err error) string {
	var (
		failure    algo.Failure
		infeasible *algo.InfeasibleError
		refused    *schedule.InvalidError
		invalid    *AnswerError
		spot       *sim.SpotError
		choice     *sim.ChoiceError
		plan       *corun.InvalidError
		panicked   *PanicError
	)
	switch {
	case errors.As(err, &failure):
		return failure.FailureKind()
	case errors.As(err, &infeasible):
		return KindInfeasible
	case errors.As(err, &refused), errors.As(err, &invalid), errors.As(err, &spot), errors.As(err, &choice), errors.As(err, &plan):
		return KindInvalid
	case errors.As(err, &panicked):
		return KindPanic
	}
	return KindFailed
}
