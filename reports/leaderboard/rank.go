package leaderboard

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"miglab/harness/stats"
	"miglab/harness/store"
)

// An instance identifies a problem: entries of different content belong to different instances.
type instance struct {
	content string
	number  int
}

func (i instance) compare(o instance) int {
	return cmp.Or(cmp.Compare(i.content, o.content), cmp.Compare(i.number, o.number))
}

// An entry is an algorithm's result on an instance. Unknown values are NaN.
type entry struct {
	instance
	// value is the board's metric; NaN without a valid answer in time.
	value float64
	// bound is proven.
	bound float64
	// aside is the value of another metric that is shown, and micros the time of an instance.
	aside, micros float64
}

// A contender is an algorithm with its entries. [findContenders] sorts them and keeps those on instances that count.
type contender struct {
	// series is one of the series that the entries are from.
	series  store.Series
	entries []entry
	// load has an algorithm's values of each metric of [track.Board.Load].
	load [][]float64
	// values are the entries' values. Values that differ from another algorithm's by rounding alone are made equal.
	values []float64
	// losses are what it is ranked by, see [Metric.loss]; NaN without a valid answer.
	losses []float64
	// mean is the mean of the known losses; NaN without one.
	mean float64
	// sample is the index of the gaps among the samples, one after the values; without gaps, it is the index of the
	// values. It is unused if the algorithm has failures.
	sample   int
	standing Standing
}

// newContender returns a contender without entries and without numbers in its standing.
func newContender(s store.Series) *contender {
	nan := math.NaN()
	gpu, model := Circumstances(s)
	return &contender{series: s, standing: Standing{
		Track: s.Track, Dataset: s.Dataset, GPU: gpu, Model: model, Algorithm: s.Algorithm, Version: s.Version,
		Bound: nan, Aside: nan, Gap: nan, GapLow: nan, GapHigh: nan, Micros: nan,
	}}
}

// rankContenders ranks the algorithms of one dataset by their mean gap to the bound, or by their mean value where there
// is none, over the instances of [countedInstances]. An algorithm that lacks one of them is incomplete and has no rank.
// An algorithm shares the rank of the one before it unless it is worse than the best of that rank ([isWorse]), which
// values of a single instance never show. Errors are a [*BoundError], two entries for an instance, and infinite values.
func rankContenders(all []*contender, metric Metric) ([]Standing, error) {
	contenders, partial, err := findContenders(all, metric)
	if err != nil || contenders == nil {
		return nil, err
	}
	countWins(contenders)
	for _, c := range contenders {
		if err := c.summarize(metric); err != nil {
			return nil, fmt.Errorf("%s: %w", c.standing.Algorithm, err)
		}
	}
	resamples, err := resample(contenders, metric)
	if err != nil {
		return nil, err
	}
	defer resamples.Release()
	slices.SortFunc(contenders, func(a, b *contender) int {
		return cmp.Or(cmp.Compare(a.standing.Failed, b.standing.Failed), cmp.Compare(a.mean, b.mean),
			cmp.Compare(a.standing.Algorithm, b.standing.Algorithm))
	})
	if err := tellApart(contenders, resamples, metric); err != nil {
		return nil, err
	}
	out := make([]Standing, len(contenders))
	for i, c := range contenders {
		out[i] = c.standing
	}
	return append(out, partial...), nil
}

// findContenders keeps the entries on the instances that count. It returns the algorithms that have all of these,
// and the standings of the incomplete ones; both are nil if no instance counts.
func findContenders(all []*contender, metric Metric) (complete []*contender, partial []Standing, err error) {
	if err := checkEntries(all, metric); err != nil {
		return nil, nil, err
	}
	runs := countRuns(all, metric)
	counting, noBound := countedInstances(all, runs), 0
	if len(counting) == 0 {
		return nil, nil, nil
	}
	for _, n := range runs {
		if n == 0 {
			noBound++
		}
	}
	for _, c := range all {
		c.entries = slices.DeleteFunc(c.entries, func(e entry) bool { return !counting[e.instance] })
		s := &c.standing
		s.Metric, s.Instances, s.LeftOut, s.NoBound = metric, len(c.entries), len(runs)-len(counting), noBound
		if len(c.entries) < len(counting) {
			partial = append(partial, *s)
			continue
		}
		for _, e := range c.entries {
			c.values = append(c.values, e.value)
		}
		complete = append(complete, c)
	}
	for i := range complete[0].entries {
		settleRounding(complete, i)
	}
	for _, c := range complete {
		for i, e := range c.entries {
			c.losses = append(c.losses, metric.loss(c.values[i], e.bound))
		}
	}
	return complete, partial, nil
}

