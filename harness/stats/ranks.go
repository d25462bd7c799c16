package stats

import (
	"cmp"
	"math"
	"slices"
)

// midRanks returns the rank of each value, 1 being the least. Equal values share the mean of the ranks that they take
// up. NaN represents a missing value: it ranks after all numbers and is equal to other NaNs. ties is the correction
// for ties, the sum of t³-t over the groups of t equal values.
func midRanks(values []float64) (ranks []float64, ties float64) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	compare := func(i, j int) int {
		a, b := values[i], values[j]
		if math.IsNaN(a) || math.IsNaN(b) {
			return -cmp.Compare(a, b) // cmp.Compare puts NaN first
		}
		return cmp.Compare(a, b)
	}
	slices.SortFunc(order, compare)
	ranks = make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && compare(order[from], order[to]) == 0 {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = float64(from+1+to) / 2
		}
		t := float64(to - from)
		ties += float64(t*t*t) - t
		from = to
	}
	return ranks, ties
}
