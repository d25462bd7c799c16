package stats

import (
	"cmp"
	"slices"
)

// midRanks returns the rank of each value, 1 being the least. Equal values share the mean of the ranks that they take
// up. ties is the correction for ties, the sum of t³-t over the groups of t equal values.
func midRanks(values []float64) (ranks []float64, ties float64) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	ranks = make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[from]] == values[order[to]] {
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
