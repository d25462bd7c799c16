package track

import (
	"context"
	"fmt"
	"slices"
	"time"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim/corun"
)

// The metrics of the co-run track (hierarchical paper V-B), which are simulated. It also has [MetricMakespan],
// slowdown_max (the largest slowdown of a job), slower_groups (the number of groups that take longer than their jobs
// one after the other) and time_sharing_s (the time of all jobs one after the other, in seconds).
const (
	// MetricThroughput is the throughput relative to time sharing, where the jobs run one after the other.
	MetricThroughput = "throughput"
	// MetricSlowdownMean is the mean slowdown of the jobs: a job's time in its group over its solo time.
	MetricSlowdownMean = "slowdown_mean"
	MetricFairness     = "fairness" // the smallest slowdown over the largest
	MetricGroups       = "groups"   // the number of groups
)

// corunSlices is the number of compute slices of the GPUs of the co-run track.
const corunSlices = 7

// Corun is the track of jobs that share a GPU under MIG and MPS (hierarchical paper IV).
var Corun = Register(Track{
	Name: algo.TrackCorun, Order: 5,
	Data: corun.Window{}.Kind(), GPU: "A100", Count: oneGPU,
	Beside: []Reference{optimum},
	Boards: []Board{{Metric: MetricMakespan, Bound: optimum, Unbounded: true}},
	Accepts: func(g *mig.GPU) error {
		if g.ComputeSlices != corunSlices {
			return fmt.Errorf("the %s track is about GPUs with eight GPCs, seven of which MIG uses; %s has %d "+
				"compute slices",
				algo.TrackCorun, g, g.ComputeSlices)
		}
		return nil
	},
	Try: func(a algo.Algorithm, _ Problem) error {
		_, err := algo.Make[algo.Corun](a)
		return err
	},
	Solve: solveCorun,
})

// optimum is the makespan of an exact search, from which gaps are measured.
var optimum = Reference{algo.TrackCorun, "exact", MetricMakespan}

func solveCorun(ctx context.Context, a algo.Algorithm, p Problem) (Answer, error) {
	c, err := algo.Make[algo.Corun](a)
	if err != nil {
		return Answer{}, err
	}
	w := payload[corun.Window](p)
	given := w
	given.Jobs = slices.Clone(w.Jobs)
	start := time.Now()
	plan, err := c.Plan(ctx, given)
	took := timeSince(c, start)
	if err != nil {
		return Answer{Took: took}, err
	}
	result, err := corun.Measure(w, plan)
	if err != nil {
		return Answer{Took: took}, invalidIf[*corun.InvalidError](err)
	}
	return Answer{Took: took, Metrics: []Metric{
		{Name: MetricFairness, Value: result.Fairness()},
		{Name: MetricGroups, Value: float64(len(result.Groups))},
		{Name: MetricMakespan, Value: float64(result.Makespan)},
		{Name: "slowdown_max", Value: slices.Max(result.Slowdowns)},
		{Name: MetricSlowdownMean, Value: result.MeanSlowdown()},
		{Name: "slower_groups", Value: float64(result.Slower)},
		{Name: MetricThroughput, Value: result.Throughput()},
		{Name: "time_sharing_s", Value: float64(result.TimeSharing)},
	}}, nil
}
