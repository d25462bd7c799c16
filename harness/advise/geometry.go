package advise

import (
	"cmp"
	"context"
	"math"
	"slices"

	"miglab/harness/heap"
	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/task"
	"miglab/harness/work"
)

// A Fixed is the best geometry found that is never changed.
type Fixed struct {
	// Geometry has a partition for each GPU; nil if no geometry serves all requests.
	Geometry []string
	Outcome  Outcome
	// Mean is its mean delay, and Cost is that less the mean wait under the best policy, which changes instances.
	Mean, Cost stats.BlockEstimate
}

// fixedPolicy places requests on instances that exist. Which one of a profile it takes does not change the waits.
const fixedPolicy = "packed"

// fixed searches for the best fixed geometry and compares it with the best policy.
func (a *adviser) fixed(best Compared) (f Fixed, err error) {
	unit := a.unit("geometry/"+a.gpus(), "", func(ctx context.Context) (any, error) {
		return searchGeometry(ctx, a.q.GPU, a.in)
	})
	found, err := records[[]string](a, []work.Unit{unit})
	if err != nil || len(found[0]) == 0 {
		return f, err
	}
	f.Geometry = found[0]
	outcomes, err := a.run([]Simulation{{Policy: fixedPolicy, GPUs: a.in.GPUs, Geometry: f.Geometry}})
	if err != nil {
		return f, err
	}
	f.Outcome = outcomes[0]
	if f.Outcome.Error == "" {
		f.Mean, f.Cost = a.mean(f.Outcome.Bins), a.mean(difference(f.Outcome.Bins, best.Bins))
	}
	return f, nil
}

// A geometrySearch looks for numbers of GPUs with each partition that make the sum of the times from arrival to end
// small. Under a fixed geometry, the instances of a profile are servers of one queue, so that each queue is simulated
// by itself, once.
type geometrySearch struct {
	g     *mig.GPU
	in    task.Requests
	parts []mig.Partition
	// queues has the requests for each size, by the sizes that exist; times has what they cost, by the servers.
	queues map[sizeSet]map[mig.Slices][]task.Request
	times  map[queueKey]float64
}

// A sizeSet has bit s for instances of s compute slices.
type sizeSet uint16

type queueKey struct {
	exist   sizeSet
	size    mig.Slices
	servers int
}

// searchGeometry returns a partition for each GPU, from the local search that begins with the best two partitions; nil
// if none serves all requests. Each step changes the partition of some GPUs to what lowers the waits most.
func searchGeometry(ctx context.Context, g *mig.GPU, in task.Requests) ([]string, error) {
	s := newGeometrySearch(g, in)
	var best []int
	least := math.Inf(1)
	for i := range s.parts { // all GPUs alike, or a few others for large requests
		for k := range s.parts {
			for few := 1; few <= in.GPUs; few *= 2 {
				numbers := make([]int, len(s.parts))
				numbers[i] = in.GPUs - few
				numbers[k] += few
				if cost := s.cost(numbers); cost < least {
					best, least = numbers, cost
				}
			}
		}
	}
	for best != nil && ctx.Err() == nil {
		next, cost := s.step(best)
		if cost >= least {
			break
		}
		best, least = next, cost
	}
	var out []string
	for i, n := range best {
		out = append(out, slices.Repeat([]string{s.parts[i].String()}, n)...)
	}
	return out, ctx.Err()
}

func newGeometrySearch(g *mig.GPU, in task.Requests) *geometrySearch {
	s := &geometrySearch{
		g: g, in: in, queues: map[sizeSet]map[mig.Slices][]task.Request{}, times: map[queueKey]float64{},
	}
	kinds := map[string]bool{}
	for _, p := range g.Partitions() {
		sizes := slices.Clone(p)
		slices.SortFunc(sizes, func(a, b mig.Instance) int { return cmp.Compare(a.Size(), b.Size()) })
		if name := sizes.String(); !kinds[name] {
			kinds[name] = true
			s.parts = append(s.parts, p)
		}
	}
	return s
}

// step returns the numbers with the least cost after changing 1, 2, 4, ... GPUs from one partition to another.
func (s *geometrySearch) step(numbers []int) (best []int, least float64) {
	least = math.Inf(1)
	for from, have := range numbers {
		for to := range numbers {
			if to == from {
				continue
			}
			for n := 1; n <= have; n *= 2 {
				next := slices.Clone(numbers)
				next[from] -= n
				next[to] += n
				if cost := s.cost(next); cost < least {
					best, least = next, cost
				}
			}
		}
	}
	return best, least
}

// cost returns the sum of the times from arrival to end in slots; infinite if a request fits no instance.
func (s *geometrySearch) cost(numbers []int) float64 {
	var exist sizeSet
	var servers [mig.MaxSize + 1]int
	for i, n := range numbers {
		for _, in := range s.parts[i] {
			servers[in.Size()] += n
			if n > 0 {
				exist |= 1 << in.Size()
			}
		}
	}
	queues, known := s.queues[exist]
	if !known {
		queues = s.divide(numbers)
		s.queues[exist] = queues
	}
	if queues == nil {
		return math.Inf(1)
	}
	sum := 0.0
	for _, size := range s.g.Sizes() {
		if len(queues[size]) == 0 {
			continue
		}
		key := queueKey{exist, size, servers[size]}
		time, known := s.times[key]
		if !known {
			time = queueTime(queues[size], servers[size])
			s.times[key] = time
		}
		sum += time
	}
	return sum
}

// divide returns the requests for the instances of each size, as [task.Requests.Fix] does; nil if some fit none.
func (s *geometrySearch) divide(numbers []int) map[mig.Slices][]task.Request {
	in := s.in
	in.Requests = slices.Clone(in.Requests)
	var names []string
	for i, n := range numbers {
		if n > 0 {
			names = append(names, s.parts[i].String())
		}
	}
	if in.GPUs = max(in.GPUs, len(names)); in.Fix(s.g, names) != nil {
		return nil
	}
	out := map[mig.Slices][]task.Request{}
	for _, q := range in.Requests {
		out[q.Profile.Size] = append(out[q.Profile.Size], q)
	}
	return out
}

// queueTime returns the sum of the slots from arrival to end if requests wait for servers, in the order of their
// arrival. A request for several takes those that are free first.
func queueTime(requests []task.Request, servers int) float64 {
	var free heap.Heap[int]
	for range servers {
		free.Push(heap.Item[int]{})
	}
	sum := 0.0
	for i := range requests {
		q := &requests[i]
		if q.Instances() > servers {
			return math.Inf(1)
		}
		start := q.Arrival
		for range q.Instances() {
			start = max(start, free.Pop().Key)
		}
		for range q.Instances() {
			free.Push(heap.Item[int]{Key: start + q.Lifespan})
		}
		sum += float64(start + q.Lifespan - q.Arrival)
	}
	return sum
}
