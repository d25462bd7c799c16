package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// CheckPlacement is the referee of the placement track. It keeps books of its own, slice by
// slice, and shares no code with the engine. spots lists the places of each request's instances:
// none if it was rejected. The error joins all violations:
//
//   - a request has some of the instances that it needs, but not all
//   - an instance is on a GPU that does not exist, or starts where its profile cannot
//   - two instances use the same memory slice at the same time
func CheckPlacement(g *mig.GPU, gpus int, requests []task.Request, spots [][]Spot) error {
	if len(spots) != len(requests) {
		return fmt.Errorf("there are places for %d requests of %d", len(spots), len(requests))
	}
	var wrong []error
	stays := map[memorySlice][]occupation{}
	for i, q := range requests {
		if n := len(spots[i]); n != 0 && n != max(q.GPUs, 1) {
			wrong = append(wrong, fmt.Errorf("request %d has %d of the %d instances that it needs", i, n, max(q.GPUs, 1)))
		}
		until := math.MaxInt
		if q.Lifespan <= math.MaxInt-q.Arrival {
			until = q.Arrival + q.Lifespan
		}
		for _, s := range spots[i] {
			if s.GPU < 0 || s.GPU >= gpus || !slices.Contains(q.Profile.Starts, s.Start) {
				wrong = append(wrong, fmt.Errorf("request %d has %v on GPU %d at slice %d, where it cannot be", i, q.Profile, s.GPU, s.Start))
				continue
			}
			for k := s.Start; k < s.Start+q.Profile.Length; k++ {
				at := memorySlice{s.GPU, k}
				stays[at] = append(stays[at], occupation{i, q.Arrival, until})
			}
		}
	}
	for gpu := range gpus {
		for k := range g.MemorySlices {
			all := stays[memorySlice{gpu, k}]
			slices.SortStableFunc(all, func(a, b occupation) int { return cmp.Compare(a.from, b.from) })
			for i := 1; i < len(all); i++ {
				if before := all[i-1]; before.until > all[i].from {
					wrong = append(wrong, fmt.Errorf("slice %d of GPU %d is used by request %d until slot %d and by request %d from slot %d",
						k, gpu, before.request, before.until, all[i].request, all[i].from))
				}
			}
		}
	}
	return errors.Join(wrong...)
}

type memorySlice struct {
	gpu   int
	slice mig.Slices
}

// An occupation is the use of a memory slice by a request, in the slots from one up to but
// without another.
type occupation struct{ request, from, until int }
