package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Resamples is the number of resamples that [Resample] draws.
const Resamples = 10_000

// tail is the share of the means of resamples on each side of the interval.
const tail = (1 - Confidence) / 2

// Bootstrap returns the [Resampled.Interval] of a single sample. Errors are those of
// [Resample].
func Bootstrap(values []float64, seed uint64) (low, high float64, err error) {
	r, err := Resample([][]float64{values}, seed)
	if err != nil {
		return 0, 0, err
	}
	low, high = r.Interval(0)
	return low, high, nil
}

// Resampled holds the means of [Resamples] resamples of several samples of the same
// size. One goroutine at a time may use it.
type Resampled struct {
	samples [][]float64
	// means has the means of a sample's resamples, in the order in which they were drawn.
	means [][]float64
	// selected is where the means of one sample, or of one difference, are put in order.
	selected []float64
}

// Resample draws rows with replacement, as many as a sample has, [Resamples] times over,
// and takes the mean of the drawn rows in every sample. All samples share the draws, so
// that row i of each must belong to the same instance. The same seed gives the same
// draws, whatever the samples.
//
// Errors are [ErrNoValues], a [*ValueError], a [*LengthError], and a [*RangeError] where
// the values are so large that a sum may not be finite.
func Resample(samples [][]float64, seed uint64) (*Resampled, error) {
	r := &Resampled{samples: samples, means: make([][]float64, len(samples)), selected: make([]float64, Resamples)}
	var open []int // the samples that have several values
	for i, values := range samples {
		if len(values) != len(samples[0]) {
			return nil, &LengthError{len(samples[0]), len(values)}
		}
		if len(values) == 0 {
			return nil, ErrNoValues
		}
		if err := finite(values); err != nil {
			return nil, err
		}
		least, most := slices.Min(values), slices.Max(values)
		if sum := float64(len(values)) * max(-least, most); math.IsInf(sum, 0) {
			return nil, &RangeError{"the sum of a resample", sum, "finite; scale the values down"}
		}
		if r.means[i] = make([]float64, Resamples); least < most {
			open = append(open, i)
			continue
		}
		for resample := range r.means[i] {
			r.means[i][resample] = least // a sum would show rounding
		}
	}
	r.draw(open, seed)
	return r, nil
}

// draw sets the means of the chosen samples.
func (r *Resampled) draw(chosen []int, seed uint64) {
	if len(chosen) == 0 {
		return
	}
	groups := interleave(r.samples, chosen)
	d := newDraws(len(r.samples[0]), seed)
	for resample := range Resamples {
		means := d.next(groups[0])
		for g, rows := range groups {
			if g > 0 {
				means = d.means(rows)
			}
			for lane, sample := range chosen[g*lanes : min((g+1)*lanes, len(chosen))] {
				r.means[sample][resample] = means[lane]
			}
		}
	}
}

// Interval returns the interval in which the mean of a sample lies with the probability
// [Confidence]: the quantiles of the means of its resamples (Efron and Tibshirani, An
// Introduction to the Bootstrap, 13.3).
//
// It assumes no distribution. With fewer than about ten values it is too narrow: it then
// holds the mean less often than it says. A single value has no interval; low and high
// are NaN.
func (r *Resampled) Interval(sample int) (low, high float64) {
	if len(r.samples[sample]) == 1 {
		return math.NaN(), math.NaN()
	}
	copy(r.selected, r.means[sample])
	return selectQuantile(r.selected, tail), selectQuantile(r.selected, 1-tail)
}

