package stats

import (
	"gonum.org/v1/gonum/stat/distuv"
)

// FriedmanTest is the outcome of [Friedman].
type FriedmanTest struct {
	// Ranks is each algorithm's mean rank over the instances, 1 being the least score.
	Ranks []float64
	// ChiSquared has as many degrees of freedom as there are algorithms, less one.
	ChiSquared float64
	// P is the probability of ChiSquared or more if all algorithms are alike; 1 if all scores
	// are equal on every instance.
	P float64
}

// Friedman ranks the algorithms on each instance and tests whether their mean ranks
// differ, with the correction for ties (Conover, Practical Nonparametric Statistics,
// 5.8). scores[i][j] is the score of algorithm j on instance i. NaN means no valid answer
// and ranks last as in [Ranks]. P is taken from the chi-squared distribution, which is
// accurate for ten instances or more.
//
// Friedman returns [ErrNoValues] without scores, and an error for instances with different numbers of scores.
func Friedman(scores [][]float64) (FriedmanTest, error) {
	if len(scores) == 0 || len(scores[0]) == 0 {
		return FriedmanTest{}, ErrNoValues
	}
	n, k := float64(len(scores)), len(scores[0])
	middle := float64(float64(k+1) / 2)
	sums := make([]float64, k)
	within := 0.0 // sum of squares of all ranks about their middle
	for _, row := range scores {
		if len(row) != k {
			return FriedmanTest{}, errUnpaired(k, len(row))
		}
		ranks, _ := midRanks(row)
		for j, r := range ranks {
			sums[j] += r
			within += float64((r - middle) * (r - middle))
		}
	}
	t := FriedmanTest{Ranks: make([]float64, k), P: 1}
	between := 0.0
	for j, sum := range sums {
		t.Ranks[j] = sum / n
		d := sum - float64(n*middle)
		between += float64(d * d)
	}
	if within > 0 {
		t.ChiSquared = float64(k-1) * between / within
		t.P = roundDigits(distuv.ChiSquared{K: float64(k - 1)}.Survival(t.ChiSquared))
	}
	return t, nil
}
