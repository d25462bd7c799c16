package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// RunPlacement lets a scheduler place a stream of requests on an empty cluster (MFI VI). In every slot, the instances
// that have reached their lifespan leave first. Then the scheduler decides on the slot's requests one after the other.
// It is asked once for each instance that a request needs, or once for a gang if it is a [GangPlacer]. If it rejects
// one, the whole request is rejected: the engine removes the instances already placed. A rejected request does not
// return. The simulation ends with the last arrival.
//
// An impossible choice of the scheduler is a [*ChoiceError]. Other errors are about the cluster,
// the requests or the rules. A scheduler that is a [Mover] may move workloads before each request,
// as the rules allow; the zero rules allow no move.
func RunPlacement(g *mig.GPU, gpus int, requests []task.Request, p Placer, w Window,
	rules task.Migration,
) (PlacementResult, error) {
	if err := rules.Check(); err != nil {
		return PlacementResult{}, err
	}
	c, err := NewCluster(g, gpus)
	if err != nil {
		return PlacementResult{}, err
	}
	if err := checkRequests(g, c.profiles, requests); err != nil {
		return PlacementResult{}, err
	}
	e := newPlacementEngine(c, requests, p, rules)
	capacity := float64(gpus * int(g.MemorySlices))
	from, to := w.From*capacity, w.To*capacity
	r := PlacementResult{GPU: g, GPUs: gpus, AcceptedByProfile: make([]int, len(c.profiles)), Rules: rules}
	for i := range requests {
		q := &requests[i]
		e.releaseBefore(i)
		e.advance(q.Arrival)

		demand := float64(r.Arrived.Slices)
		steady := demand >= from && demand < to
		r.Arrived.add(q)
		if steady {
			r.SteadyArrived.add(q)
		}
		profile := c.index(q.Profile)
		if err := e.moveBefore(i, profile); err != nil {
			return PlacementResult{}, err
		}
		accepted, err := e.decide(i, p)
		if err != nil {
			return PlacementResult{}, err
		}
		if !accepted {
			continue
		}
		r.Accepted.add(q)
		r.AcceptedByProfile[profile]++
		if steady {
			r.SteadyAccepted.add(q)
		}
	}
	e.advance(e.slot + 1)
	r.Spots = e.places
	if e.residents != nil {
		r.Spots, r.Moved = e.residents.spots, e.residents.moves
	}
	r.Slots = e.slot
	r.Final = e.now.load(1, gpus)
	r.Mean = e.sum.load(float64(e.slot), gpus)
	return r, nil
}

// checkRequests returns an error unless the requests are sorted by arrival and the model can serve each of them.
func checkRequests(g *mig.GPU, profiles []*mig.Profile, requests []task.Request) error {
	if len(requests) == 0 || len(requests) > math.MaxInt32 {
		return fmt.Errorf("there are %d requests; give from 1 to %d", len(requests), math.MaxInt32)
	}
	last := 0
	for i := range requests {
		switch q := &requests[i]; {
		case q.Arrival < last:
			return fmt.Errorf("request %d arrives in slot %d, after slot %d; list requests by arrival, from slot 0", i,
				q.Arrival, last)
		case q.Arrival > maxSlot:
			return fmt.Errorf("request %d arrives in slot %d; slots go up to %d", i, q.Arrival, maxSlot)
		case q.Lifespan < 1:
			return fmt.Errorf("request %d has a lifespan of %d slots; give at least 1", i, q.Lifespan)
		case !slices.Contains(profiles, q.Profile):
			return fmt.Errorf("request %d asks for %v; the model has %v", i, q.Profile, profiles)
		case q.CheckGPUs(g) != nil:
			return fmt.Errorf("request %d %w", i, q.CheckGPUs(g))
		default:
			last = q.Arrival
		}
	}
	return nil
}

// oneASlot reports whether exactly one request arrives in every slot from the first to the last arrival.
func oneASlot(requests []task.Request) bool {
	for i := range requests {
		if requests[i].Arrival != requests[0].Arrival+i {
			return false
		}
	}
	return true
}

