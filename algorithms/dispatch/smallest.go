package dispatch

import "miglab/harness/sim"

var _ = register("smallest-first", report, "the smallest free slice", smallest)

func smallest(q *sim.Queue) int {
	slice, _ := cheapestSlice(q, func(s *sim.Slice) float64 { return float64(s.Size) })
	return slice
}
