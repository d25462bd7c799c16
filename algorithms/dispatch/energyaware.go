package dispatch

import (
	"math"

	"miglab/harness/sim"
)

var _ = register("energy-aware", "our own", "the smallest slice that meets the head's deadline, else the largest; of "+
	"that size the one that raises power least", energyAware)

// energyAware takes the smallest size that meets the deadline, else the largest, on the GPU whose power this raises
// least. leastSlack takes the same size if durations fall with the size.
func energyAware(q *sim.Queue) int {
	j := q.Head()
	slice, cost := cheapestSlice(q, func(s *sim.Slice) float64 {
		if q.Now()+j.On(s.Size) <= j.Deadline {
			return float64(s.Size)
		}
		return math.Inf(1)
	})
	if math.IsInf(cost, 1) {
		slice = largest(q)
	}
	chosen := q.Slices()[slice].Size
	slice, _ = cheapestSlice(q, func(s *sim.Slice) float64 {
		if s.Size != chosen {
			return math.Inf(1)
		}
		return q.Watts(s.GPU, chosen) - q.Watts(s.GPU, 0)
	})
	return slice
}
