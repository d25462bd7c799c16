package dispatch

import "miglab/harness/sim"

var _ = register("largest-first", report, "the largest free slice", largest)

func largest(q *sim.Queue) int {
	slice, _ := cheapestSlice(q, func(s *sim.Slice) float64 { return -float64(s.Size) })
	return slice
}
