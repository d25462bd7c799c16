// Package verdict judges a measured value against a number that a paper prints.
//
// A verdict must hold against a reader who wants it withdrawn. [Judge] therefore looks at a whole 95 %
// interval, never at the measured value alone: the interval of the measured value less the printed one, which
// includes the sampling error of the paper's own experiment. A claim that the interval does not settle is INCONCLUSIVE.
// So is a deviation of agents that longer training, as long as the paper's, could mend.
// [Sentence] answers a sentence of a paper from the verdicts on its values under several readings of the paper.
//
// The package is pure: it reads no files and knows no paper. Its tests check the error rates by simulation.
package verdict

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"gonum.org/v1/gonum/floats"

	"miglab/harness/portable"
	"miglab/harness/stats"
)

// A Verdict is the result of judging a claim.
type Verdict string

// The verdicts.
const (
	// Reproduced: the whole interval lies where the claim says.
	Reproduced Verdict = "REPRODUCED"
	// Deviates: the whole interval lies elsewhere.
	Deviates Verdict = "DEVIATES"
	// Inconclusive: neither.
	Inconclusive Verdict = "INCONCLUSIVE"
	// Hangs: several readings are defaults, because none has the better provenance, and their verdicts differ.
	Hangs Verdict = "HANGS ON THE READING"
	// Consistent: the claim holds, and could not have failed.
	Consistent Verdict = "CONSISTENT"
	// NotRunnable: something is missing.
	NotRunnable Verdict = "NOT RUNNABLE"
	// Input: the number is taken from the paper.
	Input Verdict = "INPUT"
	// None stands in place of a verdict in a quick run, which gives none.
	None Verdict = ""
)

// All lists the verdicts in the order of summaries.
var All = []Verdict{Reproduced, Deviates, Hangs, Inconclusive, Consistent, NotRunnable, Input}

// A Relation says how the measured value must compare with the published one.
type Relation string

// The relations.
const (
	Equal   Relation = "="
	AtMost  Relation = "<="
	AtLeast Relation = ">="
	// Between means that the published value is a range, for example "85 to 90".
	Between Relation = "range"
)

// A Claim is a published number with the facts that Judge needs.
type Claim struct {
	Relation Relation
	// Published is the number, or the lower end of a range. To is the upper end.
	Published, To float64
	// Decimals is the number of printed digits after the point.
	Decimals int
	// Compares marks a number that says how far two things are apart, for example a ratio of
	// 1.19 or a gain of 5 points. Neutral is then the number for no difference: 1 or 0.
	Compares bool
	Neutral  float64
	// Margin is how far the measured value may lie from print and still mean the same, or [UseDefault].
	Margin float64
	// Derived marks a number that follows from a theorem or a model: it can only be consistent.
	Derived bool
	// Stated marks a sentence, which prints no digits.
	Stated bool
}

// Half is half the last printed digit. A sentence has no digits.
func (c *Claim) Half() float64 {
	if c.Stated || c.IsOrder() {
		return 0
	}
	return math.Pow10(-c.Decimals) / 2
}

// UseDefault as the margin of a claim selects [Claim.DefaultMargin]. Margins are not negative.
const UseDefault = -1

// MarginShare is the share of a number that its default margin allows.
const MarginShare = 0.02

// IsOrder reports whether the claim says only which of two is less. A tie is not less.
func (c *Claim) IsOrder() bool {
	return c.Compares && c.Relation != Equal && c.Relation != Between && c.Published == c.Neutral
}

// DefaultMargin is the larger of half the last digit and 2 % of the number. If the number
// compares, it is at most a quarter of the difference that is claimed.
func (c *Claim) DefaultMargin() float64 {
	margin := math.Max(c.Half(), MarginShare*math.Abs(c.Published))
	if c.Compares {
		margin = math.Min(margin, math.Abs(c.Published-c.Neutral)/4)
	}
	return margin
}

// Allowed is how far the measured value may lie from the published number: half the last digit plus the margin. A limit
// is widened by half its last digit alone, and a range and a number that follows from others not at all.
func (c *Claim) Allowed() float64 {
	switch {
	case c.Relation == Between || c.Derived:
		return 0
	case c.Relation == AtMost || c.Relation == AtLeast:
		return c.Half()
	}
	return c.Half() + c.OwnMargin()
}

// OwnMargin is the claim's margin, or the default one.
func (c *Claim) OwnMargin() float64 {
	if c.Margin != UseDefault {
		return c.Margin
	}
	return c.DefaultMargin()
}

