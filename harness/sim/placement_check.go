package sim

import (
	"errors"
	"fmt"

	"miglab/harness/task"
)

// CheckPlacement is the referee of the placement track. It keeps its own books, slice by slice, and shares no code
// with the engine. spots lists the first places of each request's instances; the list of a rejected request is empty.
// moves lists all moves in order, and rules limits them. The error joins all violations:
//
//   - spots does not have an entry for each request; other violations are then not looked for
//   - a request has some of the instances that it needs, but not all
//   - a gang that needs one GPU is on several
//   - an instance is on a GPU that does not exist, or starts where its profile cannot
//   - two instances use the same memory slice, or the media extensions of a GPU, at the same time; each move delays
//     the departure of its workload by the downtime
//   - more moves than allowed lie within one window
//   - a moved request does not run, was moved less than the downtime ago, is on several GPUs or is a gang
//   - moves are not in the order of the requests before which they are carried out, or a move is before a request that
//     does not exist
func CheckPlacement(gpus int, requests []task.Request, spots [][]Spot, moves []Moved, rules task.Migration) error {
	if len(spots) != len(requests) {
		return fmt.Errorf("there are places for %d requests of %d", len(spots), len(requests))
	}
	b := newBooks(requests, gpus, rules)
	next := 0
	for i := range requests {
		for ; next < len(moves) && moves[next].Before <= i; next++ {
			m := moves[next]
			if m.Before < i {
				b.wrong("move %d, before request %d, comes after moves before later requests", next, m.Before)
			} else {
				b.move(next, m)
			}
		}
		if len(spots[i]) > 0 {
			arrival := requests[i].Arrival
			b.admit(i, spots[i], arrival, addSlots(arrival, requests[i].Lifespan))
		}
	}
	if next < len(moves) {
		b.wrong("move %d is before request %d, which does not exist", next, moves[next].Before)
	}
	return errors.Join(b.errs...)
}

// move records move number n.
func (b *books) move(n int, m Moved) {
	now := b.requests[m.Before].Arrival
	b.countMove(n, now)
	if m.Request < 0 || m.Request >= m.Before || !b.stays[m.Request].single || b.stays[m.Request].until <= now {
		b.wrong("move %d in slot %d is of request %d, which does not run or is on several GPUs or a gang", n, now,
			m.Request)
		return
	}
	b.relocate(n, m.Request, m.To, now)
}
