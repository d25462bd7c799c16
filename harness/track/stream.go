package track

import (
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// The metrics of a schedule whose tasks arrive in time. A task's flow time is the time from its
// arrival to its end. Its stretch is its flow time over its shortest duration on any instance.
const (
	// MetricFlow and MetricLongestFlow are the mean and the largest flow time, in seconds.
	MetricFlow        = "flow_mean_s"
	MetricLongestFlow = "flow_max_s"
	// MetricStretch and MetricLargestStretch are the mean and the largest stretch, at least 1.
	MetricStretch        = "stretch_mean"
	MetricLargestStretch = "stretch_max"
)

// Stream is the track of batches that arrive one after the other (FAR 4, DRL online).
var Stream = Register(Track{
	Name: algo.TrackStream, Order: 2,
	Data: task.Batches{}.Kind(), GPU: "A100", Reconfigures: true,
	Beside: lowerBounds, Audited: []Board{makespanBoard, energyBoard},
	Boards: []Board{{Metric: MetricFlow, Regime: task.Timed}, makespanBoard, energyBoard},
	Solve:  solveOne(algo.Stream.ScheduleStream), SolveTogether: solveSeveral[algo.Stream],
})

// flowMetrics returns the flow times and stretches of a valid schedule; nil if the tasks have no arrivals.
func flowMetrics(s schedule.Schedule, in task.Batches) []Metric {
	if in.Arrivals == nil {
		return nil
	}
	flows, stretches := make([]float64, len(in.Tasks)), make([]float64, len(in.Tasks))
	for _, pl := range s.Placements {
		shortest := math.Inf(1)
		for _, size := range s.GPU.Sizes() {
			shortest = min(shortest, float64(in.Tasks[pl.Task].On(size)))
		}
		flows[pl.Task] = max(flows[pl.Task], float64(pl.End-in.Arrivals[pl.Task]))
		stretches[pl.Task] = flows[pl.Task] / shortest
	}
	mean := func(values []float64) float64 {
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		return sum / float64(len(values))
	}
	return []Metric{
		{Name: MetricFlow, Value: mean(flows)},
		{Name: MetricLongestFlow, Value: slices.Max(flows)},
		{Name: MetricStretch, Value: mean(stretches)},
		{Name: MetricLargestStretch, Value: slices.Max(stretches)},
	}
}
