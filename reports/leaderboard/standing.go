package leaderboard

import (
	"fmt"

	"miglab/harness/stats"
	"miglab/harness/store"
	"miglab/harness/track"
)

// A Metric is the quantity that a leaderboard ranks by.
type Metric struct {
	// Name carries the unit, for example makespan_s.
	Name string
	// Higher says that a higher value is better.
	Higher bool
	// Bounded ranks by the gap to the bound, and leaves out instances without a known one.
	Bounded bool
	// Aside is the name of a metric that is shown and does not rank; may be empty.
	Aside string
	// Idle says that the dataset does not load the cluster, so that no algorithm is ranked. Failures still come last.
	Idle bool
}

// A Standing is an algorithm's place on a dataset. All intervals are by [stats.Resample].
type Standing struct {
	Track, Dataset string
	// GPU is a model, or "2 x A100". Model is the reconfiguration model; "" where the track lacks one.
	GPU, Model string
	// Rank counts from 1. Algorithms that cannot be told apart share a rank, and the next one has the rank that it
	// would have without ties. Those with failed instances come last. An incomplete run has rank 0 and no values.
	Rank      int
	Algorithm string
	// Beats lists the algorithms that are certainly worse: the interval of the mean paired difference excludes zero.
	// Place is by the mean, from 1 and without ties, and Best and Worst are the places that such differences allow; 0
	// for an incomplete run.
	Beats              []string
	Place, Best, Worst int
	Version            int
	// Budget is the computation that the algorithm may do; "" if the instance alone decides.
	Budget string
	// Assumes names the assumptions of the dataset that were not measured; may be empty.
	Assumes string
	// Instances counts the instances that count and that the algorithm was run on. LeftOut counts all other instances
	// that were run, and NoBound those of them without a bound.
	Instances, LeftOut, NoBound int
	// Failed counts the instances without a valid answer.
	Failed int
	// Value summarises the metric; it is the zero value if any instance failed.
	Metric Metric
	Value  stats.Summary
	// Wins counts the instances on which no other algorithm is better.
	Wins int
	// Bound is the mean of the bounds; NaN if the metric lacks one. Aside is the mean of the metric aside.
	Bound, Aside float64
	// Gap is the mean gap to the bound in percent, with its interval; NaN if any failed or the bound is unknown.
	Gap, GapLow, GapHigh float64
	// Micros is the median wall time of an instance in microseconds; NaN where it is not known.
	Micros float64
}

// Circumstances returns the GPUs and the reconfiguration model of a series as a board names them.
func Circumstances(s store.Series) (gpu, model string) {
	switch {
	case !track.MustLookup(s.Track).Reconfigures:
		return s.GPU, ""
	case s.Count > 1:
		return fmt.Sprintf("%d x %s", s.Count, s.GPU), s.Model
	}
	return s.GPU, s.Model
}

// ConditionText words the GPUs and the reconfiguration model of a [Standing].
func ConditionText(gpu, model string) string {
	if model == "" {
		return gpu
	}
	return gpu + ", " + model + " reconfiguration"
}

// BoundError says that a value lies on the wrong side of its proven bound: the bound or the referee is wrong.
type BoundError struct {
	Series   store.Series
	Instance int
	// Metric is the value's name.
	Metric       string
	Value, Bound float64
	// Added is the name of a bound that has no certificate; "" is the certified bound.
	Added string
}

func (e *BoundError) Error() string {
	s := e.Series
	side := "below"
	if e.Value > e.Bound {
		side = "above"
	}
	bound := "certified bound"
	if e.Added != "" {
		bound = "bound " + e.Added + ","
	}
	return fmt.Sprintf("%s (version %d) on %s, instance %d (content %q), %s: %s %v lies %s the %s %v; "+
		"one of them is wrong", s.Algorithm, s.Version, s.Dataset, e.Instance, s.Content,
		ConditionText(Circumstances(s)), e.Metric, e.Value, side, bound, e.Bound)
}