// A Judgement is a verdict with its grounds.
type Judgement struct {
	Verdict Verdict
	// Low and High bound the 95 % interval of the measured less the published value, plus the published value, so that
	// they compare with it. They are infinite if there are too few replicates.
	Low, High float64
	// Allowed is [Claim.Allowed].
	Allowed float64
	// OneSided is set for a number whose own sampling error in the paper is more than half of Allowed: hardly any
	// measured value could be REPRODUCED, while one that is far away DEVIATES.
	OneSided bool
	// Short is set if the verdict is INCONCLUSIVE because longer training could give the published number.
	Short bool
	// Outside is set if the verdict is INCONCLUSIVE although the 95 % interval lies outside,
	// because a deviation from a number with two sides needs the 97.5 % interval there.
	Outside bool
	// Enough is how many replicates at most would settle an INCONCLUSIVE verdict if mean and deviation stay; 0 if none
	// would. If there are too few for an interval, it is the fewest that a verdict needs.
	Enough int
}

// Judge compares a measured value with a claim.
func Judge(c Claim, m Measurement) Judgement {
	if c.Relation == Between {
		m.PrintSE = 0 // a range already has the variation of the paper's runs in it
	}
	low, high := m.interval()
	j := Judgement{Low: low, High: high, Allowed: c.Allowed()}
	j.OneSided = c.Relation == Equal && m.PrintSE > j.Allowed/2
	from, to := c.region()
	// The binary value of, for example, 1.22 - 0.005 may be slightly off.
	// The rounding error is relative to the published number if that is above 1.
	slack := float64(stats.RoundingError * math.Max(1, math.Abs(c.Published)))
	outerLow, outerHigh := low, high
	if c.Relation == Equal || c.Relation == Between {
		outerLow, outerHigh = m.outer(low, high)
	}
	tie := c.IsOrder() && (low <= c.Published+slack && c.Published-slack <= high)
	switch {
	case !tie && from-slack <= low && high <= to+slack:
		j.Verdict = Reproduced
	case outerHigh < from-slack || to+slack < outerLow:
		j.Verdict = Deviates
	default:
		j.Verdict = Inconclusive
		j.Outside = high < from-slack || to+slack < low
		j.Enough = enough(m, from, to)
	}
	switch {
	case c.Derived && j.Verdict == Reproduced:
		j.Verdict = Consistent
	case j.Verdict == Deviates && m.Training.reaches(from, to):
		j.Verdict, j.Short = Inconclusive, true
	}
	return j
}

// region returns the values that agree with the claim.
func (c *Claim) region() (from, to float64) {
	a := c.Allowed()
	switch c.Relation {
	case AtMost:
		return math.Inf(-1), c.Published + a
	case AtLeast:
		return c.Published - a, math.Inf(1)
	case Between:
		return c.Published, c.To
	}
	return c.Published - a, c.Published + a
}

// enough returns how many replicates would move the 97.5 % interval to one side of the nearer end of the region that
// agrees with the claim, or 0.
func enough(m Measurement, from, to float64) int {
	switch {
	case m.Unit == "":
		return 0
	case m.Replicates < m.Unit.Fewest() || math.IsNaN(m.StdErr):
		return m.Unit.Fewest()
	}
	rest := portable.Hypot(m.Fixed, m.PrintSE)
	narrowed := math.Sqrt(max(0, (m.StdErr-m.Fixed)*(m.StdErr+m.Fixed)) * float64(m.Replicates))
	distance := math.Min(math.Abs(m.Value-from), math.Abs(m.Value-to))
	settles := func(n int) bool {
		return quantiles(n).outer*portable.Hypot(narrowed/math.Sqrt(float64(n)), rest) < distance
	}
	const most = 1_000_000_000
	if !settles(most) {
		return 0
	}
	least := max(m.Replicates, m.Unit.Fewest())
	return least + sort.Search(most, func(more int) bool { return settles(least + more) })
}

// TwoDigits rounds an estimated number of replicates up to two digits.
func TwoDigits(n int) int {
	step := 1
	for n/step >= 100 {
		step *= 10
	}
	return (n + step - 1) / step * step
}

// A Unit names the replicates.
type Unit string

// The units of replication. Numbers about a trained agent are replicated by training runs.
const (
	Executions   Unit = "executions"
	Days         Unit = "days"
	Simulations  Unit = "simulations"
	Draws        Unit = "draws"
	TrainingRuns Unit = "training runs"
	Measurements Unit = "measurements"
)

