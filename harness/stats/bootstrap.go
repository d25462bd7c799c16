package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// Resamples is the number of resamples that [Resample] draws.
const Resamples = 10_000

// tail is the probability below an interval, and the probability above it.
const tail = (1 - Confidence) / 2

// Bootstrap returns the [Resampled.Interval] of a single sample. It passes on the errors of [Resample].
func Bootstrap(values []float64, seed uint64) (low, high float64, err error) {
	r, err := Resample([][]float64{values}, seed)
	if err != nil {
		return 0, 0, err
	}
	defer r.Release()
	low, high = r.Interval(0)
	return low, high, nil
}

// Resampled holds the means of [Resamples] resamples of several samples. Only one goroutine at a time may use it.
type Resampled struct {
	samples [][]float64
	means   [][]float64 // the means of each sample's resamples, in the order of the draws
	scratch []float64   // the means of one sample, or their differences, while a quantile is selected
}

// Resample draws [Resamples] resamples: it draws as many rows as the samples have, with replacement, and takes the
// mean of these rows in each sample. Row i of every sample must belong to the same instance, so that differences of
// means are means of paired differences. The draws depend only on the seed and on the number of rows.
//
// Resample keeps the samples; they must not change. It returns [ErrNoValues] for empty samples, and
// an error for samples of different sizes, a value that is not finite, or a sum that could overflow.
func Resample(samples [][]float64, seed uint64) (*Resampled, error) {
	r := &Resampled{
		samples: samples, means: make([][]float64, len(samples)),
		scratch: buffers.Get().(*[Resamples]float64)[:],
	}
	var varied []int // the samples whose values are not all equal
	for i, values := range samples {
		if len(values) != len(samples[0]) {
			return nil, fmt.Errorf("%d and %d values cannot be paired; there must be as many of each", len(samples[0]),
				len(values))
		}
		if len(values) == 0 {
			return nil, ErrNoValues
		}
		if err := finite(values); err != nil {
			return nil, err
		}
		least, most := slices.Min(values), slices.Max(values)
		sum := float64(len(values)) * max(-least, most)
		if math.IsInf(sum, 0) {
			return nil, fmt.Errorf("the sum of a resample is %v; it must be finite; scale the values down", sum)
		}
		r.means[i] = buffers.Get().(*[Resamples]float64)[:]
		if least < most {
			varied = append(varied, i)
			continue
		}
		for resample := range r.means[i] {
			r.means[i][resample] = least // a sum of equal values divided by their number would show rounding
		}
	}
	r.draw(varied, seed)
	return r, nil
}

// buffers holds the memory of released resamples.
var buffers = sync.Pool{New: func() any { return new([Resamples]float64) }}

// Release gives the memory to the next [Resample]. After it r must not be used, nor released again.
func (r *Resampled) Release() {
	for _, means := range append(r.means, r.scratch) {
		buffers.Put((*[Resamples]float64)(means))
	}
	*r = Resampled{}
}

// draw sets the means of the chosen samples.
func (r *Resampled) draw(chosen []int, seed uint64) {
	if len(chosen) == 0 {
		return
	}
	groups := interleave(r.samples, chosen)
	n := len(r.samples[0])
	d := draws{random: rand.NewPCG(seed, 0), n: uint64(n)}
	for i := range d.pairs {
		d.pairs[i] = make([]pair, (n+1)/2)
	}
	for first := 0; first < Resamples; first += block {
		for _, pairs := range d.pairs {
			d.next(pairs)
		}
		for g, rows := range groups {
			var means [block][lanes]float64
			for i := range means {
				d.mean(&means[i], d.pairs[i], rows)
			}
			for lane, sample := range chosen[g*lanes : min((g+1)*lanes, len(chosen))] {
				for i := range r.means[sample][first : first+block] {
					r.means[sample][first+i] = means[i][lane]
				}
			}
		}
	}
}

// Interval returns the interval in which the mean of a sample lies with the probability [Confidence]: the quantiles
// of the means of its resamples (Efron and Tibshirani, An Introduction to the Bootstrap, 13.3).
//
// It assumes no distribution. With fewer than about ten values it is too narrow: it then contains the mean with less
// than that probability. A single value has no interval; low and high are NaN.
func (r *Resampled) Interval(sample int) (low, high float64) {
	if len(r.samples[sample]) == 1 {
		return math.NaN(), math.NaN()
	}
	copy(r.scratch, r.means[sample])
	return selectQuantile(r.scratch, tail), selectQuantile(r.scratch, 1-tail)
}

