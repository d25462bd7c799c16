package dispatch

import "miglab/harness/sim"

var _ = register("eft-true", report+", as described", "earliest finish by the head's true durations", eftTrue)

// eftTrue equals Largest-First if durations fall with the size, as in the report.
func eftTrue(q *sim.Queue) int {
	j := q.Head()
	slice, _ := cheapestSlice(q, func(s *sim.Slice) float64 { return float64(j.On(s.Size)) })
	return slice
}
