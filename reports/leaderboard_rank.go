package reports

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"miglab/harness/stats"
)

// A contender is an algorithm with its entries on the instances of the board, in
// their order.
type contender struct {
	entries []*Entry
	// values are the entries' values. Those that differ by rounding only from another
	// algorithm's are made equal.
	values []float64
	// losses is what it is ranked by, less being better: the gap in percent, the value, or
	// its opposite where higher is better. NaN where there is no valid answer.
	losses []float64
	// mean is that of the losses that there are; NaN if there are none.
	mean float64
	// sample is the number of its gaps among the resamples, or of its values if the metric has
	// no bounds. An algorithm with failures has none.
	sample   int
	standing Standing
}

// rank orders the algorithms of one dataset, whose entries are given by name.
func rank(board map[string][]*Entry, metric Metric) ([]Standing, error) {
	contenders, partial, err := contend(board, metric)
	if err != nil || contenders == nil {
		return nil, err
	}
	if err := judge(contenders); err != nil {
		return nil, err
	}
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
		return cmp.Or(cmp.Compare(a.standing.Failed, b.standing.Failed), cmp.Compare(a.mean, b.mean), cmp.Compare(a.standing.Algorithm, b.standing.Algorithm))
	})
	if err := divide(contenders, resamples, metric); err != nil {
		return nil, err
	}
	if err := compare(contenders); err != nil {
		return nil, err
	}
	out := make([]Standing, len(contenders))
	for i, c := range contenders {
		out[i] = c.standing
	}
	return append(out, partial...), nil
}

// An instanceOf names an instance of a dataset.
type instanceOf struct {
	content string
	number  int
}

func (e *Entry) instance() instanceOf { return instanceOf{e.Content, e.Instance} }

// contend returns the algorithms by name that have entries on all instances that count, and the
// standings of those that are incomplete; none if no instance counts.
func contend(board map[string][]*Entry, metric Metric) ([]*contender, []Standing, error) {
	names := slices.Sorted(maps.Keys(board))
	runs, err := runsOf(board, names, metric)
	if err != nil {
		return nil, nil, err
	}
	var contenders []*contender
	var partial []Standing
	counting, noBound := counted(board, runs), 0
	for _, n := range runs {
		if n == 0 {
			noBound++
		}
	}
	for _, name := range names {
		c, first := &contender{}, board[name][0]
		for _, e := range board[name] {
			if counting[e.instance()] {
				c.entries, c.values = append(c.entries, e), append(c.values, e.Value)
			}
		}
		c.standing = Standing{
			Track: first.Track, Dataset: first.Dataset, GPU: first.GPU, Model: first.Model, Algorithm: name, Version: first.Version, Budget: first.Budget,
			Metric: metric.Name, AsideName: metric.Aside, Instances: len(c.entries), LeftOut: len(runs) - len(counting), NoBound: noBound,
		}
		if len(c.entries) == len(counting) {
			contenders = append(contenders, c)
		} else {
			partial = append(partial, c.standing.incomplete())
		}
	}
	if len(counting) == 0 {
		return nil, nil, nil
	}
	for i := range contenders[0].entries {
		settle(contenders, i)
	}
	for _, c := range contenders {
		for i, e := range c.entries {
			c.losses = append(c.losses, metric.loss(c.values[i], e.Bound))
		}
	}
	return contenders, partial, nil
}

// runsOf sorts the entries and returns how many algorithms can be compared on each instance.
func runsOf(board map[string][]*Entry, names []string, metric Metric) (map[instanceOf]int, error) {
	runs := map[instanceOf]int{}
	for _, name := range names {
		own := board[name]
		slices.SortFunc(own, func(a, b *Entry) int {
			return cmp.Or(cmp.Compare(a.Content, b.Content), cmp.Compare(a.Instance, b.Instance))
		})
		for i, e := range own {
			if i > 0 && own[i-1].instance() == e.instance() {
				return nil, fmt.Errorf("%s (version %d) has two entries for instance %d; there may be one", name, e.Version, e.Instance)
			}
			if metric.Bounded && metric.loss(e.Value, e.Bound) < -100*roundingError {
				return nil, &BoundError{Entry: *e, Metric: metric.Name}
			}
			if metric.Bounded && math.IsNaN(e.Bound) {
				runs[e.instance()] += 0 // it is left out, and counted as such
			} else {
				runs[e.instance()]++
			}
		}
	}
	return runs, nil
}

// counted returns the instances that more than half of the algorithms were run on. If no algorithm
// has all of these, it returns those that all algorithms have.
func counted(board map[string][]*Entry, runs map[instanceOf]int) map[instanceOf]bool {
	for _, least := range []int{len(board)/2 + 1, len(board)} {
		out := map[instanceOf]bool{}
		for at, n := range runs {
			if n >= least {
				out[at] = true
			}
		}
		for _, own := range board {
			has := 0
			for _, e := range own {
				if out[e.instance()] {
					has++
				}
			}
			if has == len(out) {
				return out
			}
		}
	}
	return nil
}

// loss is what an algorithm is ranked by; see [contender].
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

