package dispatch

import "miglab/harness/sim"

var _ = register("eft-true", report+", as described", "earliest finish by the head's true durations", eftTrue)

// eftTrue is Largest-First wherever durations fall with the size, as those of the report's jobs do.
func eftTrue(q *sim.Queue) int {
	j := q.Head()
	slice, _ := cheapestSlice(q, func(s *sim.Slice) float64 { return float64(j.On(s.Size)) })
	return slice
}
