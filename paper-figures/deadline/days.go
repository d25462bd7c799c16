package deadline

import (
	"cmp"
	"fmt"
	"slices"

	"miglab/harness/portable"
	"miglab/harness/stats"
	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
)

const (
	// evaluation is the report's number of days.
	evaluation = 10
	// ourDays is the number of our own days that decides what 10 leave open.
	ourDays = 1000
	// sweep is the number of days where a thousand would take too long: for each point of the figure over slack, for
	// agents other than the report's best, and for the best one under tight deadlines.
	sweep = 100
)

// A sample is the first n days of a dataset.
type sample struct {
	dataset string
	n       int
	// ours marks days that the report has not seen. The report's numbers and ours are then of different samples of
	// days.
	ours bool
}

func (x sample) first(n int) sample { return sample{x.dataset, n, x.ours} }

// Our own days, with deadlines as the report relaxes them, and as the original notebook has them (3.3).
var (
	relaxed = sample{figures.Dataset("deadline/relaxed"), ourDays, true}
	tight   = sample{figures.Dataset("deadline/tight"), ourDays, true}
)

// days are the days that the numbers of a reading are taken over.
type days struct {
	// name is the reading's name.
	name           string
	relaxed, tight sample
}

// reportDays returns the report's own ten days with further parameters of the dataset.
func reportDays(name, parameters string) days {
	on := func(deadlines string) sample {
		return sample{figures.Dataset("deadline/report?deadlines=" + deadlines + parameters), evaluation, false}
	}
	return days{name, on("relaxed"), on("tight")}
}

var (
	reported = reportDays("", "")
	thousand = days{"1000 of our days", relaxed, tight}

	// allDays are the readings of the days, the default one first.
	allDays = []days{
		reported,
		reportDays("NumPy 1", "&numpy=1"),
		reportDays("float64 clock", "&clock=float64"),
		thousand,
		{"10 of our days", relaxed.first(evaluation), tight.first(evaluation)},
	}
)

func (w days) String() string { return w.name }

// reportedDays returns the report's days under another name.
func reportedDays(name string) days { return days{name, reported.relaxed, reported.tight} }

// mean measures the mean of values by day: a point on the report's days, a sample on ours.
func (x sample) mean(d *figures.Data, values []float64) figures.Measurement {
	if x.ours {
		return d.MeanOf(values, verdict.Days, evaluation)
	}
	return figures.Exactly(figures.Mean(values))
}

// training measures a number about an agent. runs has, for each training run, a value for each day or evaluation; the
// measurement is their mean. The report's number is of one training run, with as many values as paper says. On the
// report's days, the interval of the measurement covers training runs alone, because both numbers are of the same days.
// On our days it covers days too.
func (x sample) training(d *figures.Data, paper int, runs [][]float64) figures.Measurement {
	m := d.MeanOf(figures.Map(runs, figures.Mean), verdict.TrainingRuns, 1)
	if x.ours {
		each := d.MeanOf(runs[0], verdict.Days, paper)
		m.StdErr, m.PrintSE = portable.Hypot(m.StdErr, each.StdErr), portable.Hypot(m.PrintSE, each.PrintSE)
		m.Low = m.Value - portable.Hypot(m.Value-m.Low, each.Value-each.Low)
		m.High = m.Value + portable.Hypot(m.High-m.Value, each.High-each.Value)
	}
	return m
}

// level measures the mean of a scheduler's values: that of its training runs for an agent.
func (x sample) level(d *figures.Data, s *scheduler, q quantity) figures.Measurement {
	if s.learned {
		return x.training(d, evaluation, q.runs(d, s, x))
	}
	return x.mean(d, q.of(d, s, x))
}

// reduction measures by how many percent an agent's mean is below the mean of base.
func (x sample) reduction(d *figures.Data, s *scheduler, q quantity, base []float64) figures.Measurement {
	return x.training(d, evaluation, figures.Map(q.runs(d, s, x), func(run []float64) []float64 {
		return reductions(run, base)
	}))
}

// gain measures by how many percent an agent has fewer late jobs than the best of some rules.
func (x sample) gain(d *figures.Data, s *scheduler, rules []*scheduler) figures.Measurement {
	_, best := x.extreme(d, late, rules, lowest)
	return x.reduction(d, s, late, best)
}

// loss returns the gain with the other sign.
func (x sample) loss(d *figures.Data, s *scheduler, rules []*scheduler) figures.Measurement {
	return x.gain(d, s, rules).Affine(-1, 0)
}

// deviation measures the standard deviation of an evaluation of ten days. Over many days it is the mean of the
// deviations of many evaluations, because the few very bad days of a thousand are in hardly any of them.
func (x sample) deviation(d *figures.Data, s *scheduler, q quantity) figures.Measurement {
	switch {
	case s.learned:
		return x.training(d, 1, figures.Map(q.runs(d, s, x), deviations))
	case x.ours:
		return d.MeanOf(deviations(q.of(d, s, x)), verdict.Draws, 1)
	}
	return figures.Exactly(stats.PopStdDev(q.of(d, s, x)))
}

// An end is lowest or highest: it picks the lowest or highest scheduler, the first on a tie.
type end func(among []*scheduler, by func(a, b *scheduler) int) *scheduler

var (
	lowest  end = slices.MinFunc[[]*scheduler]
	highest end = slices.MaxFunc[[]*scheduler]
)

// extreme returns the scheduler with the lowest or highest mean, and its values.
func (x sample) extreme(d *figures.Data, q quantity, among []*scheduler, pick end) (*scheduler, []float64) {
	mean := func(s *scheduler) float64 { return figures.Mean(q.of(d, s, x)) }
	best := pick(among, func(a, b *scheduler) int { return cmp.Compare(mean(a), mean(b)) })
	return best, q.of(d, best, x)
}

// lead measures by how much a scheduler exceeds the lowest or highest of the others.
func (x sample) lead(d *figures.Data, q quantity, s *scheduler, among []*scheduler, pick end) figures.Measurement {
	others := slices.DeleteFunc(slices.Clone(among), func(o *scheduler) bool { return o == s })
	rival, values := x.extreme(d, q, others, pick)
	m := x.mean(d, figures.Differences(q.of(d, s, x), values))
	m.Detail = fmt.Sprintf("The other one is %s.", rival.title)
	return m
}

// reductions returns, for each day that both have, a value such that the mean of the values is [reduction] and their
// spread gives its interval: the ratio of the means, linearised at the means.
func reductions(values, base []float64) []float64 {
	out := make([]float64, min(len(values), len(base)))
	values, base = values[:len(out)], base[:len(out)]
	mean := figures.Mean(base)
	ratio := figures.Mean(values) / mean
	for i := range out {
		out[i] = 100 * (1 - ratio - (values[i]-float64(ratio*base[i]))/mean)
	}
	return out
}

// reduction returns by how many percent the mean of values is below the mean of base, as in Table 8.
func reduction(values, base []float64) float64 {
	return 100 * (1 - figures.Mean(values)/figures.Mean(base))
}

// deviations returns the population standard deviation of each ten days, the one that the report prints.
func deviations(values []float64) (each []float64) {
	for part := range slices.Chunk(values, evaluation) {
		each = append(each, stats.PopStdDev(part))
	}
	return each
}
