package stats

import (
	"cmp"
	"slices"
)

// Holm adjusts the probabilities of several tests. If all tests below a level are rejected, the probability of a wrong
// rejection is at most that level (Holm, A simple sequentially rejective multiple test procedure, 1979). Every element
// of p is from 0 to 1. The result is in the order of p; each element is at least that element of p and at most 1.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	adjusted := make([]float64, len(p))
	floor := 0.0
	for done, i := range order {
		floor = max(floor, min(1, float64(len(p)-done)*p[i]))
		adjusted[i] = floor
	}
	return adjusted
}