// Fewest is how many replicates a verdict needs: three training runs, two of anything else.
func (u Unit) Fewest() int {
	if u == TrainingRuns {
		return 3
	}
	return 2
}

// A Measurement is the project's value for a claim.
type Measurement struct {
	Value float64
	// Low and High bound the 95 % interval of the value; NaN for one replicate. Without a sample both are Value.
	Low, High float64
	// StdErr is the standard error of the value; NaN for one replicate.
	StdErr float64
	// PrintSE is the standard error of the printed number, also a sample; 0 if both used the same instances.
	PrintSE float64
	// Replicates is the size of the sample; 0 if the value was not sampled.
	Replicates int
	// Unit names the replicates; empty if the value was not sampled.
	Unit Unit
	// Fixed is the part of StdErr that more replicates do not narrow, such as the error of draws that they share.
	Fixed float64
	// Count marks a mean of counts over executions, of which no interval is below 0.
	Count bool
	// Runs are the values of the replicates if they are training runs.
	Runs []float64
	// Training says by how much less the agents behind the value learned than the paper's. It is zero without agents.
	Training Training
	// Detail says in words what was found, such as which other method was best: added to a deviation's reason.
	Detail string
}

// A Training compares how long agents learned here with how long the paper's did.
type Training struct {
	// Steps and Paper are the steps of training here and in the paper.
	Steps, Paper float64
	// From and To bound the values that longer training could give. They are infinite where no limit is known.
	From, To float64
}

// reaches reports whether the agents learned for less than the paper's, and longer training could give one of the
// values.
func (t Training) reaches(from, to float64) bool {
	return t.Steps < t.Paper && t.From <= to && from <= t.To
}

// Exactly is a measurement that was not sampled.
func Exactly(v float64) Measurement { return Measurement{Value: v, Low: v, High: v} }

// Samples of these sizes have bootstrapped intervals. Smaller samples have Student's, because a bootstrap of few values
// is too narrow. Larger samples have Student's, too, because the two do not differ there.
const leastBootstrapped, mostBootstrapped = 30, math.MaxUint16

// MeanOf is the mean of a sample with its interval. The paper's number was the mean of the
// given number of replicates; 0 means that the paper used the same instances.
func MeanOf(values []float64, unit Unit, paper int) (Measurement, error) {
	s, err := stats.Summarize(values)
	if err != nil {
		return Measurement{}, err
	}
	m := Measurement{Value: s.Mean, Low: s.Low, High: s.High, StdErr: s.StdErr, Replicates: s.N, Unit: unit}
	if unit == TrainingRuns {
		m.Runs = values
	}
	if paper > 0 {
		m.PrintSE = s.StdDev / math.Sqrt(float64(paper))
	}
	if s.N >= leastBootstrapped && s.N <= mostBootstrapped && s.StdDev > 0 {
		m.Low, m.High = stats.Accelerated(values, s.Mean)
	}
	notCounted := func(v float64) bool { return v < 0 || v != math.Trunc(v) }
	m.Count = unit == Executions && !slices.ContainsFunc(values, notCounted)
	if m.Count {
		m.Low = math.Max(m.Low, 0)
	}
	return m, nil
}

// Sampled is the mean of n replicates of which only mean and standard deviation are known. The paper's number has the
// given standard error.
func Sampled(mean, sd float64, n int, unit Unit, printSE float64) Measurement {
	m := Measurement{Value: mean, StdErr: sd / math.Sqrt(float64(n)), PrintSE: printSE, Replicates: n, Unit: unit}
	half := float64(m.quantile() * m.StdErr)
	m.Low, m.High = mean-half, mean+half
	return m
}

// Minus returns the difference of two independent measurements of one quantity, and half of its 95 % interval.
func (m Measurement) Minus(other Measurement) (difference, half float64) {
	quantile := max(m.quantile(), other.quantile())
	return m.Value - other.Value, quantile * portable.Hypot(m.StdErr, other.StdErr)
}

// Agrees reports whether the 95 % interval of the difference of two measurements contains 0, or lies within what is
// allowed.
func (m Measurement) Agrees(other Measurement, allowed float64) bool {
	difference, half := m.Minus(other)
	return math.Abs(difference) <= max(half, allowed-half)
}

