package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Resamples is how often [Bootstrap] draws from the values.
const Resamples = 10_000

// tail is the share of the means of resamples on each side of the interval.
const tail = (1 - Confidence) / 2

// An Interval holds the mean with the probability [Confidence].
type Interval struct{ Low, High float64 }

// Bootstrap returns the interval in which the mean lies with the probability
// [Confidence], as the quantiles of the means of [Resamples] samples drawn from the
// values with replacement (Efron and Tibshirani, An Introduction to the Bootstrap,
// 13.3). The same values in the same order and the same seed give the same interval.
//
// It assumes no distribution, but of fewer than about ten values it is too narrow: it
// then holds the mean less often than it says. A single value has no interval; low and
// high are NaN.
//
// Errors are [ErrNoValues], a [*ValueError], and a [*RangeError] where the values are
// so large that their sums are not finite.
func Bootstrap(values []float64, seed uint64) (low, high float64, err error) {
	out, err := BootstrapEach([][]float64{values}, seed)
	if err != nil {
		return 0, 0, err
	}
	return out[0].Low, out[0].High, nil
}

// BootstrapEach returns the interval of [Bootstrap] for each of several samples of the
// same size, all with the same seed. It draws once for all of them. Errors are those of
// Bootstrap and a [*LengthError].
func BootstrapEach(samples [][]float64, seed uint64) ([]Interval, error) {
	out := make([]Interval, len(samples))
	var open []int // the samples that need resampling
	for i, values := range samples {
		if len(values) != len(samples[0]) {
			return nil, &LengthError{len(samples[0]), len(values)}
		}
		least, most, err := span(values)
		switch {
		case err != nil:
			return nil, err
		case len(values) == 1:
			out[i] = Interval{math.NaN(), math.NaN()}
		case least == most:
			out[i] = Interval{least, least} // sums would show rounding
		default:
			open = append(open, i)
		}
	}
	means, err := resample(samples, open, seed)
	if err != nil {
		return nil, err
	}
	for i, sample := range open {
		out[sample] = Interval{selectQuantile(means[i], tail), selectQuantile(means[i], 1-tail)}
	}
	return out, nil
}

// resample returns the means of all resamples of each of the chosen samples.
func resample(samples [][]float64, chosen []int, seed uint64) ([][]float64, error) {
	if len(chosen) == 0 {
		return nil, nil
	}
	groups := interleave(samples, chosen)
	means := make([][]float64, len(groups)*lanes)
	for i := range means {
		means[i] = make([]float64, Resamples)
	}
	d := newDraws(len(samples[0]), seed)
	for r := range Resamples {
		d.next()
		for g, rows := range groups {
			for lane, mean := range d.means(rows) {
				if math.IsNaN(mean) || math.IsInf(mean, 0) {
					return nil, rangeOfMean(mean)
				}
				means[g*lanes+lane][r] = mean
			}
		}
	}
	return means, nil
}

// BootstrapAbove reports whether the interval of [Bootstrap] lies above zero. It draws
// only as long as that is open. Errors are those of Bootstrap.
func BootstrapAbove(values []float64, seed uint64) (bool, error) {
	least, most, err := span(values)
	switch {
	case err != nil:
		return false, err
	case len(values) == 1:
		return false, nil
	case least > 0 || least == most:
		return least > 0, nil
	case most <= 0:
		return false, nil
	}
	// The lower end lies between two means that are next to each other in order, this one
	// and the one after it, counted from 0.
	lower := int(math.Floor(tail * (Resamples - 1)))
	random := rand.NewPCG(seed, 0)
	notAbove := 0
	for range Resamples {
		mean := resampledMean(values, random)
		if math.IsNaN(mean) || math.IsInf(mean, 0) {
			return false, rangeOfMean(mean)
		}
		if mean <= 0 {
			notAbove++
		}
		if notAbove > lower+1 {
			return false, nil
		}
	}
	if notAbove == lower+1 {
		low, _, err := Bootstrap(values, seed)
		return low > 0, err
	}
	return true, nil
}