// incomplete returns the standing of an algorithm that was not run on all instances.
func (s Standing) incomplete() Standing {
	for _, v := range []*float64{&s.Bound, &s.Aside, &s.Gap, &s.GapLow, &s.GapHigh, &s.POpt, &s.FriedmanRank, &s.FriedmanP, &s.PHolm, &s.Micros} {
		*v = math.NaN()
	}
	return s
}

// settle makes values on an instance that differ by no more than rounding the same.
func settle(contenders []*contender, instance int) {
	var values []*float64
	for _, c := range contenders {
		if v := &c.values[instance]; !math.IsNaN(*v) {
			values = append(values, v)
		}
	}
	slices.SortFunc(values, func(a, b *float64) int { return cmp.Compare(*a, *b) })
	for i, v := range values {
		if i > 0 && *v-*values[i-1] <= float64(roundingError*math.Abs(*v)) {
			*v = *values[i-1]
		}
	}
}

// judge sets what depends on all algorithms at once, instance by instance.
func judge(contenders []*contender) error {
	scores := make([][]float64, len(contenders[0].losses))
	for i := range scores {
		best := math.Inf(1)
		for _, c := range contenders {
			loss := c.losses[i]
			scores[i] = append(scores[i], loss)
			if loss < best {
				best = loss
			}
		}
		for _, c := range contenders {
			if c.losses[i] == best {
				c.standing.Wins++
			}
		}
	}
	t, err := stats.Friedman(scores)
	if err != nil {
		return err
	}
	for j, c := range contenders {
		c.standing.FriedmanRank, c.standing.FriedmanP = t.Ranks[j], t.P
	}
	return nil
}

// summarize sets what is the algorithm's own, except intervals.
func (c *contender) summarize(metric Metric) error {
	s := &c.standing
	var solved, published, micros, bounds, asides []float64
	for i, e := range c.entries {
		bounds = append(bounds, e.Bound)
		value := c.values[i]
		if math.IsNaN(value) {
			s.Failed++
			continue
		}
		solved = append(solved, c.losses[i])
		published = append(published, (value/e.Published-1)*100)
		asides = append(asides, e.Aside)
		if !math.IsNaN(e.Micros) {
			micros = append(micros, e.Micros)
		}
	}
	c.mean, s.Micros, s.Bound, s.Aside = mean(solved), mean(micros), math.NaN(), mean(asides)
	if metric.Bounded {
		s.Bound = mean(bounds)
	}
	s.Gap, s.GapLow, s.GapHigh, s.POpt, s.PHolm = math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()
	if s.Failed > 0 {
		return nil
	}
	var err error
	if s.Value, err = stats.Summarize(c.values); err != nil {
		return err
	}
	s.POpt = mean(published)
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

// mean returns NaN for no values.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// seed is that of the dataset's resamples.
func (s *Standing) seed() uint64 {
	h := sha256.Sum256(fmt.Appendf(nil, "%q", []string{s.Track, s.Dataset, s.GPU, s.Model}))
	return binary.LittleEndian.Uint64(h[:8])
}

// divide sets the ranks of algorithms in order.
func divide(contenders []*contender, resamples *stats.Resampled, metric Metric) error {
	first := contenders[0] // of the group
	first.standing.Rank = 1
	for i, c := range contenders[1:] {
		apart, err := worse(c, first, resamples, metric)
		if err != nil {
			return err
		}
		if apart {
			first = c
			first.standing.Rank = i + 2
		}
		c.standing.Rank = first.standing.Rank
	}
	return nil
}

// worse reports whether a is worse than b, which precedes it: a has more failures, or as
// many and the interval of the mean paired difference lies above zero. If both have
// failures, the difference is over the instances that both solved. It may even favour a.
func worse(a, b *contender, resamples *stats.Resampled, metric Metric) (bool, error) {
	switch {
	case a.standing.Failed > b.standing.Failed:
		return true, nil
	case a.standing.Failed == 0 && metric.Higher && !metric.Bounded:
		return resamples.Above(b.sample, a.sample), nil
	case a.standing.Failed == 0:
		return resamples.Above(a.sample, b.sample), nil
	}
	differences := paired(a, b)
	if len(differences) == 0 {
		return false, nil
	}
	low, _, err := stats.Bootstrap(differences, a.standing.seed())
	return low > 0, err
}

// paired returns by how much a is worse than b, on the instances that both solved.
func paired(a, b *contender) []float64 {
	var out []float64
	for i := range a.losses {
		if d := a.losses[i] - b.losses[i]; !math.IsNaN(d) {
			out = append(out, d)
		}
	}
	return out
}

// compare tests every algorithm without failures against the first.
func compare(contenders []*contender) error {
	var p []float64
	for _, c := range contenders[1:] {
		if c.standing.Failed > 0 {
			break
		}
		t, err := stats.Wilcoxon(paired(c, contenders[0]))
		if err != nil {
			return err
		}
		p = append(p, t.P)
	}
	for i, adjusted := range stats.Holm(p) {
		contenders[i+1].standing.PHolm = adjusted
	}
	return nil
}
