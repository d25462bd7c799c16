package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"miglab/harness/heap"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// RunWaiting lets a scheduler place a stream of requests on an empty cluster. A rejected request waits. The scheduler
// decides in each slot in which a request arrives or an instance leaves; instances leave before requests arrive. It
// tries the waiting requests in the order of their arrival. After a rejection, other requests for the same profile on
// as many GPUs, or for the same gang, are not tried again in that slot. With [task.FIFO], a rejection ends the
// decisions of the slot. The simulation ends when the last instance leaves.
//
// A [Mover] may move running requests each time before the scheduler tries a request, if the stream allows moves. A
// move is a checkpoint, a stop and a restart ([task.Migration]): in its slot the old slices become free and the new
// ones are taken, and the request ends later by the downtime, in which it holds the new slices and makes no progress.
//
// An impossible choice of the scheduler is a [*ChoiceError]. So is the rejection of a request on an empty cluster after
// the last arrival. Other errors are about the cluster or the requests: every request must leave and must not need
// more GPUs than the cluster has.
func RunWaiting(g *mig.GPU, in task.Requests, p Placer) (WaitingResult, error) {
	c, err := NewCluster(g, in.GPUs)
	if err != nil {
		return WaitingResult{}, err
	}
	requests := in.Requests
	if err := cmp.Or(checkRequests(g, c.profiles, requests), in.CheckEnd(), in.Migration.Check()); err != nil {
		return WaitingResult{}, err
	}
	c.fix(in.Geometry)
	e := newWaitingEngine(c, &in, p)
	for next := 0; next < len(requests) || len(e.leaving) > 0; {
		now := e.next(next)
		e.use.advance(now, e.queued > 0)
		for len(e.leaving) > 0 && e.leaving[0].Key == now {
			e.leave(int(e.leaving.Pop().ID))
			e.skipMoved()
		}
		for ; next < len(requests) && requests[next].Arrival == now; next++ {
			k := &e.kinds[e.kindOf[next]]
			k.queue = append(k.queue, int32(next))
			e.count(k, 1)
			e.queued++
		}
		if err := e.serve(now, p); err != nil {
			return WaitingResult{}, err
		}
		if e.queued > 0 && len(e.leaving) == 0 && next == len(requests) {
			return WaitingResult{}, &ChoiceError{
				fmt.Sprintf("requests wait forever: the scheduler rejects %d on an empty cluster", e.queued),
			}
		}
	}
	return e.result(in), nil
}

// A waitingKind is the profile and the number of instances of a request, or its gang. A scheduler sees only the kind
// of a request. Requests of one kind are served in the order of their arrival.
type waitingKind struct {
	profile, instances int
	of                 *task.Request // the first request of the kind
	compute, slices    int           // the numbers of compute and memory slices of all instances
	queue              []int32       // the requests that wait
	failed             int           // the last event at which the kind was rejected, counted from 1
	blocked            int           // how many requests in the queue are already counted as blocked by the geometry
}

// waitingEngine carries out the choices of the scheduler.
type waitingEngine struct {
	cluster  *Cluster
	requests []task.Request
	waiting  task.Waiting
	kinds    []waitingKind
	kindOf   []int32 // by request
	// queued is the number of requests that wait, and event is the number of slots with decisions so far.
	queued, event int
	// leaving has the running requests; the key is the slot in which they leave. The key of a request that has moved
	// may be too early, but never the key of the first one.
	leaving heap.Heap[int]
	// starts and ends have the slots in which the requests begin and leave, and spots has their present places.
	starts, ends []int
	spots        [][]Spot
	blocked      int // see [WaitingResult.Blocked]
	use          waitingUse
	// mover and residents are nil if requests do not move.
	mover     Mover
	residents *Residents
}

func (e *waitingEngine) result(in task.Requests) WaitingResult {
	r := WaitingResult{
		In: in, Starts: e.starts, Ends: e.ends, Spots: e.spots, Blocked: e.blocked, Use: e.use.means(),
	}
	if e.residents != nil {
		r.Spots = e.residents.spots
		for k, m := range e.residents.moves {
			r.Moved = append(r.Moved, WaitingMove{e.residents.slots[k], m})
		}
	}
	return r
}

func newWaitingEngine(c *Cluster, in *task.Requests, p Placer) *waitingEngine {
	requests := in.Requests
	e := &waitingEngine{
		cluster: c, requests: requests, waiting: in.Waiting, kindOf: make([]int32, len(requests)),
		starts: make([]int, len(requests)), ends: make([]int, len(requests)), spots: make([][]Spot, len(requests)),
		use: waitingUse{
			gpu: c.gpu, gpus: in.GPUs, from: int(math.Ceil(WarmUp / in.Seconds())),
			to: requests[len(requests)-1].Arrival, scatter: scatterByMask(c.gpu),
		},
	}
	mover, moves := p.(Mover)
	if moves && in.Migration.Moves > 0 {
		e.mover, e.residents = mover, newResidents(c, len(requests), in.Migration)
	}
	for i := range requests {
		e.kindOf[i] = e.findKind(&requests[i])
	}
	if in.HasGangs() {
		c.media = make([]bool, c.gpus)
	}
	return e
}

// findKind returns the index of the kind of a request, which it adds to the kinds if it is new.
func (e *waitingEngine) findKind(q *task.Request) int32 {
	profile, instances := e.cluster.index(q.Profile), q.Instances()
	i := slices.IndexFunc(e.kinds, func(k waitingKind) bool {
		return k.profile == profile && k.instances == instances && k.of.Gang.Equal(q.Gang)
	})
	if i < 0 {
		i = len(e.kinds)
		e.kinds = append(e.kinds, waitingKind{
			profile: profile, instances: instances, of: q, compute: q.ComputeSlices(), slices: q.Slices(),
		})
	}
	return int32(i)
}

