package sim

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// books are the notes of a referee, [CheckPlacement] or [CheckWaiting]: which request uses which memory slice while a
// stream is replayed, and the violations.
type books struct {
	requests []task.Request
	gpus     int
	rules    task.Migration
	geometry task.Geometry       // nil if instances are created on demand
	users    map[memorySlice]int // the last request that used a slice, plus one
	stays    []visit
	slots    []int // the slot of each move
	errs     []error
}

// A memorySlice is a resource that one instance can use at a time.
type memorySlice struct {
	gpu   int
	slice mig.Slices // mediaSlice for the media extensions
}

const mediaSlice mig.Slices = -1

func (m memorySlice) String() string {
	if m.slice == mediaSlice {
		return fmt.Sprintf("the media extensions of GPU %d are", m.gpu)
	}
	return fmt.Sprintf("slice %d of GPU %d is", m.slice, m.gpu)
}

// A visit is the stay of an accepted request.
type visit struct {
	// single says that the request has a single instance and no gang, and at is the place of that instance.
	single bool
	at     Spot
	// until is the slot in which the request leaves unless it moves again. The pause of its last move ends in slot
	// standing.
	until, standing int
}

func newBooks(requests []task.Request, gpus int, rules task.Migration) books {
	return books{
		requests: requests, gpus: gpus, rules: rules, users: make(map[memorySlice]int),
		stays: make([]visit, len(requests)),
	}
}

func (b *books) wrong(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf(format, args...))
}

// admit records that a request uses its places from a slot on. It leaves in slot until.
func (b *books) admit(i int, spots []Spot, from, until int) {
	q := &b.requests[i]
	needed := max(q.GPUs, 1)
	if q.Gang != nil {
		needed = len(q.Gang.Members)
	}
	if len(spots) != needed {
		b.wrong("request %d has %d of the %d instances that it needs", i, len(spots), needed)
	}
	b.stays[i] = visit{single: needed == 1 && q.Gang == nil, until: until}
	for k, s := range spots {
		b.stays[i].at = s
		if q.Gang == nil {
			b.use(i, q.Profile, s, from)
			continue
		}
		if q.Gang.OneGPU && s.GPU != spots[0].GPU {
			b.wrong("request %d is on GPUs %d and %d; it needs all instances on one", i, spots[0].GPU, s.GPU)
		}
		if k < needed {
			b.use(i, q.Gang.Members[k].Profile, s, from)
		}
		if k < needed && q.Gang.Members[k].Media {
			b.take(i, memorySlice{s.GPU, mediaSlice}, from)
		}
	}
}

// use records that a request uses a place for a profile from a slot on.
func (b *books) use(i int, p *mig.Profile, s Spot, from int) {
	in := mig.Instance{Profile: p, Start: s.Start}
	if s.GPU < 0 || s.GPU >= b.gpus || !slices.Contains(p.Starts, s.Start) ||
		b.geometry != nil && !slices.Contains(b.geometry[s.GPU], in) {
		b.wrong("request %d has %v on GPU %d at slice %d, where it cannot be", i, p, s.GPU, s.Start)
		return
	}
	for k := s.Start; k < s.Start+p.Length; k++ {
		b.take(i, memorySlice{s.GPU, k}, from)
	}
}

// take records that a request uses a resource from a slot on.
func (b *books) take(i int, at memorySlice, from int) {
	user := b.users[at] - 1
	if user >= 0 && b.stays[user].until > from {
		b.wrong("%v used by request %d until slot %d and by request %d from slot %d", at, user, b.stays[user].until, i,
			from)
	}
	b.users[at] = i + 1
}

// countMove records the slot of move n, and checks the number of moves in its window.
func (b *books) countMove(n, slot int) {
	b.slots = append(b.slots, slot)
	oldest := len(b.slots) - 1 - b.rules.Moves
	if oldest >= 0 && slot-b.slots[oldest] < max(b.rules.Window, 1) {
		b.wrong("move %d in slot %d: more than %d moves in %d slots", n, slot, b.rules.Moves, b.rules.Window)
	}
}

// relocate records that move n takes request i to a place.
func (b *books) relocate(n, i int, to Spot, slot int) {
	v := &b.stays[i]
	if slot < v.standing {
		b.wrong("move %d in slot %d is of request %d, which stands still until slot %d", n, slot, i, v.standing)
	}
	// The new place must be free while the request still holds the old place.
	b.use(i, b.requests[i].Profile, to, slot)
	for k := v.at.Start; k < v.at.Start+b.requests[i].Profile.Length; k++ {
		at := memorySlice{v.at.GPU, k}
		if b.users[at] == i+1 {
			delete(b.users, at)
		}
	}
	v.at = to
	v.standing = slot + b.rules.Downtime
	v.until = addSlots(v.until, b.rules.Downtime)
}

// addSlots returns slot + by, or the largest int if the sum is too large.
func addSlots(slot, by int) int {
	if by > math.MaxInt-slot {
		return math.MaxInt
	}
	return slot + by
}
