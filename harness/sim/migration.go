package sim

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// A Mover is a [Placer] that may also move running workloads if the cluster allows moves
// ([task.Migration]). Otherwise the engine uses it as a plain placer.
type Mover interface {
	Placer
	// Move returns the next move before a request for a profile is decided, or false. The engine checks the move and
	// carries it out. It calls Move again until Move returns false or no more moves are allowed. Where requests wait,
	// it does so each time that it tries one, except one for several GPUs. It never calls Move before a gang.
	Move(r *Residents, profile int) (Move, bool)
}

// A Move takes the workload of a request to another place for the same profile. The new place must
// be free while the workload still holds its old place.
type Move struct {
	Request int
	To      Spot
}

// A Moved is a move that was carried out before request Before was decided.
type Moved struct {
	Before int
	Move
}

// A WaitingMove is a move in a cluster with requests that wait, with the slot in which it was carried out.
type WaitingMove struct {
	Slot int
	Moved
}

// A Resident is a running workload on a GPU.
type Resident struct {
	Request int
	Profile int // the index in the cluster's profiles
	Start   mig.Slices
	// Fixed says that the workload cannot be moved now: the pause of its last move is not over, or it is part of a
	// gang or of a request for several GPUs.
	Fixed bool
}

// Residents is the view of a [Mover]: the cluster and the places of its workloads. It does not
// show when a workload leaves.
type Residents struct {
	cluster *Cluster
	rules   task.Migration
	slot    int
	head    bool          // no earlier request than the present one waits
	behind  iter.Seq[int] // yields the profiles of [Residents.Behind]; nil if there are none
	on      [][]resident  // by GPU, in no particular order
	stays   []departure   // the places and departures of the requests that run on one GPU
	// spots has the first places of each request's instances, and moves has all moves.
	spots [][]Spot
	moves []Moved
	// slots holds the slot of each move, and old is the number of moves that the present window does not contain.
	slots []int
	old   int
}

// A resident is a Resident whose Fixed says only that its request is a gang or for several GPUs.
type resident struct {
	Resident
	until int // the slot from which the workload can be moved again
}

// Cluster returns the occupied slices.
func (r *Residents) Cluster() *Cluster { return r.cluster }

// Left returns the number of moves that are allowed now.
func (r *Residents) Left() int {
	for r.old < len(r.slots) && r.slot-r.slots[r.old] >= r.rules.Window {
		r.old++
	}
	return r.rules.Moves - (len(r.slots) - r.old)
}

// Rules returns the limits on moves.
func (r *Residents) Rules() task.Migration { return r.rules }

// Slot returns the present slot.
func (r *Residents) Slot() int { return r.slot }

// Head reports whether the present request is the first in the queue. It returns true if requests do not wait.
func (r *Residents) Head() bool { return r.head }

// Behind yields the profiles of the requests for one GPU that are tried after the present one, in their order. It
// yields none if requests do not wait.
func (r *Residents) Behind(yield func(profile int) bool) {
	if r.behind != nil {
		r.behind(yield)
	}
}

// On appends the workloads on a GPU to a list, in no particular order.
func (r *Residents) On(to []Resident, gpu int) []Resident {
	for _, w := range r.on[gpu] {
		w.Fixed = w.Fixed || w.until > r.slot
		to = append(to, w.Resident)
	}
	return to
}

// find returns the index in r.on[gpu] of the workload at a start; -1 if there is none.
func (r *Residents) find(gpu int, start mig.Slices) int {
	return slices.IndexFunc(r.on[gpu], func(w resident) bool { return w.Start == start })
}

// remove removes workload k of a GPU and returns it.
func (r *Residents) remove(gpu, k int) resident {
	list := r.on[gpu]
	w, last := list[k], len(list)-1
	list[k] = list[last]
	r.on[gpu] = list[:last]
	return w
}

// stayed is the departure slot of workloads that stay until the end. It is later than every slot.
const stayed = maxSlot + 1