// checkEntries sorts the entries, and returns an error for two of an algorithm for an instance, or a [*BoundError].
func checkEntries(all []*contender, metric Metric) error {
	for _, c := range all {
		slices.SortFunc(c.entries, func(a, b entry) int { return a.compare(b.instance) })
		for i, e := range c.entries {
			if i > 0 && c.entries[i-1].instance == e.instance {
				return fmt.Errorf("%s (version %d) has two entries for instance %d; there may be one",
					c.series.Algorithm, c.series.Version, e.number)
			}
			if metric.Bounded && metric.loss(e.value, e.bound) < -100*stats.RoundingError {
				s := c.series
				s.Content = e.content
				return &BoundError{Series: s, Instance: e.number, Metric: metric.Name, Value: e.value, Bound: e.bound}
			}
		}
	}
	return nil
}

// countRuns returns how many algorithms can be compared on each instance.
func countRuns(all []*contender, metric Metric) map[instance]int {
	runs := map[instance]int{}
	for _, c := range all {
		for _, e := range c.entries {
			n := runs[e.instance]
			if !metric.Bounded || !math.IsNaN(e.bound) {
				n++
			}
			runs[e.instance] = n // 0 without a bound: the instance counts as left out
		}
	}
	return runs
}

// countedInstances returns the instances that more than half of the algorithms were run on; if no algorithm has all of
// these, those that all algorithms have.
func countedInstances(all []*contender, runs map[instance]int) map[instance]bool {
	for _, least := range []int{len(all)/2 + 1, len(all)} {
		out := map[instance]bool{}
		for at, n := range runs {
			if n >= least {
				out[at] = true
			}
		}
		for _, c := range all {
			have := 0
			for _, e := range c.entries {
				if out[e.instance] {
					have++
				}
			}
			if have == len(out) {
				return out
			}
		}
	}
	return nil
}

// loss returns the value that ranks an algorithm, less being better: the gap in percent, or the value with a sign.
func (m Metric) loss(value, bound float64) float64 {
	switch {
	case m.Bounded && m.Higher:
		return (1 - value/bound) * 100
	case m.Bounded:
		return (value/bound - 1) * 100
	case m.Higher:
		return -value
	}
	return value
}

// settleRounding makes values at an index that differ by no more than rounding the same.
func settleRounding(contenders []*contender, at int) {
	var values []*float64
	for _, c := range contenders {
		v := &c.values[at]
		if !math.IsNaN(*v) {
			values = append(values, v)
		}
	}
	slices.SortFunc(values, func(a, b *float64) int { return cmp.Compare(*a, *b) })
	for i, v := range values {
		if i > 0 && *v-*values[i-1] <= float64(stats.RoundingError*math.Abs(*v)) {
			*v = *values[i-1]
		}
	}
}

// countWins counts the instances on which no other algorithm is better.
func countWins(contenders []*contender) {
	for i := range contenders[0].losses {
		best := math.Inf(1)
		for _, c := range contenders {
			if c.losses[i] < best {
				best = c.losses[i]
			}
		}
		for _, c := range contenders {
			if c.losses[i] == best {
				c.standing.Wins++
			}
		}
	}
}

