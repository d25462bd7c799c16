package schedule

import (
	"math"

	"miglab/harness/mig"
)

// This file defines how exactly the referee compares times. The referee compares only points
// in time: it checks the length of a run by comparing its end with its start plus its duration.
//
// Two instants count as the same if they differ by at most the larger of
//
//   - resolution, 4 ns, so that programs may write times with nine decimals, and clocks may
//     cut a start, an end and a duration to nanoseconds each. It is 1/250 of the shortest
//     duration, [task.MinSeconds];
//   - precision times the earlier instant. That is 16 to 32 units in the last place of a
//     float64, for the rounding of start + duration and of sums of a few such times. It
//     exceeds the resolution from 1.1e6 s (13 days) on.
//
// The tolerance belongs to the two instants alone. It does not grow with the makespan: a run of 2 s that ends at 10 s
// lasts 2 s up to 4 ns, also beside a run that ends at 1e11 s, where instants are compared to 0.4 ms.
const (
	resolution mig.Seconds = 4e-9
	precision              = 1.0 / (1 << 48)
)

// later reports whether a is later than b by more than rounding. It is false if a or b is not a number.
func later(a, b mig.Seconds) bool {
	d := a - b
	if !(d > resolution) {
		return false
	}
	earlier := mig.Seconds(min(math.Abs(float64(a)), math.Abs(float64(b))))
	return d > precision*earlier || math.IsInf(float64(d), 1)
}

// sameInstant reports whether two instants differ by rounding at most.
func sameInstant(a, b mig.Seconds) bool { return !later(a, b) && !later(b, a) }

// fullness is the share by which the work may exceed the slice-seconds of the GPUs, so that overlaps within the
// resolution gain at most a millionth. Runs of 4 ms that each overlap the next one by the resolution gain as much.
const fullness = 1e-6