// Above reports whether the interval of the mean of a's values less b's lies above zero,
// the rows being pairs. A difference that rounding may explain is none.
func (r *Resampled) Above(a, b int) bool {
	n := len(r.samples[a])
	if n == 1 {
		return false
	}
	largest := 0.0
	for row, v := range r.samples[a] {
		largest = max(largest, math.Abs(v), math.Abs(r.samples[b][row]))
	}
	rounding := float64(n) * 0x1p-51 * largest // twice what the sums of both may be off
	// The lower end lies between two differences that are next to each other in order, this
	// one and the one after it, counted from 0.
	lower := int(math.Floor(tail * (Resamples - 1)))
	notAbove := 0
	for resample, mean := range r.means[a] {
		difference := mean - r.means[b][resample]
		r.selected[resample] = difference
		if difference > rounding {
			continue
		}
		if notAbove++; notAbove > lower+1 {
			return false
		}
	}
	return notAbove <= lower || selectQuantile(r.selected, tail) > rounding
}

// lanes is how many samples are added up side by side: sums of one sample would have to
// wait for each other.
const lanes = 4

// interleave returns the chosen samples in groups: the rows of a group hold its samples'
// values side by side. The last group is filled up with zeros, and so is a row after the
// last of every group.
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

// draws are the rows of one resample after the other.
type draws struct {
	random *rand.PCG
	n      uint64
	// pairs are the rows of a resample. An odd number is made even by the row n.
	pairs []pair
}

type pair struct{ first, second uint32 }

func newDraws(n int, seed uint64) *draws {
	return &draws{rand.NewPCG(seed, 0), uint64(n), make([]pair, (n+1)/2)}
}

// next draws the next resample and returns the means of its rows. Each half of a random
// number draws a row. Some rows are drawn more often than others, by n in 2³², far below
// what resampling can show. While a number is computed the sums of the last two rows are.
func (d *draws) next(of [][lanes]float64) [lanes]float64 {
	var a0, a1, a2, a3, b0, b1, b2, b3 float64
	n := d.n
	for i := range d.pairs[:n/2] {
		u := d.random.Uint64()
		first, second := uint32((u>>32)*n>>32), uint32((u&math.MaxUint32)*n>>32)
		d.pairs[i] = pair{first, second}
		a, b := &of[first], &of[second]
		a0, a1, a2, a3 = a0+a[0], a1+a[1], a2+a[2], a3+a[3]
		b0, b1, b2, b3 = b0+b[0], b1+b[1], b2+b[2], b3+b[3]
	}
	if n%2 == 1 {
		first := uint32((d.random.Uint64() >> 32) * n >> 32)
		d.pairs[n/2] = pair{first, uint32(n)}
		a := &of[first]
		a0, a1, a2, a3 = a0+a[0], a1+a[1], a2+a[2], a3+a[3]
	}
	return [lanes]float64{(a0 + b0) / float64(n), (a1 + b1) / float64(n), (a2 + b2) / float64(n), (a3 + b3) / float64(n)}
}

// means returns the means of the rows that were drawn last. Rows are added to two sums by
// turns.
func (d *draws) means(of [][lanes]float64) [lanes]float64 {
	var a0, a1, a2, a3, b0, b1, b2, b3 float64
	for _, drawn := range d.pairs {
		a, b := &of[drawn.first], &of[drawn.second]
		a0, a1, a2, a3 = a0+a[0], a1+a[1], a2+a[2], a3+a[3]
		b0, b1, b2, b3 = b0+b[0], b1+b[1], b2+b[2], b3+b[3]
	}
	n := float64(d.n)
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
	for len(values) > 1 {
		pivot := pivotFor(values, n)
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

// pivotFor returns one of the values. Of many it takes a sample, and of that the value
// that probably leaves the nth on the shorter side (Floyd and Rivest, Algorithm 489:
// SELECT, 1975).
func pivotFor(values []float64, n int) float64 {
	const share, margin = 20, 10
	size := len(values) / share
	if size <= 2*margin {
		return values[n]
	}
	at := n/share + margin
	if n > len(values)/2 {
		at = n/share - margin
	}
	middle := (len(values) - size) / 2
	sample := values[middle : middle+size]
	selectNth(sample, at)
	return sample[at]
}
