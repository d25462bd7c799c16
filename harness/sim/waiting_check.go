package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"miglab/harness/task"
)

// CheckWaiting is the referee of clusters with requests that wait. It keeps its own books, slice by slice, and
// shares no code with the engine. The error joins all violations:
//
//   - a request begins before it arrives, or in a slot without an arrival or departure
//   - a request does not leave in the slot in which it has run for its lifespan and paused for each of its moves
//   - a request has the wrong number of instances, or an instance where its profile cannot be or does not exist
//   - a gang that needs one GPU is on several
//   - two instances use the same memory slice, or the media extensions of a GPU, at the same time
//   - with [task.FIFO], a request begins before one that arrived earlier
//   - a move breaks a rule of [task.Migration], or is in a slot without an arrival or departure
//   - a move's new place cannot be or does not exist, or is in use
//   - a moved request does not run, still pauses, is on several GPUs or is a gang
//   - a move is before a request that does not wait then, needs several GPUs or is a gang
//   - moves are not in the order of their slots and, in a slot, of the requests before which they are carried out
func CheckWaiting(r *WaitingResult) error {
	n := len(r.In.Requests)
	if len(r.Starts) != n || len(r.Ends) != n || len(r.Spots) != n {
		return fmt.Errorf("there are %d starts, %d ends and %d lists of places for %d requests", len(r.Starts),
			len(r.Ends), len(r.Spots), n)
	}
	b := &waitingBooks{
		books: newBooks(r.In.Requests, r.In.GPUs, r.In.Migration), result: r, events: map[int]bool{},
	}
	b.geometry = r.In.Geometry
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
	for i, v := range b.stays {
		if r.Ends[i] != v.until {
			b.wrong("request %d leaves in slot %d; with its lifespan and its pauses it leaves in slot %d", i, r.Ends[i],
				v.until)
		}
	}
	return errors.Join(b.errs...)
}

// waitingBooks are the books of a result with requests that wait.
type waitingBooks struct {
	books
	result *WaitingResult
	events map[int]bool // the slots in which a request arrives or leaves
}

// An action is the start of a request or a move before it. move is the index of the move, or the number of all moves
// for a start.
type action struct{ slot, request, move int }

// actions returns the starts and the moves in the order in which they happen.
func (b *waitingBooks) actions() []action {
	var out []action
	for i, start := range b.result.Starts {
		out = append(out, action{slot: start, request: i, move: len(b.result.Moved)})
	}
	for k, m := range b.result.Moved {
		out = append(out, action{slot: m.Slot, request: m.Before, move: k})
	}
	slices.SortStableFunc(out, func(x, y action) int {
		return cmp.Or(cmp.Compare(x.slot, y.slot), cmp.Compare(x.request, y.request), cmp.Compare(x.move, y.move))
	})
	return out
}

// begin records the start of request i.
func (b *waitingBooks) begin(i int) {
	q, start, spots := &b.requests[i], b.result.Starts[i], b.result.Spots[i]
	if start < q.Arrival {
		b.wrong("request %d begins in slot %d and arrives in slot %d", i, start, q.Arrival)
	}
	if !b.events[start] {
		b.wrong("request %d begins in slot %d, in which nothing arrives or leaves", i, start)
	}
	b.admit(i, spots, start, start+q.Lifespan)
}

// move records move k.
func (b *waitingBooks) move(k int) {
	m := b.result.Moved[k]
	b.countMove(k, m.Slot)
	if !b.events[m.Slot] {
		b.wrong("move %d is in slot %d, in which nothing arrives or leaves", k, m.Slot)
	}
	n := len(b.requests)
	if m.Before < 0 || m.Before >= n || b.requests[m.Before].Arrival > m.Slot || b.result.Starts[m.Before] < m.Slot ||
		b.requests[m.Before].GPUs > 1 || b.requests[m.Before].Gang != nil {
		b.wrong("move %d in slot %d is before request %d, which does not wait then for one GPU", k, m.Slot, m.Before)
	}
	if m.Request < 0 || m.Request >= n || !b.stays[m.Request].single || b.stays[m.Request].until <= m.Slot {
		b.wrong("move %d in slot %d is of request %d, which does not run or is on several GPUs or a gang", k, m.Slot,
			m.Request)
		return
	}
	b.relocate(k, m.Request, m.To, m.Slot)
}