// count adds a number of requests of a kind to the waiting instances.
func (e *waitingEngine) count(k *waitingKind, requests int) {
	for i := range k.instances {
		e.cluster.waiting[e.cluster.index(k.of.Member(i).Profile)] += requests
	}
}

// movable reports whether the scheduler may move others before a request of the kind.
func (k *waitingKind) movable() bool { return k.instances == 1 && k.of.Gang == nil }

// next returns the slot of the next event. request is the next request to arrive.
func (e *waitingEngine) next(request int) int {
	at := math.MaxInt
	if request < len(e.requests) {
		at = e.requests[request].Arrival
	}
	if len(e.leaving) > 0 {
		at = min(at, e.leaving[0].Key)
	}
	return at
}

// serve tries the waiting requests.
func (e *waitingEngine) serve(now int, p Placer) error {
	e.event++
	for {
		k := e.first()
		if k == nil {
			return nil
		}
		i := int(k.queue[0])
		if err := e.moveBefore(now, i, k); err != nil {
			return err
		}
		spots, err := placeInstances(e, p, e.requests, i, nil)
		if err != nil {
			return err
		}
		if len(spots) == 0 {
			k.failed = e.event
			e.block(k)
			if e.waiting == task.FIFO {
				return nil
			}
			continue
		}
		e.spots[i] = spots
		e.use.compute += k.compute
		e.count(k, -1)
		e.starts[i], e.ends[i] = now, now+e.requests[i].Lifespan
		e.leaving.Push(heap.Item[int]{Key: e.ends[i], Tie: int32(i), ID: int32(i)})
		if e.residents != nil {
			e.residents.add(i, &e.requests[i], e.spots[i])
		}
		e.queued--
		k.queue = k.queue[1:]
		k.blocked = max(k.blocked-1, 0)
	}
}

// first returns the kind of the request that has waited longest, among the kinds that have not been rejected at this
// event; nil if all waiting kinds have been rejected.
func (e *waitingEngine) first() (best *waitingKind) {
	for j := range e.kinds {
		k := &e.kinds[j]
		waits := len(k.queue) > 0 && k.failed != e.event
		if waits && (best == nil || k.queue[0] < best.queue[0]) {
			best = k
		}
	}
	return best
}

// moveBefore lets the mover move before request i, of kind k, is tried.
func (e *waitingEngine) moveBefore(now, i int, k *waitingKind) error {
	r := e.residents
	if r == nil || !k.movable() {
		return nil
	}
	r.slot, r.behind = now, e.behind
	r.head = !slices.ContainsFunc(e.kinds, func(other waitingKind) bool {
		return len(other.queue) > 0 && int(other.queue[0]) < i
	})
	err := r.ask(e.mover, i, k.profile, func(m Move) error {
		if err := r.move(m, e.set); err != nil {
			return err
		}
		e.ends[m.Request] += r.rules.Downtime
		e.spots[m.Request] = []Spot{m.To}
		return nil
	})
	e.skipMoved()
	return err
}

// behind yields the profiles of the requests for one GPU that are tried after the present one.
func (e *waitingEngine) behind(yield func(profile int) bool) {
	queues := make([][]int32, len(e.kinds))
	present := e.first()
	for j := range e.kinds {
		k := &e.kinds[j]
		if k.failed != e.event && k.movable() {
			queues[j] = k.queue
		}
		if k == present {
			queues[j] = k.queue[1:]
		}
	}
	for {
		best := -1
		for j, q := range queues {
			if len(q) > 0 && (best < 0 || q[0] < queues[best][0]) {
				best = j
			}
		}
		if best < 0 || !yield(e.kinds[best].profile) {
			return
		}
		queues[best] = queues[best][1:]
	}
}

// leave removes a request that has ended.
func (e *waitingEngine) leave(i int) {
	if e.residents != nil {
		for _, s := range e.spots[i] {
			e.residents.remove(s.GPU, e.residents.find(s.GPU, s.Start))
		}
	}
	e.use.compute -= e.kinds[e.kindOf[i]].compute
	removeInstances(e, &e.requests[i], e.spots[i])
}

// skipMoved corrects the key of the first request of leaving for its moves, until the first key is right.
func (e *waitingEngine) skipMoved() {
	for len(e.leaving) > 0 && e.leaving[0].Key < e.ends[e.leaving[0].ID] {
		first := e.leaving[0]
		first.Key = e.ends[first.ID]
		e.leaving.ReplaceFirst(first)
	}
}

// block counts the tried requests of a rejected kind as blocked if enough slices are free for one. Each request counts
// once.
func (e *waitingEngine) block(k *waitingKind) {
	s := &e.use
	if s.memory()-s.used < k.slices || s.slices()-s.compute < k.compute {
		return
	}
	tried := len(k.queue)
	if e.waiting == task.FIFO {
		tried = 1
	}
	e.blocked += tried - k.blocked
	k.blocked = tried
}

func (e *waitingEngine) state() *Cluster { return e.cluster }

func (e *waitingEngine) set(gpu int, to mig.Mask) {
	from := e.cluster.Mask(gpu)
	e.use.used += int(to.Count()) - int(from.Count())
	e.use.scattered += int(e.use.scatter[to] - e.use.scatter[from])
	e.cluster.set(gpu, to)
}