// resampledMean draws a resample and returns its mean. Each half of a random number draws
// a row; that some rows are drawn more often than others, by n in 2³², is far below what
// resampling can show. Rows are added to two sums by turns.
func resampledMean(values []float64, random *rand.PCG) float64 {
	n := uint64(len(values))
	var a, b float64
	for range n / 2 {
		u := random.Uint64()
		a += values[(u>>32)*n>>32]
		b += values[(u&math.MaxUint32)*n>>32]
	}
	if n%2 == 1 {
		a += values[(random.Uint64()>>32)*n>>32]
	}
	return (a + b) / float64(n)
}

func rangeOfMean(mean float64) error {
	return &RangeError{"the mean of a resample", mean, "finite; scale the values down"}
}

// span returns the least and the greatest value. Errors are [ErrNoValues] and a
// [*ValueError].
func span(values []float64) (least, most float64, err error) {
	if len(values) == 0 {
		return 0, 0, ErrNoValues
	}
	if err := finite(values); err != nil {
		return 0, 0, err
	}
	return slices.Min(values), slices.Max(values), nil
}

// lanes is how many samples are added up side by side: sums of one sample would have to
// wait for each other.
const lanes = 4

// interleave returns the chosen samples in groups: the rows of a group hold its samples'
// values side by side. The last group is filled up with zeros.
func interleave(samples [][]float64, chosen []int) [][][lanes]float64 {
	groups := make([][][lanes]float64, (len(chosen)+lanes-1)/lanes)
	for i, sample := range chosen {
		g := &groups[i/lanes]
		if *g == nil {
			*g = make([][lanes]float64, len(samples[sample]))
		}
		for row, v := range samples[sample] {
			(*g)[row][i%lanes] = v
		}
	}
	return groups
}

// draws are the rows of one resample after the other, those of [resampledMean].
type draws struct {
	random *rand.PCG
	rows   []uint32
}

func newDraws(n int, seed uint64) *draws {
	return &draws{rand.NewPCG(seed, 0), make([]uint32, n)}
}

// next draws the next resample.
func (d *draws) next() {
	n := uint64(len(d.rows))
	rows := d.rows
	for ; len(rows) >= 2; rows = rows[2:] {
		u := d.random.Uint64()
		rows[0], rows[1] = uint32((u>>32)*n>>32), uint32((u&math.MaxUint32)*n>>32)
	}
	if len(rows) == 1 {
		rows[0] = uint32((d.random.Uint64() >> 32) * n >> 32)
	}
}

// means returns the means of the drawn rows, with the sums of [resampledMean].
func (d *draws) means(of [][lanes]float64) [lanes]float64 {
	var a0, a1, a2, a3, b0, b1, b2, b3 float64
	rows := d.rows
	for ; len(rows) >= 2; rows = rows[2:] {
		a, b := &of[rows[0]], &of[rows[1]]
		a0, a1, a2, a3 = a0+a[0], a1+a[1], a2+a[2], a3+a[3]
		b0, b1, b2, b3 = b0+b[0], b1+b[1], b2+b[2], b3+b[3]
	}
	if len(rows) == 1 {
		a := &of[rows[0]]
		a0, a1, a2, a3 = a0+a[0], a1+a[1], a2+a[2], a3+a[3]
	}
	n := float64(len(d.rows))
	return [lanes]float64{(a0 + b0) / n, (a1 + b1) / n, (a2 + b2) / n, (a3 + b3) / n}
}

// selectQuantile is [quantile] of values in any order, which it changes.
func selectQuantile(values []float64, q float64) float64 {
	i := int(q * float64(len(values)-1))
	selectNth(values, i)
	selectNth(values[i+1:], 0)
	return quantile(values, q)
}

// selectNth moves the nth least value, counted from 0, to its place: none before it is
// greater and none after it is less (Hoare, Algorithm 65: FIND, 1961).
func selectNth(values []float64, n int) {
	for low, high := 0, len(values)-1; low < high; {
		pivot := values[(low+high)/2]
		i, j := low, high
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case n <= j:
			high = j
		case n >= i:
			low = i
		default:
			return
		}
	}
}
