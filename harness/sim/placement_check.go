package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// CheckPlacement is the referee of the placement track. It keeps its own books, slice by slice, and shares no code
// with the engine. spots lists the first places of each request's instances; the list of a rejected request is empty.
// moves lists all moves in order, and rules limits them. The error joins all violations:
//
//   - spots does not have an entry for each request; other violations are then not looked for
//   - a request has some of the instances that it needs, but not all
//   - an instance is on a GPU that does not exist, or starts where its profile cannot
//   - two instances use the same memory slice at the same time; each move delays the departure of
//     its workload by the downtime
//   - more moves than allowed lie within one window
//   - a moved request does not run, was moved less than the downtime ago, or is on several GPUs
//   - moves are not in the order of the requests before which they are carried out, or a move is before a request that
//     does not exist
func CheckPlacement(gpus int, requests []task.Request, spots [][]Spot, moves []Moved, rules task.Migration) error {
	if len(spots) != len(requests) {
		return fmt.Errorf("there are places for %d requests of %d", len(spots), len(requests))
	}
	b := &books{
		requests: requests, rules: rules, gpus: gpus, users: make(map[memorySlice]int),
		stays: make([]visit, len(requests)),
	}
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
		b.arrive(i, spots[i])
	}
	if next < len(moves) {
		b.wrong("move %d is before request %d, which does not exist", next, moves[next].Before)
	}
	return errors.Join(b.errs...)
}

// A memorySlice is a memory slice of a GPU.
type memorySlice struct {
	gpu   int
	slice mig.Slices
}

// books record which request uses which memory slice while the stream is replayed.
type books struct {
	requests []task.Request
	rules    task.Migration
	gpus     int
	// users has the last request that used a slice, plus one.
	users map[memorySlice]int
	stays []visit
	slots []int // the slot of each move
	errs  []error
}

// A visit is the stay of an accepted request.
type visit struct {
	// single says that the request has a single instance, and at is the place of that instance.
	single bool
	at     Spot
	// until is the slot in which the request leaves, and standing is the slot in which the pause of its last move ends.
	until, standing int
}

// wrong adds a violation.
func (b *books) wrong(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf(format, args...))
}

// arrive records the places of request i.
func (b *books) arrive(i int, spots []Spot) {
	q := &b.requests[i]
	n := len(spots)
	if n == 0 {
		return
	}
	if n != max(q.GPUs, 1) {
		b.wrong("request %d has %d of the %d instances that it needs", i, n, max(q.GPUs, 1))
	}
	b.stays[i] = visit{single: n == 1, at: spots[0], until: addSlots(q.Arrival, q.Lifespan)}
	for _, s := range spots {
		b.use(i, s, q.Arrival)
	}
}

// use records that a request uses a place from a slot on.
func (b *books) use(i int, s Spot, from int) {
	q := &b.requests[i]
	if s.GPU < 0 || s.GPU >= b.gpus || !slices.Contains(q.Profile.Starts, s.Start) {
		b.wrong("request %d has %v on GPU %d at slice %d, where it cannot be", i, q.Profile, s.GPU, s.Start)
		return
	}
	for k := s.Start; k < s.Start+q.Profile.Length; k++ {
		at := memorySlice{s.GPU, k}
		user := b.users[at] - 1
		if user >= 0 && b.stays[user].until > from {
			b.wrong("slice %d of GPU %d is used by request %d until slot %d and by request %d from slot %d", k,
				s.GPU, user, b.stays[user].until, i, from)
		}
		b.users[at] = i + 1
	}
}

// move records move number n.
func (b *books) move(n int, m Moved) {
	now := b.requests[m.Before].Arrival
	b.slots = append(b.slots, now)
	oldest := len(b.slots) - 1 - b.rules.Moves
	if oldest >= 0 && now-b.slots[oldest] < max(b.rules.Window, 1) {
		b.wrong("move %d in slot %d: more than %d moves in %d slots", n, now, b.rules.Moves, b.rules.Window)
	}
	if m.Request < 0 || m.Request >= m.Before || !b.stays[m.Request].single || b.stays[m.Request].until <= now {
		b.wrong("move %d in slot %d is of request %d, which does not run or is on several GPUs", n, now, m.Request)
		return
	}
	v := &b.stays[m.Request]
	if now < v.standing {
		b.wrong("move %d in slot %d is of request %d, which stands still until slot %d", n, now, m.Request, v.standing)
	}
	// The new place must be free while the request still holds the old place.
	b.use(m.Request, m.To, now)
	for k := v.at.Start; k < v.at.Start+b.requests[m.Request].Profile.Length; k++ {
		at := memorySlice{v.at.GPU, k}
		if b.users[at] == m.Request+1 {
			delete(b.users, at)
		}
	}
	v.at = m.To
	v.standing = now + b.rules.Downtime
	v.until = addSlots(v.until, b.rules.Downtime)
}

// addSlots returns slot + by, or the largest int if the sum is too large.
func addSlots(slot, by int) int {
	if by > math.MaxInt-slot {
		return math.MaxInt
	}
	return slot + by
}
