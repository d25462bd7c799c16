package stats

import (
	"errors"
	"math"
	"math/rand/v2"
)

// BlockResamples is the number of resamples that [BlockMean] draws.
const BlockResamples = 2_000

// A BlockEstimate is a mean over a long series of values that depend on those before them.
type BlockEstimate struct {
	Mean      float64
	Low, High float64 // bound the 95 % confidence interval of the mean
	Blocks    int     // how many blocks fit into the series side by side
	// Short says that neighbouring blocks are alike, so that the interval is too narrow. Longer blocks are needed.
	Short bool
}

// ErrFewBlocks is the error for a series of fewer than four blocks.
var ErrFewBlocks = errors.New("there are fewer than four blocks")

// BlockMean estimates the mean of a series by the moving-block bootstrap (Künsch, Annals of Statistics, 1989). The
// series is divided into bins of equal time; bin i has counts[i] values with the sum sums[i]. block is the length of a
// block in bins, at least 1. A resample draws as many blocks as fit into the series, with replacement; a block may
// begin in any bin. The interval is the deviation of the resampled means times the quantile of Student's t for the
// number of blocks, because few blocks make quantiles of the means too narrow.
//
// To compare two series, pass the differences of their sums, with the counts that both share. The draws depend only on
// the seed, the number of bins and the length of a block. BlockMean returns [ErrFewBlocks], or [ErrNoValues] if fewer
// than two resamples have values.
func BlockMean(sums, counts []float64, block int, seed uint64) (BlockEstimate, error) {
	blocks := len(sums) / block
	if blocks < 4 {
		return BlockEstimate{}, ErrFewBlocks
	}
	total, number := accumulate(sums), accumulate(counts)
	last := len(sums)
	if number[last] == 0 {
		return BlockEstimate{}, ErrNoValues
	}
	e := BlockEstimate{Mean: total[last] / number[last], Blocks: blocks}
	rng := rand.New(rand.NewPCG(seed, uint64(len(sums))))
	var means []float64
	for range BlockResamples {
		var sum, n float64
		for range blocks {
			at := rng.IntN(last - block + 1)
			sum += total[at+block] - total[at]
			n += number[at+block] - number[at]
		}
		if n > 0 {
			means = append(means, sum/n)
		}
	}
	if len(means) < 2 {
		return BlockEstimate{}, ErrNoValues
	}
	_, deviation := MeanStdDev(means)
	// The resampled deviation divides by blocks. An unbiased one divides by blocks-1.
	correction := math.Sqrt(float64(blocks) / float64(blocks-1))
	half := float64(StudentQuantile(blocks-1, 1-tail) * deviation * correction)
	e.Low, e.High = e.Mean-half, e.Mean+half
	e.Short = alike(e.Mean, total, number, block)
	return e, nil
}

// accumulate returns the sums of the first 0, 1, 2, ... values.
func accumulate(values []float64) []float64 {
	out := make([]float64, len(values)+1)
	for i, v := range values {
		out[i+1] = out[i] + v
	}
	return out
}

// alike reports whether neighbouring blocks deviate from the mean to the same side more than chance explains, on the
// level of 5 %. Each block counts with the sum of its deviations.
func alike(mean float64, total, number []float64, block int) bool {
	var before, squares, products float64
	blocks := (len(total) - 1) / block
	for b := range blocks {
		sum := total[(b+1)*block] - total[b*block]
		deviation := sum - float64(mean*(number[(b+1)*block]-number[b*block]))
		squares += float64(deviation * deviation)
		products += float64(deviation * before)
		before = deviation
	}
	const fivePercent = 1.645 // quantile of the normal distribution
	return squares > 0 && products/squares > fivePercent/math.Sqrt(float64(blocks))
}
