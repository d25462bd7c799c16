package deadline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
)

// days are the days that the numbers of a reading are taken over.
type days struct {
	// name is that of the reading, and basis says where it comes from.
	name, basis string
	// relaxed and tight are the datasets.
	relaxed, tight string
	n              int
	// ours marks days that the report has not seen, so that its numbers and ours are samples.
	ours bool
}

// reportDays returns the report's own ten days with further parameters of the dataset.
func reportDays(name, basis, parameters string) days {
	return days{
		name, basis,
		figures.Dataset("deadline/report?deadlines=relaxed" + parameters),
		figures.Dataset("deadline/report?deadlines=tight" + parameters),
		evaluation, false,
	}
}

// theirs is the default, and otherDays are the other readings of the days.
var (
	theirs = reportDays("", "the report's own ten days, drawn again from the seed 42 of its notebook; NumPy 2, which the saved output of its first notebook lists; times in float32 as in its code", "")

	otherDays = []days{
		reportDays("NumPy 1", "the same seeds; NumPy 1 draws arrivals that differ in their last bits", "&numpy=1"),
		reportDays("float64 clock", "the same days; completions are not rounded to float32", "&clock=float64"),
		{"1000 of our days", "days of our own stream with the report's distributions, as a sample of all days; 100 for agents other than the best", relaxed, tight, many, true},
		{"10 of our days", "the first ten of them, as few as the report has", relaxed, tight, evaluation, true},
	}
)

// mean measures the mean of values by day: a point on the report's days, a sample on ours.
func (w *days) mean(d *figures.Data, values []float64) figures.Measurement {
	if w.ours {
		return d.MeanOf(values, verdict.Days, evaluation)
	}
	return figures.Exactly(figures.Mean(values))
}

// seedCost says what would settle a claim about an agent.
const seedCost = "A further training run takes about 83 CPU seconds. The artefact table5 lists where our training differs from the authors' script."

// training measures a number about an agent, of which each training run has one: the mean of what
// of returns, which has an entry for each day or evaluation. The report's number is that of one
// training run and of paper such entries. On the report's days alone they are the same.
func (w *days) training(d *figures.Data, s *scheduler, paper float64, of func(run int) []float64) figures.Measurement {
	var values []float64
	for i := range s.runs {
		values = append(values, figures.Mean(of(i)))
	}
	m := d.MeanOf(values, verdict.TrainingRuns, 1)
	if w.ours {
		each := of(0)
		m.PrintSE = math.Hypot(m.PrintSE, stat.StdDev(each, nil)*math.Sqrt(1/paper+1/float64(len(each))))
	}
	m.Detail = seedCost
	return m
}

// level measures the mean of a quantity.
func (w *days) level(d *figures.Data, s *scheduler, q quantity, dataset string) figures.Measurement {
	if s.learned {
		return w.training(d, s, evaluation, func(i int) []float64 { return q.run(d, s, i, dataset, w.n) })
	}
	return w.mean(d, q.of(d, s, dataset, w.n))
}

// reduction measures by how many percent an agent's mean is below that of a scheduler with these
// values.
func (w *days) reduction(d *figures.Data, s *scheduler, q quantity, dataset string, base []float64) figures.Measurement {
	return w.training(d, s, evaluation, func(i int) []float64 { return reductions(q.run(d, s, i, dataset, w.n), base) })
}

// gain measures by how many percent an agent has fewer late jobs than the best heuristic of
// Table 7.
func (w *days) gain(d *figures.Data, s *scheduler, dataset string) figures.Measurement {
	_, best := late.extreme(d, dataset, w.n, methods, lowest)
	return w.reduction(d, s, late, dataset, best)
}

// deviation measures the standard deviation of an evaluation of ten days. Over many days it is
// the mean of the deviations of many evaluations: over all days at once it would be larger,
// because the few very bad days of a thousand are in hardly any evaluation of ten.
func (w *days) deviation(d *figures.Data, s *scheduler, q quantity, dataset string) figures.Measurement {
	switch {
	case s.learned:
		return w.training(d, s, 1, func(i int) []float64 { return deviations(q.run(d, s, i, dataset, w.n)) })
	case w.ours:
		return d.MeanOf(deviations(q.of(d, s, dataset, w.n)), verdict.Draws, 1)
	}
	return figures.Exactly(populationSD(q.of(d, s, dataset, w.n)))
}

// deviations returns the population standard deviation of each ten days, the one that the
// report prints.
func deviations(values []float64) (each []float64) {
	for part := range slices.Chunk(values, evaluation) {
		each = append(each, populationSD(part))
	}
	return each
}

func populationSD(values []float64) float64 {
	mean, sum := figures.Mean(values), 0.0
	for _, v := range values {
		// The conversion rounds the product, which keeps it from being fused with the sum.
		sum += float64((v - mean) * (v - mean))
	}
	return math.Sqrt(sum / float64(len(values)))
}

// readings measures claims over the report's days and over the others.
func readings(measure func(w *days, to figures.Values)) []figures.Reading {
	return figures.Map(append([]days{theirs}, otherDays...), func(w days) figures.Reading { return w.reading(measure) })
}

// reading measures claims over these days.
func (w days) reading(measure func(w *days, to figures.Values)) figures.Reading {
	values := figures.Values{}
	measure(&w, values)
	return figures.Reading{Name: w.name, Basis: w.basis, Values: values}
}

// as is a reading of the report's days under another name.
func as(name, basis string) days {
	w := theirs
	w.name, w.basis = name, basis
	return w
}
