package bounds

import (
	"cmp"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// WaitAtLeast returns a lower bound on the sum of the slots that the requests of a stream wait, for any scheduler. If
// it moves requests, the slots for which they pause count as well. [TurnaroundAtLeast] says what requests it takes.
//
// PROVEN. In a slot, take the requests that have arrived and cannot have ended yet. Each of them has an instance
// or waits. By the weights of a facet of the GPU's partitions, all instances together weigh at most the number of GPUs.
// Leave out requests, the heaviest first, until the others weigh no more than that: at least as many wait as are left
// out. The sum over all slots bounds the sum of the waits. [TurnaroundAtLeast] less the sum of the lifespans bounds it,
// too. WaitAtLeast returns the larger bound.
func WaitAtLeast(g *mig.GPU, in task.Requests) float64 {
	turnaround, _ := TurnaroundAtLeast(g, in)
	wait := turnaround
	for i := range in.Requests {
		wait -= float64(in.Requests[i].Lifespan)
	}
	wait -= float64(turnaround * rounding) // more than the rounding of the differences
	for _, weights := range facets(g) {
		c := newCrowd(g, in, weights)
		sum, last, out := 0, 0, 0
		c.walk(in.Requests, 0, func(slot int) {
			sum += out * (slot - last)
			last, out = slot, c.leftOut()
		})
		wait = max(wait, float64(sum))
	}
	return max(wait, 0)
}

// lateParts lists the numbers of parts into which [LateAtLeast] divides a stream.
var lateParts = []int{1, 2, 4, 8, 16, 32, 64}

// LateAtLeast returns a lower bound on the number of requests that wait longer than a number of slots, for any
// scheduler.
//
// PROVEN. A request that is not late has an instance from that number of slots after its arrival, at the latest, to the
// earliest slot in which it can end. In one slot there may be more such requests than the GPUs can hold. By the
// argument of [WaitAtLeast], at least as many are late as must be left out. Parts of a stream have no request in
// common, so their bounds add up. LateAtLeast returns the largest sum over all facets and divisions.
func LateAtLeast(g *mig.GPU, in task.Requests, slots int) (most int) {
	for _, weights := range facets(g) {
		for _, parts := range lateParts {
			late, n := 0, len(in.Requests)
			for part := range parts {
				c, worst := newCrowd(g, in, weights), 0
				c.walk(in.Requests[n*part/parts:n*(part+1)/parts], slots, func(int) {
					worst = max(worst, c.leftOut())
				})
				late += worst
			}
			most = max(most, late)
		}
	}
	return most
}

// A crowd counts requests that must run or wait in the same slot.
type crowd struct {
	gpus  float64
	kinds []crowdKind // the heaviest first
	index map[crowdKey]int
}

// A crowdKind counts the requests for the same instances.
type crowdKind struct {
	weight float64
	number int
}

// A crowdKey names the instances of a request. gang is the name of a gang, or empty.
type crowdKey struct {
	profile   *mig.Profile
	instances int
	gang      string
}

func newCrowdKey(q *task.Request) crowdKey {
	k := crowdKey{profile: q.Profile, instances: q.Instances()}
	if q.Gang != nil {
		k.gang = q.Gang.String()
	}
	return k
}

func newCrowd(g *mig.GPU, in task.Requests, weights []float64) *crowd {
	c := &crowd{gpus: float64(in.GPUs), index: map[crowdKey]int{}}
	profiles := task.RequestProfiles(g)
	keys, weight := []crowdKey{}, map[crowdKey]float64{}
	for i := range in.Requests {
		k := newCrowdKey(&in.Requests[i])
		_, known := weight[k]
		if !known {
			weight[k] = weigh(listNeeds(&in.Requests[i], profiles), weights)
			keys = append(keys, k)
		}
	}
	slices.SortStableFunc(keys, func(a, b crowdKey) int { return cmp.Compare(weight[b], weight[a]) })
	for i, k := range keys {
		c.index[k] = i
		c.kinds = append(c.kinds, crowdKind{weight: weight[k]})
	}
	return c
}

// walk adds each request to the crowd a number of slots after its arrival, and removes it in the first slot in which it
// can have ended. It calls look in each slot in which the crowd changes.
func (c *crowd) walk(requests []task.Request, after int, look func(slot int)) {
	type change struct{ slot, kind, by int }
	changes := make([]change, 0, 2*len(requests))
	for i := range requests {
		q := &requests[i]
		if q.Lifespan > after {
			kind := c.index[newCrowdKey(q)]
			changes = append(changes, change{q.Arrival + after, kind, 1}, change{q.Arrival + q.Lifespan, kind, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.slot, b.slot) })
	for i, at := range changes {
		c.kinds[at.kind].number += at.by
		if i+1 == len(changes) || changes[i+1].slot > at.slot {
			look(at.slot)
		}
	}
}

// leftOut returns the least number of requests that must be left out of the crowd so that the others fit.
func (c *crowd) leftOut() (out int) {
	sum := 0.0
	for _, k := range c.kinds {
		sum += float64(k.weight * float64(k.number))
	}
	for _, k := range c.kinds {
		for range k.number {
			if sum <= c.gpus*(1+rounding) {
				return out
			}
			sum -= k.weight
			out++
		}
	}
	return out
}