// placementEngine carries out the choices of the scheduler.
type placementEngine struct {
	cluster  *Cluster
	requests []task.Request
	oneASlot bool // see the function
	calendar calendar
	// leaving has the instances that leave before the present request, and spots has the places of the present request.
	leaving []departure
	spots   []Spot
	places  [][]Spot // the places of each request; nil if no request has a gang

	// mover and residents are nil if workloads do not move.
	mover     Mover
	residents *Residents

	// slot is the slot that ends next, now is the state, and sum is the sum of the states at
	// the ends of the earlier slots.
	slot     int
	now, sum measures
	measures *[Masks]measures
}

func newPlacementEngine(c *Cluster, requests []task.Request, p Placer, rules task.Migration) *placementEngine {
	e := &placementEngine{
		cluster: c, requests: requests, oneASlot: oneASlot(requests),
		calendar: newCalendar(len(requests)), measures: measureMasks(c.gpu),
	}
	all := task.Requests{Requests: requests}
	if all.HasGangs() {
		c.media, e.places = make([]bool, c.gpus), make([][]Spot, len(requests))
	}
	mover, moves := p.(Mover)
	if moves && rules.Moves > 0 {
		e.mover = mover
		e.residents = newResidents(c, len(requests), rules)
	}
	return e
}

// decide asks the scheduler for the places of a request and reports whether it accepts the request.
func (e *placementEngine) decide(i int, p Placer) (bool, error) {
	spots, err := placeInstances(e, p, e.requests, i, e.spots[:0])
	if err != nil || len(spots) == 0 {
		return false, err
	}
	e.spots = spots
	e.now.running++
	e.book(i)
	if e.places != nil {
		e.places[i] = slices.Clone(spots)
	}
	if e.residents != nil {
		q := &e.requests[i]
		e.residents.add(i, q, e.spots)
		e.residents.stays[i].slot = uint32(min(q.Arrival+min(q.Lifespan, stayed), stayed))
	}
	return true, nil
}

// An engine has a cluster. set changes the mask of a GPU and the measurements that depend on it.
type engine interface {
	state() *Cluster
	set(gpu int, to mig.Mask)
}

// placeInstances asks a scheduler for a place for each instance of request i, and appends the places to spots. If the
// scheduler rejects an instance, placeInstances removes the others and returns no places.
func placeInstances(e engine, p Placer, requests []task.Request, i int, spots []Spot) ([]Spot, error) {
	c, q := e.state(), &requests[i]
	if q.Gang != nil {
		return placeGang(e, p, i, q, spots)
	}
	profile := c.index(q.Profile)
	for range q.Instances() {
		s, ok := p.Place(c, profile)
		if !ok {
			removeInstances(e, q, spots)
			return nil, nil
		}
		window, why := c.windowAt(q.Profile, s)
		if why != "" {
			return nil, &ChoiceError{fmt.Sprintf("request %d: %v cannot be placed on GPU %d at slice %d: %s", i,
				q.Profile, s.GPU, s.Start, why)}
		}
		e.set(s.GPU, c.Mask(s.GPU)|window)
		spots = append(spots, s)
	}
	return spots, nil
}

// removeInstances frees the slices and the media extensions of the first instances of a request, at these places.
func removeInstances(e engine, q *task.Request, spots []Spot) {
	for k, s := range spots {
		m := q.Member(k)
		e.set(s.GPU, e.state().Mask(s.GPU)&^mig.Instance{Profile: m.Profile, Start: s.Start}.Mask())
		e.state().setMedia(s.GPU, m, false)
	}
}

// windowAt returns the slices of an instance at a place, or the reason why it cannot be there.
func (c *Cluster) windowAt(p *mig.Profile, s Spot) (window mig.Mask, why string) {
	if s.GPU < 0 || s.GPU >= c.GPUs() {
		return 0, fmt.Sprintf("the GPUs are 0 to %d", c.GPUs()-1)
	}
	if c.fixed != nil {
		p = c.fixed[s.GPU][c.index(p)]
	}
	if !slices.Contains(p.Starts, s.Start) {
		return 0, fmt.Sprintf("it may start at %v", p.Starts)
	}
	window = mig.Instance{Profile: p, Start: s.Start}.Mask()
	occupied := c.Mask(s.GPU)
	switch {
	case occupied&window != 0:
		return 0, fmt.Sprintf("slices of it are in use; the GPU has the mask %08b", occupied)
	case c.view != nil && !slices.Contains(c.view.narrow(c, s.GPU, p).Starts, s.Start):
		return 0, "its gang needs one GPU with room for all, or the media extensions of the GPU are in use"
	}
	return window, ""
}