// Affine returns scale times the measurement plus a shift.
func (m Measurement) Affine(scale, shift float64) Measurement {
	m.Value, m.Low, m.High = float64(scale*m.Value)+shift, float64(scale*m.Low)+shift, float64(scale*m.High)+shift
	if scale < 0 {
		m.Low, m.High = m.High, m.Low
	}
	from, to := float64(scale*m.Training.From)+shift, float64(scale*m.Training.To)+shift
	m.Training.From, m.Training.To = math.Min(from, to), math.Max(from, to)
	size := math.Abs(scale)
	m.StdErr, m.PrintSE, m.Fixed = size*m.StdErr, size*m.PrintSE, size*m.Fixed
	m.Count = m.Count && scale > 0 && shift == 0
	m.Runs = slices.Clone(m.Runs)
	for i, v := range m.Runs {
		m.Runs[i] = float64(scale*v) + shift
	}
	return m
}

// interval widens the measurement's interval by the printed number's sampling error.
func (m *Measurement) interval() (low, high float64) {
	if m.Unit != "" && (m.Replicates < m.Unit.Fewest() || math.IsNaN(m.Low) || math.IsNaN(m.High)) {
		return math.Inf(-1), math.Inf(1)
	}
	widen := m.quantile() * m.PrintSE
	low, high = m.Value-portable.Hypot(m.Value-m.Low, widen), m.Value+portable.Hypot(m.High-m.Value, widen)
	if m.Count {
		low = math.Max(low, 0)
	}
	return low, high
}

// outer widens a 95 % interval to 97.5 %. A region with two ends can be missed on both sides: a 95 % interval
// would lie outside up to 5 % of the time although the truth lies inside.
func (m *Measurement) outer(low, high float64) (outerLow, outerHigh float64) {
	q := quantiles(m.sampleSize())
	widen := q.outer / q.inner
	return m.Value - float64(widen*(m.Value-low)), m.Value + float64(widen*(high-m.Value))
}

// quantile returns the number of standard errors on each side of the 95 % interval.
func (m *Measurement) quantile() float64 { return quantiles(m.sampleSize()).inner }

// sampleSize returns the number of replicates; a value that was not sampled counts as a large sample.
func (m *Measurement) sampleSize() int {
	if m.Unit == "" {
		return leastBootstrapped
	}
	return m.Replicates
}

// A halfWidth has the standard errors on each side of the 95 % interval (inner) and of the 97.5 % interval (outer).
type halfWidth struct{ inner, outer float64 }

// quantiles returns the half-widths of the intervals of a mean of n: by Student's t below [leastBootstrapped], and by
// the normal distribution from there on.
func quantiles(n int) halfWidth { return quantileTable()[min(max(n, 2), leastBootstrapped)] }

var quantileTable = sync.OnceValue(func() (out [leastBootstrapped + 1]halfWidth) {
	const inner, outer = 0.975, 0.9875
	for n := 2; n < leastBootstrapped; n++ {
		out[n] = halfWidth{stats.StudentQuantile(n-1, inner), stats.StudentQuantile(n-1, outer)}
	}
	out[leastBootstrapped] = halfWidth{stats.NormalQuantile(inner), stats.NormalQuantile(outer)}
	return out
})

// seed is the seed of the hierarchical bootstrap.
const seed = 20260101

// Crossed is the mean over training runs and draws, where values[i][j] is the result of run i on draw j. Its
// interval is from a hierarchical bootstrap, which resamples both, because the number would move with
// either; below 30 runs it is widened as Student's t is. The replicates are the training runs.
func Crossed(values [][]float64) (Measurement, error) {
	runs := make([]float64, len(values)) // the mean of each run
	for i, v := range values {
		if len(v) != len(values[0]) {
			return Measurement{}, fmt.Errorf("run %d has %d draws, the first one %d", i+1, len(v), len(values[0]))
		}
		runs[i] = stats.Mean(v)
	}
	m, err := MeanOf(runs, TrainingRuns, 0)
	if err != nil || len(runs) < 2 {
		return m, err
	}
	means := stats.ResampleCrossed(values, seed)
	// Of few runs the bootstrap's deviation is too small by this factor.
	n := float64(len(runs))
	_, deviation := stats.MeanStdDev(means)
	m.StdErr = deviation * math.Sqrt(n/(n-1))
	half := float64(m.quantile() * m.StdErr)
	m.Low, m.High = m.Value-half, m.Value+half
	if draws := slices.Clone(values[0]); len(draws) > 1 {
		for _, v := range values[1:] {
			floats.Add(draws, v)
		}
		_, ofDraws := stats.MeanStdDev(draws)
		m.Fixed = min(m.StdErr, ofDraws/n/math.Sqrt(float64(len(draws))))
	}
	return m, nil
}
