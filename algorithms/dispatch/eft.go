package dispatch

import (
	"math"

	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

var _ = register("eft", report+", as released", "earliest finish by durations averaged over sizes 1-2 and 3-4", eft)

// eft implements EFT of the released code. It estimates the duration by the mean over sizes 1 and 2, the mean over
// sizes 3 and 4, or the duration on size 7. Table 7 needs this reading: with true durations, EFT is Largest-First.
func eft(q *sim.Queue) int {
	j := q.Head()
	small, medium, whole := average(j.On(1), j.On(2)), average(j.On(3), j.On(4)), j.On(mig.MaxSize)
	slice, _ := cheapestSlice(q, func(s *sim.Slice) float64 {
		switch {
		case s.Size <= 2:
			return float64(small)
		case s.Size <= 4:
			return float64(medium)
		}
		return float64(whole)
	})
	return slice
}

// average returns the mean of two durations, or the finite duration: A30 has no size 3.
func average(a, b task.Minutes) task.Minutes {
	if math.IsInf(float64(a+b), 1) {
		return min(a, b)
	}
	return (a + b) / 2
}