// book adds the departures of a request's instances to the calendar, unless they stay until the end.
func (e *placementEngine) book(i int) {
	q := &e.requests[i]
	last := e.requests[len(e.requests)-1].Arrival
	if q.Lifespan > last-q.Arrival {
		return
	}
	slot := q.Arrival + q.Lifespan
	before := e.arrivalFrom(i, slot)
	for k, s := range e.spots {
		m := q.Member(k)
		e.calendar.add(departure{
			slot: uint32(slot), before: int32(before), request: int32(i), gpu: int32(s.GPU),
			window: mig.Instance{Profile: m.Profile, Start: s.Start}.Mask(), further: k > 0, media: m.Media,
		})
	}
}

// arrivalFrom returns the first request after i that arrives in the slot or later. Such a request must exist.
func (e *placementEngine) arrivalFrom(i, slot int) int {
	if e.oneASlot {
		return slot - e.requests[0].Arrival
	}
	return i + 1 + sort.Search(len(e.requests)-i-1, func(k int) bool { return e.requests[i+1+k].Arrival >= slot })
}

// releaseBefore removes the instances that leave between the arrivals of requests i-1 and i.
func (e *placementEngine) releaseBefore(i int) {
	e.leaving = e.calendar.take(e.leaving[:0], i)
	if e.residents != nil {
		e.leaving = e.delay(i, e.leaving)
	}
	if len(e.leaving) > 1 {
		slices.SortFunc(e.leaving, func(a, b departure) int {
			return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.request, b.request))
		})
	}
	for k := range e.leaving {
		e.release(&e.leaving[k])
	}
}

func (e *placementEngine) release(d *departure) {
	gpu := int(d.gpu)
	e.advance(int(d.slot))
	e.set(gpu, e.cluster.Mask(gpu)&^d.window)
	if d.media {
		e.cluster.media[gpu] = false
	}
	if e.residents != nil {
		e.residents.remove(gpu, e.residents.find(gpu, firstSlice(d.window)))
	}
	if !d.further {
		e.now.running--
	}
}

func (e *placementEngine) state() *Cluster { return e.cluster }

func (e *placementEngine) set(gpu int, to mig.Mask) {
	e.now.add(1, &e.measures[to])
	e.now.add(-1, &e.measures[e.cluster.Mask(gpu)])
	e.cluster.set(gpu, to)
}

// advance ends all slots before the given one.
func (e *placementEngine) advance(slot int) {
	if slot > e.slot {
		e.sum.add(slot-e.slot, &e.now)
		e.slot = slot
	}
}

// measures are the fields of a [Load] as whole numbers, so that their sums over GPUs and slots are exact in any order.
type measures struct {
	running, active, used int
	fragmentation         [readings]int
}

func (m *measures) add(times int, o *measures) {
	m.running += times * o.running
	m.active += times * o.active
	m.used += times * o.used
	for r := range m.fragmentation {
		m.fragmentation[r] += times * o.fragmentation[r]
	}
}

func (m *measures) load(slots float64, gpus int) Load {
	l := Load{
		Running: float64(m.running) / slots, ActiveGPUs: float64(m.active) / slots,
		UsedSlices: float64(m.used) / slots,
	}
	for r := range l.Fragmentation {
		l.Fragmentation[r] = float64(m.fragmentation[r]) / slots / float64(gpus)
	}
	return l
}

// measureMasks returns the measures of one GPU, by its mask.
func measureMasks(g *mig.GPU) *[Masks]measures {
	var out [Masks]measures
	for i := range 1 << g.MemorySlices {
		m := &out[i]
		m.used = int(mig.Mask(i).Count())
		m.active = min(m.used, 1)
		for r := range m.fragmentation {
			m.fragmentation[r] = int(Fragmentation(g, Reading(r))[i])
		}
	}
	return &out
}
