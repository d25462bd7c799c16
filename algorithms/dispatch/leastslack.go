package dispatch

import (
	"math"

	"miglab/harness/sim"
)

var _ = register("least-slack", "our own",
	"the slice that leaves the head the least time to its deadline but none after it, else the largest", leastSlack)

func leastSlack(q *sim.Queue) int {
	j := q.Head()
	slice, slack := cheapestSlice(q, func(s *sim.Slice) float64 {
		end := q.Now() + j.On(s.Size)
		if end <= j.Deadline {
			return float64(j.Deadline - end)
		}
		return math.Inf(1)
	})
	if math.IsInf(slack, 1) {
		return largest(q)
	}
	return slice
}
