package track

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// The metrics of a schedule. Its counters are metrics under their own names.
const (
	// MetricMakespan is the instant at which the last task ends, in seconds (FAR 2.2).
	MetricMakespan = "makespan_s"
	// MetricUtilisation is the share of the compute slices' time that is work, from 0 to 1.
	MetricUtilisation = "utilisation"
	// MetricReconfigurations is the number of creates and destroys.
	MetricReconfigurations = "reconfigurations"
	// MetricReconfiguration is the sum of their durations, in seconds.
	MetricReconfiguration = "reconfiguration_s"
)

var (
	makespanBoard = Board{
		Metric:    MetricMakespan,
		Bound:     Reference{algo.TrackBound, "certified", MetricBound},
		Published: Reference{algo.TrackBound, "l-bound", MetricBound},
	}
	lowerBounds = []Reference{{algo.TrackBound, "area", MetricBound}, makespanBoard.Published, makespanBoard.Bound}
)

// Batch is the track of one batch of moldable tasks (FAR 2, DRL 3).
var Batch = Register(Track{
	Name: algo.TrackBatch, Order: 1, Doc: "schedule one batch of moldable tasks on a MIG GPU; makespan",
	Data: task.Batches{}.Kind(), GPU: "A100", Reconfigures: true,
	Beside: lowerBounds, Boards: []Board{makespanBoard}, Audited: MetricMakespan, Contests: batchContests(), Drawn: true,
	Solve: func(ctx context.Context, a algo.Algorithm, p Problem) (Answer, error) {
		return solveSchedule(a, p, func(given algo.Problem, _ []int) (schedule.Schedule, time.Duration, error) {
			b, err := algo.Make[algo.Batch](a)
			if err != nil {
				return schedule.Schedule{}, 0, err
			}
			start := time.Now()
			s, err := b.Schedule(ctx, given)
			return s, timeSince(b, start), err
		})
	},
	SolveTogether: func(ctx context.Context, a algo.Algorithm, problems []Problem) ([]Answer, error) {
		b, err := algo.Make[algo.Batch](a)
		if err != nil {
			return nil, err
		}
		return solveSchedules(ctx, a, b, problems, func(in task.Batches) []int { return []int{len(in.Tasks)} })
	},
})

// drlWorkloads are the five workloads of DRL 5.1.3.
func drlWorkloads() []string {
	return []string{
		"drl/POORSCALING", "drl/GOODSCALING", "drl/MIXSCALINGUNIFORM", "drl/MIXSCALINGEXTREME",
		"drl/WIDETIMES",
	}
}

func batchContests() []Contest {
	all := drlWorkloads()
	some := []string{all[0], all[1], all[4]}
	algorithms := []string{"far", "treedp", "lns", "miso", "fixpartbest", "nomig"}
	withAgent := append(slices.Clone(algorithms), "agent")
	return []Contest{
		{"A100", mig.Sequential, append(all, "rodinia"), withAgent, 200},
		{"A100", mig.Parallel, some, algorithms, 100},
		{"A30", mig.Sequential, some, algorithms, 100},
		{"H100", mig.Sequential, some, withAgent, 100},
	}
}

// solveSchedule has a batch or a stream scheduled and judges the schedule.
func solveSchedule(a algo.Algorithm, p Problem,
	solve func(given algo.Problem, lengths []int) (schedule.Schedule, time.Duration, error),
) (out Answer, err error) {
	in := payload[task.Batches](p)
	var given algo.Problem
	out.Problem, given = poseProblem(p, in)
	if err := a.CheckFit(given); err != nil {
		return out, err
	}
	if out.Schedule, out.Took, err = solve(given, slices.Clone(in.Lengths)); err != nil {
		return out, err
	}
	out.Metrics, err = scheduleMetrics(out.Problem, out.Schedule, in)
	return out, err
}

// poseProblem returns the problem that an answer is judged by, and the copy of it that an algorithm is
// given. The referee and the next algorithm must see the tasks as they were, even if this one
// sorts them in place.
func poseProblem(p Problem, in task.Batches) (judged, given algo.Problem) {
	judged = schedule.Problem{
		GPU: p.GPU, Count: p.Count, Model: p.Model, Start: in.Start, Release: in.Releases(),
		Tasks: in.Tasks,
	}
	given = judged
	given.Tasks, given.Release = slices.Clone(in.Tasks), slices.Clone(judged.Release)
	return judged, given
}

// solveSchedules has an [algo.Together] schedule several instances at once and judges the
// schedules. lengths gives those of an instance's batches.
func solveSchedules(ctx context.Context, a algo.Algorithm, made any, problems []Problem,
	lengths func(task.Batches) []int,
) ([]Answer, error) {
	together, ok := made.(algo.Together)
	if !ok {
		return nil, fmt.Errorf("%s says that it solves instances together; it is a %T and no algo.Together", a.ID, made)
	}
	answers := make([]Answer, len(problems))
	given, batches := make([]algo.Problem, len(problems)), make([][]int, len(problems))
	for i, p := range problems {
		in := payload[task.Batches](p)
		answers[i].Problem, given[i] = poseProblem(p, in)
		if err := a.CheckFit(given[i]); err != nil {
			return nil, err
		}
		batches[i] = lengths(in)
	}
	start := time.Now()
	schedules, err := together.ScheduleTogether(ctx, given, batches)
	if err != nil {
		return nil, err
	}
	share := time.Since(start) / time.Duration(len(problems))
	for i := range answers {
		answers[i].Schedule, answers[i].Took = schedules[i], share
		in := payload[task.Batches](problems[i])
		if answers[i].Metrics, err = scheduleMetrics(answers[i].Problem, schedules[i], in); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

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
	out = append(out, flowMetrics(s, in)...)
	own := len(out)
	for _, name := range slices.Sorted(maps.Keys(s.Counters)) { // of two errors always the same one
		if slices.ContainsFunc(out[:own], func(m Metric) bool { return m.Name == name }) {
			return nil, &InvalidError{fmt.Errorf("invalid answer: a counter has the name of the metric %s", name)}
		}
		out = append(out, Metric{Name: name, Value: float64(s.Counters[name])})
	}
	return out, nil
}
