package stats

import (
	"math"
	"slices"
)

// A Test is the outcome of [Wilcoxon].
type Test struct {
	// N is the number of differences that are not zero. The test uses only these.
	N         int
	Statistic float64 // the sum of the ranks of the positive differences, from 0 to N(N+1)/2
	// P is the probability of a statistic at least as far from its mean if neither sign is
	// favoured; 1 if all differences are zero.
	P     float64
	Exact bool // P is exact and not the normal approximation
}

// exactWilcoxon is the largest number of differences for which the distribution is
// counted exactly: a float64 still holds 2⁵⁰ exactly.
const exactWilcoxon = 50

// Wilcoxon tests whether paired differences are symmetric about zero, for example the differences of two algorithms
// on the same instances. It is the two-sided signed-rank test (Wilcoxon, Individual comparisons by ranking methods,
// 1945). As in that paper, zeros are left out. Equal magnitudes share their mean rank.
//
// For up to 50 differences without equal magnitudes the distribution is exact. Otherwise it is
// the normal approximation, corrected for ties and for continuity. Wilcoxon returns [ErrNoValues]
// for an empty sample and an error for a value that is not finite.
func Wilcoxon(differences []float64) (Test, error) {
	if len(differences) == 0 {
		return Test{}, ErrNoValues
	}
	if err := finite(differences); err != nil {
		return Test{}, err
	}
	var magnitudes []float64
	var positive []bool
	for _, d := range differences {
		if d != 0 {
			magnitudes = append(magnitudes, math.Abs(d))
			positive = append(positive, d > 0)
		}
	}
	ranks, ties := midRanks(magnitudes)
	t := Test{N: len(ranks), Exact: ties == 0 && len(ranks) <= exactWilcoxon}
	for i, r := range ranks {
		if positive[i] {
			t.Statistic += r
		}
	}
	n := float64(t.N)
	mean := float64(n * (n + 1) / 4)
	if t.Exact {
		upper := mean + math.Abs(t.Statistic-mean) // a whole number: the statistic, or its mirror image about the mean
		t.P = signedRankTails(t.N, int(upper))
		return t, nil
	}
	variance := float64(n*(n+1)*(float64(2*n)+1)/24) - float64(ties/48)
	z := max(0, math.Abs(t.Statistic-mean)-0.5) / math.Sqrt(variance)
	t.P = roundDigits(math.Erfc(z / math.Sqrt2))
	return t, nil
}

// signedRankTails returns the probability of both tails of the sum of the ranks 1 to n with
// a positive sign, if each sign is positive with probability one half. The upper tail is the
// sums of at least s, which is not below the mean; the lower tail is as far below the mean.
func signedRankTails(n, s int) float64 {
	counts := make([]float64, n*(n+1)/2+1) // of sets of ranks by their sum
	counts[0] = 1
	for rank := 1; rank <= n; rank++ {
		for sum := rank * (rank + 1) / 2; sum >= rank; sum-- {
			counts[sum] += counts[sum-rank]
		}
	}
	tail := 0.0
	for _, c := range slices.Backward(counts[s:]) {
		tail += c
	}
	return min(1, 2*math.Ldexp(tail, -n))
}
