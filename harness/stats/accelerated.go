package stats

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// acceleratedSeed is the seed of all resamples of [Accelerated].
const acceleratedSeed = 20260101

// Accelerated returns the 95 % interval of the mean of values. There must be 3 to [math.MaxUint16] values, not all
// equal. mean is their mean, which callers know. The interval is the bias-corrected and accelerated bootstrap (Efron
// and Tibshirani, An Introduction to the Bootstrap, 14.3), because the plain percentiles are too low or too high for
// skewed values. It takes the quantiles of Student's t times sqrt(n/(n-1)) in place of the normal ones, because the
// bootstrap takes the deviation of the sample for the true one. It is still too narrow for fewer than about 30 values.
//
// Several tables often show the same sample. So the process keeps each interval, by values and mean.
func Accelerated(values []float64, mean float64) (low, high float64) {
	sample := binary.LittleEndian.AppendUint64(nil, math.Float64bits(mean))
	for _, v := range values {
		sample = binary.LittleEndian.AppendUint64(sample, math.Float64bits(v))
	}
	interval, _ := acceleratedIntervals.LoadOrStore(sha256.Sum256(sample), sync.OnceValues(func() (_, _ float64) {
		return resampleInterval(values, mean)
	}))
	return interval.(func() (float64, float64))()
}

// acceleratedIntervals has a function for each hash of a mean and a sample. It returns their interval.
var acceleratedIntervals sync.Map

// resampleInterval computes the interval of [Accelerated].
func resampleInterval(values []float64, mean float64) (low, high float64) {
	n := len(values)
	means := resampleMeans(values)
	below := 0
	for _, m := range means {
		if m < mean {
			below++
		}
	}
	slices.Sort(means)
	bias := NormalQuantile((float64(below) + 0.5) / (float64(len(means)) + 1))
	acceleration := skew(values) / (6 * math.Sqrt(float64(n)))
	t := StudentQuantile(n-1, 1-tail) * math.Sqrt(float64(n)/float64(n-1))
	at := func(z float64) float64 {
		level := roundDigits(distuv.UnitNormal.CDF(bias + (bias+z)/(1-float64(acceleration*(bias+z)))))
		return interpolate(means, math.Min(math.Max(level, 0), 1))
	}
	return at(-t), at(t)
}

// interpolate returns the quantile p of values in ascending order. Value i, counted from 1, has the level i/n, and
// levels in between are interpolated linearly.
func interpolate(sorted []float64, p float64) float64 {
	place := float64(p * float64(len(sorted)))
	i := int(math.Ceil(place)) - 1
	if i <= 0 {
		return sorted[0]
	}
	before := float64(i+1) - place
	return float64(before*sorted[i-1]) + float64((1-before)*sorted[i])
}

// atOnce is the number of resamples that are summed at once, which is faster than one after
// the other. It divides [Resamples].
const atOnce = 4

// resampleMeans returns the means of all resamples.
func resampleMeans(values []float64) []float64 {
	n := len(values)
	drawn := places(n)
	means := make([]float64, 0, Resamples)
	for k := 0; k < Resamples; k += atOnce {
		for _, sum := range sumDrawn(values, drawn[k*n:(k+atOnce)*n]) {
			means = append(means, sum/float64(n))
		}
	}
	return means
}

// sumDrawn returns the sums of the drawn values of successive resamples.
func sumDrawn(values []float64, drawn []uint16) [atOnce]float64 {
	n := len(drawn) / atOnce
	a, b, c, d := drawn[:n], drawn[n:][:n], drawn[2*n:][:n], drawn[3*n:][:n]
	var s, t, u, v float64
	for i, k := range a {
		s += values[k]
		t += values[b[i]]
		u += values[c[i]]
		v += values[d[i]]
	}
	return [...]float64{s, t, u, v}
}

// mostPlaces limits the values of all samples whose places are kept: 20 kB for a value.
const mostPlaces = 1 << 15

var (
	placesLock sync.Mutex
	allPlaces  = map[int]func() []uint16{} // by the number of values in a sample
	keptPlaces int                         // the sum of the keys
)

// places returns, for each resample in turn, the n indices that it draws. All samples of one size share the indices,
// because drawing costs five times as much as summing. For many values the indices exceed the processor's caches, so a
// short type is faster.
func places(n int) []uint16 {
	placesLock.Lock()
	if allPlaces[n] == nil {
		if keptPlaces += n; keptPlaces > mostPlaces {
			clear(allPlaces)
			keptPlaces = n
		}
		allPlaces[n] = sync.OnceValue(func() []uint16 {
			r := rand.New(rand.NewPCG(acceleratedSeed, uint64(n)))
			out := make([]uint16, Resamples*n)
			for i := range out {
				out[i] = uint16(r.Uint32N(uint32(n)))
			}
			return out
		})
	}
	shared := allPlaces[n]
	placesLock.Unlock()
	return shared()
}

// ResampleCrossed returns the means of [Resamples] resamples of values[i][j], the result of run i on draw j. A resample
// chooses as many runs as there are and, once for all of them, as many draws, both with replacement.
func ResampleCrossed(values [][]float64, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	means := make([]float64, Resamples)
	draws := len(values[0])
	chosen := make([]int, draws)
	for k := range means {
		for j := range chosen {
			chosen[j] = r.IntN(draws)
		}
		for range values {
			row := values[r.IntN(len(values))]
			for _, j := range chosen {
				means[k] += row[j]
			}
		}
	}
	floats.Scale(1/float64(len(values)*draws), means)
	return means
}
