package stats

import (
	"cmp"
	"slices"
)

// Holm adjusts the probabilities of several tests so that rejecting those below a
// level wrongly rejects any with at most that probability (Holm, A simple sequentially
// rejective multiple test procedure, 1979). The result is in the order of p, in which
// every element is from 0 to 1, never below it and at most 1.
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
