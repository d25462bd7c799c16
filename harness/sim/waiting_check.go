package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// CheckWaiting is the referee of clusters with requests that wait. It keeps its own books, slice by slice, and
// shares no code with the engine. starts has the slot in which each request begins, and spots has its places. The
// error joins all violations:
//
//   - a request begins before it arrives, or in a slot without an arrival or departure
//   - a request has the wrong number of instances, or an instance where its profile cannot be or does not exist
//   - two instances use the same memory slice at the same time
//   - with [task.FIFO], a request begins before one that arrived earlier
func CheckWaiting(in task.Requests, starts []int, spots [][]Spot) error {
	if len(starts) != len(in.Requests) || len(spots) != len(in.Requests) {
		return fmt.Errorf("there are %d starts and %d lists of places for %d requests", len(starts), len(spots),
			len(in.Requests))
	}
	b := &waitingBooks{in: in, starts: starts, ends: make([]int, len(starts)), users: make(map[memorySlice]int)}
	events := map[int]bool{}
	order := make([]int, len(starts))
	for i := range in.Requests {
		q := &in.Requests[i]
		order[i] = i
		b.ends[i] = starts[i] + q.Lifespan
		events[q.Arrival] = true
		events[b.ends[i]] = true
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(starts[i], starts[k]) })
	latest := -1
	for _, i := range order {
		b.begin(i, spots[i])
		if !events[starts[i]] {
			b.wrong("request %d begins in slot %d, in which nothing arrives or leaves", i, starts[i])
		}
		if in.Waiting == task.FIFO && i < latest {
			b.wrong("request %d begins in slot %d, after request %d, which arrived later", i, starts[i], latest)
		}
		latest = max(latest, i)
	}
	return errors.Join(b.errs...)
}

// waitingBooks record which request uses which memory slice.
type waitingBooks struct {
	in           task.Requests
	starts, ends []int
	// users has the last request that used a slice, plus one.
	users map[memorySlice]int
	errs  []error
}

func (b *waitingBooks) wrong(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf(format, args...))
}

func (b *waitingBooks) begin(i int, spots []Spot) {
	q := &b.in.Requests[i]
	p := q.Profile
	if b.starts[i] < q.Arrival {
		b.wrong("request %d begins in slot %d and arrives in slot %d", i, b.starts[i], q.Arrival)
	}
	if len(spots) != max(q.GPUs, 1) {
		b.wrong("request %d has %d of the %d instances that it needs", i, len(spots), max(q.GPUs, 1))
	}
	for _, s := range spots {
		if s.GPU < 0 || s.GPU >= b.in.GPUs || !slices.Contains(p.Starts, s.Start) ||
			!b.in.Geometry.Has(s.GPU, mig.Instance{Profile: p, Start: s.Start}) {
			b.wrong("request %d has %v on GPU %d at slice %d, where it cannot be", i, p, s.GPU, s.Start)
			continue
		}
		for k := s.Start; k < s.Start+p.Length; k++ {
			at := memorySlice{s.GPU, k}
			o := b.users[at] - 1
			if o >= 0 && b.ends[o] > b.starts[i] {
				b.wrong("slice %d of GPU %d is used by request %d until slot %d and by request %d from slot %d", k,
					s.GPU, o, b.ends[o], i, b.starts[i])
			}
			b.users[at] = i + 1
		}
	}
}
