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

// Accelerated returns the 95 % interval of the mean of 3 to [math.MaxUint16] values that are not all equal, given the
// mean. It is the bias-corrected and accelerated bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap,
// 14.3), because the plain percentiles are too low or too high for skewed values. It uses the levels of Student's t,
// because the deviation of a sample is not known exactly. The interval is too narrow for fewer than about 30 values.
//
// Accelerated keeps the intervals, because several tables often show the same sample.
func Accelerated(values []float64, mean float64) (low, high float64) {
	sample := make([]byte, 0, 8*len(values))
	for _, v := range values {
		sample = binary.LittleEndian.AppendUint64(sample, math.Float64bits(v))
	}
	interval := acceleratedIntervals.get(sha256.Sum256(sample), func() [2]float64 {
		low, high := resampleInterval(values, mean)
		return [2]float64{low, high}
	})
	return interval[0], interval[1]
}

// A memo keeps values by key and computes each value once. All methods are safe for concurrent use.
type memo[K comparable, V any] struct{ values sync.Map }

func (m *memo[K, V]) get(key K, compute func() V) V {
	once, _ := m.values.LoadOrStore(key, sync.OnceValue(compute))
	return once.(func() V)()
}

var (
	acceleratedIntervals memo[[sha256.Size]byte, [2]float64] // by the hash of the sample
	allPlaces            memo[int, []uint16]                 // by the number of values in a sample
)

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

// places returns the indices of the values that each resample of n takes, resample by resample. All
// samples of one size share the indices, because drawing costs five times as much as summing. For many
// values the indices exceed the processor's caches, so a short type is faster.
func places(n int) []uint16 {
	return allPlaces.get(n, func() []uint16 {
		r := rand.New(rand.NewPCG(acceleratedSeed, uint64(n)))
		out := make([]uint16, Resamples*n)
		for i := range out {
			out[i] = uint16(r.Uint32N(uint32(n)))
		}
		return out
	})
}

// ResampleCrossed returns the means of [Resamples] resamples of values[i][j], the result of run i on
// draw j. Each resample draws as many runs and as many draws with replacement; all runs share its draws.
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
