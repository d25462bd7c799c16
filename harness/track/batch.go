package track

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"miglab/harness/algo"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// The metrics of a schedule. Its counters are metrics under their own names.
const (
	MetricMakespan         = "makespan_s"       // the time at which the last task ends, in seconds (FAR 2.2)
	MetricUtilisation      = "utilisation"      // the busy share of the compute slices' time, from 0 to 1
	MetricReconfigurations = "reconfigurations" // the number of creates and destroys
	// MetricReconfiguration is the sum of the durations of creates and destroys, in seconds.
	MetricReconfiguration = "reconfiguration_s"
	// MetricEnergy is the energy in joules that all GPUs draw until the last task ends. It exists only for GPU models
	// with a [mig.Power].
	MetricEnergy = "energy_j"
)

var (
	makespanBoard = Board{
		Metric: MetricMakespan, Bound: Reference{algo.TrackBound, "certified", MetricBound},
	}
	lowerBounds = []Reference{
		{algo.TrackBound, "area", MetricBound}, {algo.TrackBound, "l-bound", MetricBound}, makespanBoard.Bound,
	}
	energyBoard = Board{
		Metric: MetricEnergy, Aside: MetricMakespan, Powered: true, Unbounded: true,
		Bound: Reference{algo.TrackBound, "certified", MetricEnergyAtLeast},
	}
)

// Batch is the track of one batch of moldable tasks (FAR 2, DRL 3).
var Batch = Register(Track{
	Name: algo.TrackBatch, Order: 1,
	Data: task.Batches{}.Kind(), GPU: "A100", Reconfigures: true,
	Beside: lowerBounds, Boards: []Board{makespanBoard, energyBoard},
	Audited: []Board{makespanBoard, energyBoard}, Drawn: true,
	Solve: solveOne(func(b algo.Batch, ctx context.Context, p algo.Problem, _ []int) (schedule.Schedule, error) {
		return b.Schedule(ctx, p)
	}),
	SolveTogether: solveSeveral[algo.Batch],
})

// solveOne returns the [Track.Solve] of algorithms of type A. call runs such an algorithm.
func solveOne[A any](
	call func(A, context.Context, algo.Problem, []int) (schedule.Schedule, error),
) func(context.Context, algo.Algorithm, Problem) (Answer, error) {
	return func(ctx context.Context, a algo.Algorithm, p Problem) (Answer, error) {
		solve := func(made A, given []algo.Problem, lengths [][]int) ([]schedule.Schedule, time.Duration, error) {
			start := time.Now()
			s, err := call(made, ctx, given[0], lengths[0])
			return []schedule.Schedule{s}, timeSince(made, start), err
		}
		answers, err := solveSchedules(a, []Problem{p}, solve)
		if err != nil {
			return Answer{}, err
		}
		return answers[0], nil
	}
}

// solveSeveral implements [Track.SolveTogether] for algorithms of type A that are also an [algo.Together].
func solveSeveral[A any](ctx context.Context, a algo.Algorithm, problems []Problem) ([]Answer, error) {
	solve := func(made A, given []algo.Problem, lengths [][]int) ([]schedule.Schedule, time.Duration, error) {
		t, ok := any(made).(algo.Together)
		if !ok {
			return nil, 0, fmt.Errorf("%s says that it solves instances together; it is a %T and no algo.Together",
				a.ID, made)
		}
		start := time.Now()
		schedules, err := t.ScheduleTogether(ctx, given, lengths)
		return schedules, time.Since(start), err
	}
	return solveSchedules(a, problems, solve)
}

// A solver returns the schedules of some problems, and the wall time of all of them.
type solver[A any] func(made A, given []algo.Problem, lengths [][]int) ([]schedule.Schedule, time.Duration, error)

// solveSchedules schedules batches or streams with solve and judges the schedules.
func solveSchedules[A any](a algo.Algorithm, problems []Problem, solve solver[A]) ([]Answer, error) {
	made, err := algo.Make[A](a)
	if err != nil {
		return nil, err
	}
	answers := make([]Answer, len(problems))
	given := make([]algo.Problem, len(problems))
	lengths := make([][]int, len(problems))
	for i, p := range problems {
		answers[i].Problem, given[i] = poseProblem(p)
		in := payload[task.Batches](p)
		if err := a.CheckFit(given[i]); err != nil {
			return nil, err
		}
		lengths[i] = slices.Clone(in.Lengths)
		if a.Spec.Track == algo.TrackBatch { // the batch track takes a stream as one batch
			lengths[i] = []int{len(given[i].Tasks)}
		}
	}
	schedules, took, err := solve(made, given, lengths)
	if err != nil {
		return nil, err
	}
	for i, p := range problems {
		in := payload[task.Batches](p)
		answer := &answers[i]
		answer.Schedule = schedules[i]
		answer.Took = took / time.Duration(len(problems))
		if answer.Metrics, err = scheduleMetrics(answer.Problem, answer.Schedule, in); err != nil {
			return nil, err
		}
		answer.History = func() schedule.History {
			return schedule.NewHistory(answer.Problem, answer.Schedule, in.Arrivals)
		}
	}
	return answers, nil
}

// poseProblem returns the problem with which an answer is judged, and a copy of it for the algorithm. The referee and
// the next algorithm must see the original tasks, even if this algorithm sorts them in place.
func poseProblem(p Problem) (judged, given algo.Problem) {
	in := payload[task.Batches](p)
	judged = schedule.Problem{
		GPU: p.GPU, Count: p.Count, Model: p.Model, Start: in.Start, Release: in.Releases(),
		Restart: in.Restart, Tasks: in.Tasks,
	}
	given = judged
	given.Tasks, given.Release = slices.Clone(in.Tasks), slices.Clone(judged.Release)
	return judged, given
}

// scheduleMetrics returns the metrics of a schedule and its counters, or an [*InvalidError].
func scheduleMetrics(p schedule.Problem, s schedule.Schedule, in task.Batches) ([]Metric, error) {
	m, err := schedule.Measure(p, s)
	if err != nil {
		return nil, invalidIf[*schedule.InvalidError](err)
	}
	out := []Metric{
		{Name: MetricMakespan, Value: float64(m.Makespan)},
		{Name: MetricReconfiguration, Value: float64(m.Reconfiguring)},
		{Name: MetricReconfigurations, Value: float64(m.Reconfigurations)},
		{Name: MetricUtilisation, Value: m.Utilisation},
	}
	if p.GPU.Power != nil {
		out = append(out, Metric{Name: MetricEnergy, Value: float64(m.Energy)})
	}
	out = append(out, flowMetrics(s, in)...)
	own := len(out)
	for _, name := range slices.Sorted(maps.Keys(s.Counters)) { // sorted, so that the first error is always the same
		if slices.ContainsFunc(out[:own], func(m Metric) bool { return m.Name == name }) {
			return nil, &InvalidError{fmt.Errorf("invalid answer: a counter has the name of the metric %s", name)}
		}
		out = append(out, Metric{Name: name, Value: float64(s.Counters[name])})
	}
	return out, nil
}