// summarize sets the means, the median time and the number of failures in the standing.
func (c *contender) summarize(metric Metric) error {
	s := &c.standing
	var solved, micros, bounds, asides []float64
	for i, e := range c.entries {
		bounds = append(bounds, e.bound)
		value := c.values[i]
		if math.IsNaN(value) {
			s.Failed++
			continue
		}
		solved = append(solved, c.losses[i])
		asides = append(asides, e.aside)
		if !math.IsNaN(e.micros) {
			micros = append(micros, e.micros)
		}
	}
	c.mean, s.Aside = mean(solved), mean(asides)
	if median, err := stats.Quantile(micros, 0.5); err == nil { // one slow run beside other programs must not count
		s.Micros = median
	}
	if metric.Bounded {
		s.Bound = mean(bounds)
	}
	if s.Failed > 0 {
		return nil
	}
	var err error
	if s.Value, err = stats.Summarize(c.values); err != nil {
		return err
	}
	if metric.Bounded {
		s.Gap = c.mean
	}
	return nil
}

// resample draws once for all algorithms without failures and sets their intervals.
func resample(contenders []*contender, metric Metric) (*stats.Resampled, error) {
	var samples [][]float64
	for _, c := range contenders {
		if c.standing.Failed > 0 {
			continue
		}
		samples = append(samples, c.values)
		if metric.Bounded {
			samples = append(samples, c.losses)
		}
		c.sample = len(samples) - 1
	}
	r, err := stats.Resample(samples, contenders[0].standing.seed())
	if err != nil {
		return nil, err
	}
	for _, c := range contenders {
		s := &c.standing
		switch {
		case s.Failed > 0:
		case metric.Bounded:
			s.Value.Low, s.Value.High = r.Interval(c.sample - 1)
			s.GapLow, s.GapHigh = r.Interval(c.sample)
		default:
			s.Value.Low, s.Value.High = r.Interval(c.sample)
		}
	}
	return r, nil
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// seed derives the seed of the resamples from the track, the dataset and the conditions.
func (s *Standing) seed() uint64 {
	h := sha256.Sum256(fmt.Appendf(nil, "%q", []string{s.Track, s.Dataset, s.GPU, s.Model}))
	return binary.LittleEndian.Uint64(h[:8])
}

// tellApart sets [Standing.Beats], and the ranks and places that follow from it. The contenders are in order.
func tellApart(contenders []*contender, resamples *stats.Resampled, metric Metric) error {
	first := &contenders[0].standing       // the best algorithm of the current rank
	beaten := make([]int, len(contenders)) // how many algorithms are certainly better than each
	for i, c := range contenders {
		for j, other := range contenders[i+1:] {
			worse, err := isWorse(other, c, resamples, metric)
			if err != nil {
				return err
			}
			if worse {
				c.standing.Beats = append(c.standing.Beats, other.standing.Algorithm)
				beaten[i+1+j]++
			}
		}
		s := &c.standing
		s.Place, s.Best, s.Worst = i+1, beaten[i]+1, len(contenders)-len(s.Beats)
		if i == 0 || slices.Contains(first.Beats, s.Algorithm) {
			first, s.Rank = s, i+1
		}
		s.Rank = first.Rank
	}
	return nil
}

// isWorse reports whether a is worse than b, which precedes it: a has more failures, or as many and the interval of the
// mean paired difference, over the instances that both solved, lies above zero. On an idle cluster only failures count.
func isWorse(a, b *contender, resamples *stats.Resampled, metric Metric) (bool, error) {
	switch {
	case a.standing.Failed > b.standing.Failed:
		return true, nil
	case metric.Idle:
		return false, nil
	case a.standing.Failed == 0 && metric.Higher && !metric.Bounded:
		return resamples.Above(b.sample, a.sample), nil
	case a.standing.Failed == 0:
		return resamples.Above(a.sample, b.sample), nil
	}
	differences := pairedDifferences(a, b)
	if len(differences) == 0 {
		return false, nil
	}
	low, _, err := stats.Bootstrap(differences, a.standing.seed())
	return low > 0, err
}

// pairedDifferences returns by how much a is worse than b, on the instances that both solved.
func pairedDifferences(a, b *contender) []float64 {
	var out []float64
	for i := range a.losses {
		d := a.losses[i] - b.losses[i]
		if !math.IsNaN(d) {
			out = append(out, d)
		}
	}
	return out
}
