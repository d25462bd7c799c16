package bounds

import (
	"math"
	"slices"

	"miglab/harness/heap"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// TurnaroundAtLeast returns two lower bounds for any scheduler of a cluster with requests that wait: on the sum of the
// requests' turnaround times (from arrival to end, in slots), and on the slot in which the last request ends.
//
// PROVEN. A facet of the GPU's partitions gives each profile a weight, so that the instances on a GPU weigh at most 1
// at any time. A request then has an area: its weight times its lifespan. All GPUs together work off an area of at most
// their number a slot. Compare them with one machine of that speed that may interrupt requests. It has the smallest sum
// of ends if it always takes the request with the smallest area left (the squashed area bound, with release times;
// Schrage 1968). A request also ends no earlier than its lifespan after its arrival. Of these bounds, the largest is
// returned.
//
// Moves keep the bounds: a request that is moved has one instance at any time, on some GPU, for its lifespan and its
// pauses. The machine, which may interrupt requests, works off no more than the lifespan.
//
// The requests must be listed by arrival, have lifespans, and fit.
func TurnaroundAtLeast(g *mig.GPU, in task.Requests) (turnaround float64, end int) {
	requests := in.Requests
	profiles := task.RequestProfiles(g)
	needs := make([][]need, len(requests))
	for i := range requests {
		q := &requests[i]
		needs[i] = listNeeds(q, profiles)
		turnaround += float64(q.Lifespan)
		end = max(end, q.Arrival+q.Lifespan)
	}
	areas := make([]float64, len(requests))
	for _, weights := range facets(g) {
		for i := range requests {
			areas[i] = weigh(needs[i], weights) * float64(requests[i].Lifespan) / float64(in.GPUs)
		}
		turnaround = max(turnaround, smallestFirst(requests, areas))
		after := 0.0
		for i := range slices.Backward(requests) {
			after += areas[i]
			end = max(end, requests[i].Arrival+int(math.Ceil(after*(1-rounding))))
		}
	}
	return turnaround, end
}

const (
	// rounding is larger than the relative error of a sum of four million numbers.
	rounding = 1e-9
	// roundingOnce is larger than the relative error of one operation.
	roundingOnce = 1e-15
)

// smallestFirst returns the sum of the turnaround times on one machine that works off an area of 1 a slot and always
// takes the request with the smallest area left. It rounds areas down and the time until the next arrival up, so
// that the sum is too small rather than too large.
func smallestFirst(requests []task.Request, areas []float64) float64 {
	var left heap.Heap[float64]
	sum := 0.0
	for i := range requests {
		left.Push(heap.Item[float64]{Key: areas[i] * (1 - rounding)})
		free := math.Inf(1) // until the next arrival
		if i+1 < len(requests) {
			free = float64(requests[i+1].Arrival - requests[i].Arrival)
		}
		for len(left) > 0 && free > 0 {
			first := left[0]
			worked := min(first.Key, free)
			sum += float64(float64(len(left)) * worked)
			free = (free - worked) * (1 + roundingOnce)
			first.Key = (first.Key - worked) * (1 - roundingOnce)
			if first.Key > 0 {
				left.ReplaceFirst(first)
			} else {
				left.Pop()
			}
		}
	}
	return sum * (1 - rounding)
}
