package bounds

import (
	"math"
	"slices"

	"miglab/harness/heap"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// WaitingAtLeast returns lower bounds on what a cluster with requests that wait can reach, whoever schedules: on the sum
// of the slots from arrival to end, and on the slot in which the last request ends. They are proven.
//
// A facet of the GPU's partitions gives each profile a weight, so that what runs on a GPU at any time weighs at most 1.
// A request then has an area: its weight times its lifespan. All GPUs together work off at most their number in area
// a slot. One machine of that speed that may interrupt requests ends them no later in sum if it always takes the one
// with the smallest area left (the squashed area bound, with release times; Schrage 1968). No schedule ends a request
// before its lifespan is over, either. The largest bound counts.
//
// A request for work may get any profile with enough memory, so that the least area and the shortest life count.
//
// The requests must be listed by arrival, have lifespans, and fit.
func WaitingAtLeast(g *mig.GPU, in task.Requests) (turnaround float64, end int) {
	requests := in.Requests
	profiles := task.RequestProfiles(g)
	lives := make([][]int, len(requests)) // by profile; 0 where it does not fit
	for i := range requests {
		q := &requests[i]
		shortest := task.Forever
		for _, p := range profiles {
			life := 0
			if in.Fits(q, p) {
				life = q.LifespanIn(g, p)
				shortest = min(shortest, life)
			}
			lives[i] = append(lives[i], life)
		}
		turnaround += float64(shortest)
		end = max(end, q.Arrival+shortest)
	}
	areas := make([]float64, len(requests))
	for _, weights := range facets(g) {
		for i := range requests {
			least := math.Inf(1)
			for p, life := range lives[i] {
				if life > 0 {
					least = min(least, weights[p]*float64(life))
				}
			}
			areas[i] = least * float64(requests[i].Instances()) / float64(in.GPUs)
		}
		turnaround = max(turnaround, smallestFirst(requests, areas))
		after := 0.0
		for i := range slices.Backward(requests) {
			after += areas[i]
			end = max(end, int(math.Ceil(float64(requests[i].Arrival)+after*(1-rounding))))
		}
	}
	return turnaround, end
}

// rounding is more than what sums of a million numbers are off by.
const rounding = 1e-9

// smallestFirst returns the sum of the slots from arrival to end on one machine that works off an area of 1 a slot and
// always takes the request with the smallest area left.
func smallestFirst(requests []task.Request, areas []float64) float64 {
	var left heap.Heap[float64]
	sum, now := 0.0, 0.0
	work := func(until float64) {
		for len(left) > 0 {
			first := left[0]
			if now+first.Key > until {
				first.Key -= until - now
				left.ReplaceFirst(first)
				break
			}
			left.Pop()
			now += first.Key
			sum += now - float64(requests[first.ID].Arrival)
		}
		now = until
	}
	for i := range requests {
		work(float64(requests[i].Arrival))
		left.Push(heap.Item[float64]{Key: areas[i], ID: int32(i)})
	}
	work(math.Inf(1))
	return sum * (1 - rounding)
}