// Above reports whether the interval of the mean difference, sample a less sample b, lies above zero. This is the
// interval of the paired bootstrap, because the difference of two means of a resample is the mean of its paired
// differences. A difference that may be a rounding error counts as zero.
func (r *Resampled) Above(a, b int) bool {
	n := len(r.samples[a])
	if n == 1 {
		return false
	}
	largest := 0.0
	for row, v := range r.samples[a] {
		largest = max(largest, math.Abs(v), math.Abs(r.samples[b][row]))
	}
	const errorOfMeans = 0x1p-51 // twice the largest relative error of both means for each value
	rounding := float64(n) * errorOfMeans * largest
	// In ascending order, counted from 0, the low end of the interval lies between this difference and the next.
	lower := int(math.Floor(tail * (Resamples - 1)))
	notAbove := 0
	for resample, mean := range r.means[a] {
		difference := mean - r.means[b][resample]
		r.scratch[resample] = difference
		if difference > rounding {
			continue
		}
		notAbove++
		if notAbove > lower+1 {
			return false
		}
	}
	return notAbove <= lower || selectQuantile(r.scratch, tail) > rounding
}

// block is the number of resamples that are drawn before the next group is added up, so that the
// means of a sample are written side by side.
const block = 16

const _ = uint(-(Resamples % block)) // does not compile unless block divides Resamples

// lanes is the number of samples that are added up side by side. The additions to a single
// sum would wait for each other.
const lanes = 4

// interleave returns the chosen samples in groups. A row of a group holds the values of its samples side by side. The
// last group is filled up with zeros. Each group ends with an additional row of zeros.
func interleave(samples [][]float64, chosen []int) [][][lanes]float64 {
	groups := make([][][lanes]float64, (len(chosen)+lanes-1)/lanes)
	for i, sample := range chosen {
		g := &groups[i/lanes]
		if *g == nil {
			*g = make([][lanes]float64, len(samples[sample])+1)
		}
		for row, v := range samples[sample] {
			(*g)[row][i%lanes] = v
		}
	}
	return groups
}

// draws holds the rows of a block of resamples.
type draws struct {
	random *rand.PCG
	n      uint64 // the number of rows
	// pairs holds the drawn rows of each resample. If n is odd, the last row is n, the row of zeros.
	pairs [block][]pair
}

type pair struct{ first, second uint32 }

// next draws the rows of a resample into pairs. Each half of a random number draws a row. Some rows are drawn more
// often than others by n in 2³², which is far too little to affect the intervals.
func (d *draws) next(pairs []pair) {
	for i := range pairs {
		u := d.random.Uint64()
		pairs[i] = pair{uint32((u >> 32) * d.n >> 32), uint32((u & math.MaxUint32) * d.n >> 32)}
	}
	if d.n%2 == 1 {
		pairs[d.n/2].second = uint32(d.n)
	}
}

// mean sets the means of drawn rows in a group.
func (d *draws) mean(means *[lanes]float64, pairs []pair, of [][lanes]float64) {
	var a0, a1, a2, a3, b0, b1, b2, b3 float64
	for _, drawn := range pairs {
		a, b := &of[drawn.first], &of[drawn.second]
		a0, a1, a2, a3 = a0+a[0], a1+a[1], a2+a[2], a3+a[3]
		b0, b1, b2, b3 = b0+b[0], b1+b[1], b2+b[2], b3+b[3]
	}
	n := float64(d.n)
	means[0], means[1], means[2], means[3] = (a0+b0)/n, (a1+b1)/n, (a2+b2)/n, (a3+b3)/n
}

// selectQuantile returns the [quantile] of values in any order. It reorders them.
func selectQuantile(values []float64, q float64) float64 {
	i := int(q * float64(len(values)-1))
	selectNth(values, i)
	selectNth(values[i+1:], 0)
	return quantile(values, q)
}

// selectNth moves the nth least value, counted from 0, to its place. No value before it is
// greater, and no value after it is less (Hoare, Algorithm 65: FIND, 1961).
func selectNth(values []float64, n int) {
	for len(values) > 1 {
		pivot := values[n]
		i, j := 0, len(values)-1
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
			values = values[:j+1]
		case n >= i:
			values, n = values[i:], n-i
		default:
			return
		}
	}
}
