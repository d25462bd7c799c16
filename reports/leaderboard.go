package reports

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"miglab/harness/stats"
)

// An Entry is what an algorithm did on one instance of a dataset.
type Entry struct {
	Track, Dataset string
	// GPU is what it was done for, for example "A100" or "2 x A100".
	GPU string
	// Model is the reconfiguration model; "" where the track has none.
	Model     string
	Algorithm string
	Version   int
	// Budget is what the algorithm is allowed to compute; "" if the instance alone
	// decides.
	Budget string
	// Content says what the dataset's name stood for when the entry was made: entries
	// of different content are of different instances.
	Content string
	// Instance counts from 0.
	Instance int
	// Value is the board's metric; NaN where there is no valid answer in time.
	Value float64
	// Bound is a proven bound on the instance's metric, from above where higher is better; NaN
	// where it is not known. It is read only where the metric is bounded.
	Bound float64
	// Published is the bound that the literature compares with, which need not be one
	// (l_bound, DRL 5.2); NaN where it is not known.
	Published float64
	// Aside is the value of another metric that is shown; NaN where it is not known.
	Aside float64
	// Micros is the decision time in microseconds; NaN where it is not known.
	Micros float64
}

// A Metric is what a leaderboard ranks by.
type Metric struct {
	// Name carries the unit, for example makespan_s.
	Name string
	// Higher says that a higher value is better.
	Higher bool
	// Bounded says that entries have bounds; the board then ranks by the gap to them, and
	// instances whose bound is not known are left out.
	Bounded bool
	// Aside is the name of the metric in [Entry.Aside]; "" means none.
	Aside string
}

// A Standing is an algorithm's place on a dataset. All intervals are by
// [stats.Resample].
type Standing struct {
	Track, Dataset, GPU, Model string
	// Rank counts from 1. Those that cannot be told from the best of their group share its
	// rank, and the next have the rank that they would have without ties. Algorithms that
	// left instances without a valid answer come last, by the number of those. 0 marks an
	// incomplete run, which has no values and comes after all others.
	Rank      int
	Algorithm string
	// Name is what a program outside miglab calls itself; "" for all others.
	Name    string
	Version int
	// Programs is how many programs of the version there are results of, if none of them is the
	// present one; the one that ran last counts.
	Programs int
	Budget   string
	// Assumes is what the dataset assumes that nobody has measured; "" for nothing.
	Assumes string
	// Instances is how many count, and LeftOut how many others some algorithms were run on. Of an
	// incomplete run, Instances is how many of those that count it has.
	Instances, LeftOut int
	// NoBound is how many of those left out have no bound.
	NoBound int
	// Failed is on how many of the instances the algorithm has no valid answer.
	Failed int
	// Metric is the name of what Value summarises, which is the zero value if any failed.
	Metric string
	Value  stats.Summary
	// Wins is on how many instances no other algorithm is better.
	Wins int
	// Bound is the mean of the bounds; NaN if the metric has none.
	Bound float64
	// Aside is the mean of the metric named AsideName, where there is one.
	Aside     float64
	AsideName string
	// Gap is the mean distance between value and bound in percent of the bound, and GapLow and
	// GapHigh its interval; NaN if any failed or the metric has no bound.
	Gap, GapLow, GapHigh float64
	// POpt is the mean of value over the published bound, less one, in percent (p_opt, DRL
	// 5.2); NaN if any failed or there is no published bound for some instance.
	POpt float64
	// FriedmanRank is the mean rank on an instance, where those without a valid answer are
	// last, and FriedmanP the probability of mean ranks that differ as much if all
	// algorithms of the dataset were alike.
	FriedmanRank, FriedmanP float64
	// PHolm is the probability of paired differences to the first algorithm of the dataset
	// that favour one side as much if none were better ([stats.Wilcoxon]), adjusted for the
	// number of algorithms ([stats.Holm]); NaN for the first, and if any failed.
	PHolm float64
	// Micros is the mean decision time in microseconds; NaN where it is not known.
	Micros float64
}

// BoundError says that a value lies on the wrong side of its proven bound: the bound is wrong, or
// the referee that let the value pass.
type BoundError struct {
	Entry Entry
	// Added is the name of a bound that has no certificate; "" is the certified bound.
	Added string
	// Metric is the value's name.
	Metric string
}

func (e *BoundError) Error() string {
	n := e.Entry
	side := "below"
	if n.Value > n.Bound {
		side = "above"
	}
	bound := "certified bound"
	if e.Added != "" {
		bound = "bound " + e.Added + ","
	}
	return fmt.Sprintf("%s (version %d) on %s, instance %d (content %q), %s: %s %v lies %s the %s %v; one of them is wrong",
		n.Algorithm, n.Version, n.Dataset, n.Instance, n.Content, conditions(n.GPU, n.Model), e.Metric, n.Value, side, bound, n.Bound)
}

// roundingError is the relative difference up to which values are the same: sums in
// different orders may differ so.
const roundingError = 1e-9

// Leaderboard ranks algorithms on each dataset, under each of the conditions that
// entries have, by their mean gap to the bound, or where there is none by their mean,
// over the instances that more than half of the algorithms were run on. Those that lack one of
// these are incomplete and not ranked; if all are, the instances count that all share. A rank changes only where the
// interval of the mean paired difference to the best of the group before excludes
// zero, so that a single instance ranks nobody. Of several versions of an algorithm the
// latest counts.
//
// The order of entries does not matter. Errors are a [*BoundError], two entries for the
// same, and values that are infinite. The entries are read and not copied.
func Leaderboard(entries []Entry, metric Metric) ([]Standing, error) {
	type key struct{ track, dataset, gpu, model string }
	boards := map[key]map[string][]*Entry{}
	for i := range entries {
		e := &entries[i]
		k := key{e.Track, e.Dataset, e.GPU, e.Model}
		if boards[k] == nil {
			boards[k] = map[string][]*Entry{}
		}
		own := boards[k][e.Algorithm]
		switch {
		case len(own) == 0 || own[0].Version < e.Version:
			own = []*Entry{e}
		case own[0].Version == e.Version:
			own = append(own, e)
		}
		boards[k][e.Algorithm] = own
	}
	keys := slices.SortedFunc(maps.Keys(boards), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.track, b.track), cmp.Compare(a.dataset, b.dataset), cmp.Compare(a.gpu, b.gpu), cmp.Compare(a.model, b.model))
	})
	standings, errs := make([][]Standing, len(keys)), make([]error, len(keys))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, k := range keys {
		g.Go(func() error {
			standings[i], errs[i] = rank(boards[k], metric)
			return nil
		})
	}
	_ = g.Wait() // the first error in the order of keys counts
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", keys[i].dataset, err)
		}
	}
	return slices.Concat(standings...), nil
}

// conditions names what a board is for.
func conditions(gpu, model string) string {
	if model == "" {
		return gpu
	}
	return gpu + ", " + model + " reconfiguration"
}
