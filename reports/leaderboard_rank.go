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
	contenders, err := contend(board, metric)
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
	return out, nil
}

// contend returns the algorithms by name, each with its entries on the instances that
// all of them have; nil if there are none.
func contend(board map[string][]*Entry, metric Metric) ([]*contender, error) {
	type instance struct {
		content string
		number  int
	}
	of := func(e *Entry) instance { return instance{e.Content, e.Instance} }
	runs := map[instance]int{} // how many algorithms can be compared on it
	names := slices.Sorted(maps.Keys(board))
	for _, name := range names {
		own := board[name]
		slices.SortFunc(own, func(a, b *Entry) int {
			return cmp.Or(cmp.Compare(a.Content, b.Content), cmp.Compare(a.Instance, b.Instance))
		})
		for i, e := range own {
			if i > 0 && of(own[i-1]) == of(e) {
				return nil, fmt.Errorf("%s (version %d) has two entries for instance %d; there may be one", name, e.Version, e.Instance)
			}
			if metric.Bounded && e.Value < e.Bound-float64(roundingError*e.Bound) {
				return nil, &BoundError{*e, metric.Name}
			}
			if metric.Bounded && math.IsNaN(e.Bound) {
				runs[of(e)] += 0 // it is left out, and counted as such
			} else {
				runs[of(e)]++
			}
		}
	}
	contenders := make([]*contender, len(names))
	for i, name := range names {
		c := &contender{}
		for _, e := range board[name] {
			if runs[of(e)] == len(names) {
				c.entries, c.values = append(c.entries, e), append(c.values, e.Value)
			}
		}
		if len(c.entries) == 0 {
			return nil, nil
		}
		contenders[i] = c
	}
	for i := range contenders[0].entries {
		settle(contenders, i)
	}
	for i, name := range names {
		c, first := contenders[i], board[name][0]
		for i, e := range c.entries {
			loss := c.values[i]
			switch {
			case metric.Bounded:
				loss = (loss/e.Bound - 1) * 100
			case metric.Higher:
				loss = -loss
			}
			c.losses = append(c.losses, loss)
		}
		c.standing = Standing{
			Track: first.Track, Dataset: first.Dataset, GPU: first.GPU, Model: first.Model, Algorithm: name, Version: first.Version, Budget: first.Budget,
			Metric: metric.Name, Instances: len(c.entries), LeftOut: len(runs) - len(c.entries),
		}
	}
	return contenders, nil
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
	var solved, published, micros []float64
	for i, e := range c.entries {
		value := c.values[i]
		if math.IsNaN(value) {
			s.Failed++
			continue
		}
		solved = append(solved, c.losses[i])
		published = append(published, (value/e.Published-1)*100)
		if !math.IsNaN(e.Micros) {
			micros = append(micros, e.Micros)
		}
	}
	c.mean, s.Micros = mean(solved), mean(micros)
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
	case a.standing.Failed == 0 && metric.Higher:
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