func newResidents(c *Cluster, requests int, rules task.Migration) *Residents {
	return &Residents{
		cluster: c, rules: rules, head: true, on: make([][]resident, c.GPUs()), stays: make([]departure, requests),
		spots: make([][]Spot, requests),
	}
}

// add adds the workloads of request i.
func (r *Residents) add(i int, q *task.Request, spots []Spot) {
	first := q.Member(0)
	window := mig.Instance{Profile: first.Profile, Start: spots[0].Start}.Mask()
	r.stays[i] = departure{request: int32(i), gpu: int32(spots[0].GPU), window: window, media: first.Media}
	r.spots[i] = slices.Clone(spots)
	for k, s := range spots {
		w := Resident{
			Request: i, Profile: r.cluster.index(q.Member(k).Profile), Start: s.Start,
			Fixed: len(spots) > 1 || q.Gang != nil,
		}
		r.on[s.GPU] = append(r.on[s.GPU], resident{Resident: w})
	}
}

func firstSlice(m mig.Mask) mig.Slices { return mig.Slices(bits.TrailingZeros8(uint8(m))) }

// moveBefore lets the mover move before request i is decided.
func (e *placementEngine) moveBefore(i, profile int) error {
	r := e.residents
	if r == nil || e.requests[i].Gang != nil {
		return nil
	}
	r.slot = e.requests[i].Arrival
	return r.ask(e.mover, i, profile, func(m Move) error {
		if err := r.move(m, e.set); err != nil {
			return err
		}
		s := &r.stays[m.Request]
		s.slot = uint32(min(int(s.slot)+r.rules.Downtime, stayed))
		return nil
	})
}

// ask carries out the moves that a mover chooses before request i is decided.
func (r *Residents) ask(mover Mover, i, profile int, carry func(Move) error) error {
	for r.Left() > 0 {
		m, ok := mover.Move(r, profile)
		if !ok {
			return nil
		}
		if err := carry(m); err != nil {
			return err
		}
		r.moves = append(r.moves, Moved{i, m})
		r.slots = append(r.slots, r.slot)
	}
	return nil
}

// move changes the place of a workload, and the masks of GPUs with set. It returns a [*ChoiceError] if the move is
// impossible.
func (r *Residents) move(m Move, set func(gpu int, to mig.Mask)) error {
	bad := func(why string) error {
		return &ChoiceError{fmt.Sprintf("request %d cannot be moved to GPU %d at slice %d: %s", m.Request, m.To.GPU,
			m.To.Start, why)}
	}
	c := r.cluster
	if m.Request < 0 || m.Request >= len(r.stays) {
		return bad("there is no such request")
	}
	s := &r.stays[m.Request]
	from, start := int(s.gpu), firstSlice(s.window)
	k := r.find(from, start)
	if k < 0 || r.on[from][k].Request != m.Request {
		return bad("it does not run")
	}
	old := &r.on[from][k]
	if old.Fixed || old.until > r.slot {
		return bad("it is on several GPUs or a gang, or its last move is not over")
	}
	window, why := c.windowAt(c.profiles[old.Profile], m.To)
	if why != "" {
		return bad(why)
	}
	set(from, c.Mask(from)&^s.window)
	set(m.To.GPU, c.Mask(m.To.GPU)|window)
	w := r.remove(from, k)
	w.Start, w.until = m.To.Start, r.slot+r.rules.Downtime
	r.on[m.To.GPU] = append(r.on[m.To.GPU], w)
	s.gpu, s.window = int32(m.To.GPU), window
	return nil
}

// delay corrects departures for the moves that came after they were added to the calendar. It returns the departures
// before request i. It adds later departures to the calendar again, unless they are after the last arrival.
func (e *placementEngine) delay(i int, leaving []departure) []departure {
	last := e.requests[len(e.requests)-1].Arrival
	now := leaving[:0]
	for _, d := range leaving {
		if !d.further {
			d = e.residents.stays[d.request]
		}
		switch slot := int(d.slot); {
		case slot <= e.requests[i].Arrival:
			now = append(now, d)
		case slot <= last:
			d.before = int32(e.arrivalFrom(i, slot))
			e.calendar.add(d)
		}
	}
	return now
}
