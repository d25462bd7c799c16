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
// shares no code with the engine. The error joins all violations:
//
//   - a request begins before it arrives, or in a slot without an arrival or departure
//   - a request does not leave in the slot in which it has run for its lifespan and paused for each of its moves
//   - a request has the wrong number of instances, or an instance where its profile cannot be or does not exist
//   - two instances use the same memory slice at the same time
//   - with [task.FIFO], a request begins before one that arrived earlier
//   - a move breaks a rule of [task.Migration], or its new place is in use; its request does not run, still pauses, or
//     is on several GPUs; it is in a slot without an arrival or departure, or before a request that does not wait then
//   - moves are not in the order of their slots and, in a slot, of the requests before which they are carried out
func CheckWaiting(r *WaitingResult) error {
	n := len(r.In.Requests)
	if len(r.Starts) != n || len(r.Ends) != n || len(r.Spots) != n {
		return fmt.Errorf("there are %d starts, %d ends and %d lists of places for %d requests", len(r.Starts),
			len(r.Ends), len(r.Spots), n)
	}
	b := &waitingBooks{
		WaitingResult: r, running: make([]waitingVisit, n), users: make(map[memorySlice]int), events: map[int]bool{},
	}
	for i := range n {
		b.events[r.In.Requests[i].Arrival] = true
		b.events[r.Ends[i]] = true
	}
	last, moves := -1, 0 // the last request that has begun, and the number of moves so far
	for _, a := range b.actions() {
		if a.move < len(r.Moved) {
			if a.move != moves {
				b.wrong("move %d comes before move %d by its slot and request", a.move, moves)
			}
			b.move(a.move)
			moves++
			continue
		}
		b.begin(a.request)
		if r.In.Waiting == task.FIFO && a.request < last {
			b.wrong("request %d begins in slot %d, after request %d, which arrived later", a.request, a.slot, last)
		}
		last = max(last, a.request)
	}
	for i, v := range b.running {
		if r.Ends[i] != v.until {
			b.wrong("request %d leaves in slot %d; with its lifespan and its pauses it leaves in slot %d", i, r.Ends[i],
				v.until)
		}
	}
	return errors.Join(b.errs...)
}

// waitingBooks record which request uses which memory slice.
type waitingBooks struct {
	*WaitingResult
	running []waitingVisit
	// events has the slots in which a request arrives or leaves.
	events map[int]bool
	// users has the last request that used a slice, plus one.
	users map[memorySlice]int
	errs  []error
}

// A waitingVisit is the stay of a request that has begun.
type waitingVisit struct {
	// at is the place of a request for one GPU.
	at Spot
	// until is the slot in which the request leaves unless it moves again. Its last pause ends in slot standing.
	until, standing int
}

// wrong adds a violation.
func (b *waitingBooks) wrong(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf(format, args...))
}

// An action is the start of a request or a move before it. move is the index of the move, or the number of all moves
// for a start.
type action struct{ slot, request, move int }

// actions returns the starts and the moves in the order in which they happen.
func (b *waitingBooks) actions() []action {
	var out []action
	for i, start := range b.Starts {
		out = append(out, action{slot: start, request: i, move: len(b.Moved)})
	}
	for k, m := range b.Moved {
		out = append(out, action{slot: m.Slot, request: m.Before, move: k})
	}
	slices.SortStableFunc(out, func(x, y action) int {
		return cmp.Or(cmp.Compare(x.slot, y.slot), cmp.Compare(x.request, y.request), cmp.Compare(x.move, y.move))
	})
	return out
}

// begin records the start of request i.
func (b *waitingBooks) begin(i int) {
	q, start := &b.In.Requests[i], b.Starts[i]
	if start < q.Arrival {
		b.wrong("request %d begins in slot %d and arrives in slot %d", i, start, q.Arrival)
	}
	if !b.events[start] {
		b.wrong("request %d begins in slot %d, in which nothing arrives or leaves", i, start)
	}
	if len(b.Spots[i]) != max(q.GPUs, 1) {
		b.wrong("request %d has %d of the %d instances that it needs", i, len(b.Spots[i]), max(q.GPUs, 1))
	}
	b.running[i].until = start + q.Lifespan
	for _, s := range b.Spots[i] {
		b.running[i].at = s
		b.use(i, s, start)
	}
}

// use records that a request uses a place from a slot on.
func (b *waitingBooks) use(i int, s Spot, from int) {
	p := b.In.Requests[i].Profile
	if s.GPU < 0 || s.GPU >= b.In.GPUs || !slices.Contains(p.Starts, s.Start) ||
		!b.In.Geometry.Has(s.GPU, mig.Instance{Profile: p, Start: s.Start}) {
		b.wrong("request %d has %v on GPU %d at slice %d, where it cannot be", i, p, s.GPU, s.Start)
		return
	}
	for k := s.Start; k < s.Start+p.Length; k++ {
		at := memorySlice{s.GPU, k}
		user := b.users[at] - 1
		if user >= 0 && b.running[user].until > from {
			b.wrong("slice %d of GPU %d is used by request %d until slot %d and by request %d from slot %d", k,
				s.GPU, user, b.running[user].until, i, from)
		}
		b.users[at] = i + 1
	}
}

// move records move k.
func (b *waitingBooks) move(k int) {
	m, rules := b.Moved[k], b.In.Migration
	oldest := k - rules.Moves
	if oldest >= 0 && m.Slot-b.Moved[oldest].Slot < max(rules.Window, 1) {
		b.wrong("move %d in slot %d: more than %d moves in %d slots", k, m.Slot, rules.Moves, rules.Window)
	}
	if !b.events[m.Slot] {
		b.wrong("move %d is in slot %d, in which nothing arrives or leaves", k, m.Slot)
	}
	n := len(b.running)
	if m.Before < 0 || m.Before >= n || b.In.Requests[m.Before].Arrival > m.Slot || b.Starts[m.Before] < m.Slot ||
		b.In.Requests[m.Before].GPUs > 1 {
		b.wrong("move %d in slot %d is before request %d, which does not wait then for one GPU", k, m.Slot, m.Before)
	}
	if m.Request < 0 || m.Request >= n || b.In.Requests[m.Request].GPUs > 1 || b.running[m.Request].until <= m.Slot {
		b.wrong("move %d in slot %d is of request %d, which does not run or is on several GPUs", k, m.Slot, m.Request)
		return
	}
	v := &b.running[m.Request]
	if m.Slot < v.standing {
		b.wrong("move %d in slot %d is of request %d, which stands still until slot %d", k, m.Slot, m.Request,
			v.standing)
	}
	// The new place must be free while the request still holds the old place.
	b.use(m.Request, m.To, m.Slot)
	for s := v.at.Start; s < v.at.Start+b.In.Requests[m.Request].Profile.Length; s++ {
		at := memorySlice{v.at.GPU, s}
		if b.users[at] == m.Request+1 {
			delete(b.users, at)
		}
	}
	v.at = m.To
	v.standing = m.Slot + rules.Downtime
	v.until += rules.Downtime
}
