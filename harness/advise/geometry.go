package advise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"miglab/harness/heap"
	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/task"
	"miglab/harness/work"
)

// A Fixed is the best geometry found for a cluster that never changes its instances.
type Fixed struct {
	// Best says that all geometries were tried: none has a smaller mean delay.
	Best bool
	// Geometry has a partition for each GPU; nil if no geometry serves all requests.
	Geometry []string
	Outcome  Outcome
	// Mean is the mean delay, and Cost is Mean minus the mean wait under the best policy, which changes instances.
	Mean, Cost stats.BlockEstimate
}

// fixedPolicy places requests on existing instances. The waits do not depend on which free one of a profile it takes.
const fixedPolicy = "packed"

// fixed searches for the best fixed geometry and compares it with the best policy.
func (a *adviser) fixed(best Compared) (f Fixed, err error) {
	f, err = a.search(a.in.GPUs)
	if err == nil && f.Geometry != nil && f.Outcome.Error == "" {
		f.Mean, f.Cost = a.wait(f.Outcome.Bins), a.mean(difference(f.Outcome.Bins, best.Bins))
	}
	return f, err
}

// search searches for the best fixed geometry of a number of GPUs and simulates it.
func (a *adviser) search(gpus int) (f Fixed, err error) {
	unit := a.unit(fmt.Sprint("geometry/", gpus), "", func(ctx context.Context) (any, error) {
		in := a.in
		in.GPUs = gpus
		return searchGeometry(ctx, a.q.GPU, in, mostGeometries)
	})
	found, err := records[foundGeometry](a, []work.Unit{unit})
	if err != nil || len(found[0].Partitions) == 0 {
		return f, err
	}
	f.Geometry, f.Best = found[0].Partitions, found[0].Best
	outcomes, err := a.run([]Simulation{{Policy: fixedPolicy, GPUs: gpus, Geometry: f.Geometry}})
	if err == nil {
		f.Outcome = outcomes[0]
	}
	return f, err
}

// fixedLeast returns a number of GPUs that is enough with the best fixed geometry found.
func (a *adviser) fixedLeast(below int) (Need, error) {
	t := &trial{a: a, tried: map[int]Outcome{}, run: func(numbers []int) (out []Outcome, err error) {
		for _, n := range numbers {
			f, err := a.search(n)
			if err != nil {
				return nil, err
			}
			if f.Geometry == nil {
				f.Outcome.Error = "no geometry serves all requests"
			}
			out = append(out, f.Outcome)
		}
		return out, nil
	}}
	most, err := t.halve(below)
	return Need{Policy: "fixed geometry", GPUs: most, Outcome: t.tried[most], Mean: a.wait(t.tried[most].Bins)}, err
}

// A geometrySearch searches for the number of GPUs with each partition. The cost of such numbers is the sum of the
// times from arrival to end. Under a fixed geometry, the instances of a profile are servers of one queue. Each queue is
// simulated by itself, once.
type geometrySearch struct {
	g     *mig.GPU
	in    task.Requests
	parts []mig.Partition
	// queues has the requests for each size, by the sizes that exist. times has the cost of a queue; see queueTime.
	queues map[sizeSet]map[mig.Slices][]task.Request
	times  map[queueKey]float64
	// best has the numbers with the least cost so far, by partition.
	best  []int
	least float64
}

// newGeometrySearch keeps one of the partitions with equal sizes: their cost is the same.
func newGeometrySearch(g *mig.GPU, in task.Requests) *geometrySearch {
	s := &geometrySearch{
		g: g, in: in, queues: map[sizeSet]map[mig.Slices][]task.Request{}, times: map[queueKey]float64{},
		least: math.Inf(1),
	}
	kinds := map[string]bool{}
	for _, p := range g.Partitions() {
		sizes := slices.Clone(p)
		slices.SortFunc(sizes, func(a, b mig.Instance) int { return cmp.Compare(a.Size(), b.Size()) })
		name := sizes.String()
		if !kinds[name] {
			kinds[name] = true
			s.parts = append(s.parts, p)
		}
	}
	return s
}

// A sizeSet has bit s for instances of s compute slices.
type sizeSet uint16

type queueKey struct {
	exist   sizeSet
	size    mig.Slices
	servers int
}

// mostGeometries is the largest number of geometries that are all tried. Among more, a local search looks for a good
// one.
const mostGeometries = 200_000

// A foundGeometry is the result of a search: a partition for each GPU, or none if no geometry serves all requests.
type foundGeometry struct {
	Partitions []string `json:"partitions"`
	// Best says that all geometries were tried.
	Best bool `json:"best"`
}

// searchGeometry tries all geometries if there are at most so many. Otherwise it searches once for each set of sizes:
// it begins with the partitions whose sizes are in the set, and then improves the numbers.
func searchGeometry(ctx context.Context, g *mig.GPU, in task.Requests, most int) (out foundGeometry, err error) {
	s := newGeometrySearch(g, in)
	out.Best = s.atMost(in.GPUs, most)
	if out.Best {
		s.tryAll(ctx, make([]int, len(s.parts)), 0, in.GPUs)
	} else {
		for sizes := sizeSet(1); sizes < 1<<(mig.MaxSize+1) && ctx.Err() == nil; sizes++ {
			numbers := s.grow(sizes, in.GPUs)
			if numbers != nil {
				s.improve(ctx, numbers)
			}
		}
	}
	for i, n := range s.best {
		out.Partitions = append(out.Partitions, slices.Repeat([]string{s.parts[i].String()}, n)...)
	}
	return out, ctx.Err()
}

// atMost reports whether there are at most so many geometries: combinations with repetition of the partitions.
func (s *geometrySearch) atMost(gpus, most int) bool {
	count := 1
	for i := 1; i < len(s.parts); i++ {
		count = count * (gpus + i) / i
		if count > most {
			return false
		}
	}
	return true
}

// try keeps the numbers of GPUs if they are better than all before.
func (s *geometrySearch) try(numbers []int) {
	cost := s.cost(numbers)
	if cost < s.least {
		s.best, s.least = slices.Clone(numbers), cost
	}
}

// tryAll tries all ways to give the GPUs that are left to the partitions from the i-th on.
func (s *geometrySearch) tryAll(ctx context.Context, numbers []int, i, left int) {
	if i == len(numbers)-1 {
		numbers[i] = left
		s.try(numbers)
		return
	}
	for n := 0; n <= left && ctx.Err() == nil; n++ {
		numbers[i] = n
		s.tryAll(ctx, numbers, i+1, left-n)
	}
	numbers[i] = 0
}

// grow chooses the partitions of all GPUs among the partitions whose sizes are in a set. It begins with one GPU of each
// of them, and gives every other GPU the partition with the least cost. It returns nil if the partitions lack a size of
// the set, or if there are too few GPUs.
func (s *geometrySearch) grow(sizes sizeSet, gpus int) []int {
	numbers := make([]int, len(s.parts))
	var exist sizeSet
	for i, p := range s.parts {
		own := sizesOf(p)
		if own&^sizes == 0 {
			numbers[i] = 1
			exist |= own
			gpus--
		}
	}
	if exist != sizes || gpus < 0 {
		return nil
	}
	for ; gpus > 0; gpus-- {
		least, to := math.Inf(1), 0
		for i := range numbers {
			if sizesOf(s.parts[i])&^sizes != 0 {
				continue
			}
			numbers[i]++
			if cost := s.cost(numbers); cost < least || numbers[to] == 0 {
				least, to = cost, i
			}
			numbers[i]--
		}
		numbers[to]++
	}
	return numbers
}

// improve makes one or two changes (see eachChange) at a time, as long as that lowers the cost.
func (s *geometrySearch) improve(ctx context.Context, numbers []int) {
	for cost := s.cost(numbers); ctx.Err() == nil; {
		next, least := s.step(numbers)
		if least >= cost {
			break
		}
		numbers, cost = next, least
	}
	s.try(numbers)
}

// step returns the best numbers that differ by one or two changes.
func (s *geometrySearch) step(numbers []int) (best []int, least float64) {
	least = math.Inf(1)
	next := slices.Clone(numbers)
	keep := func() {
		cost := s.cost(next)
		if cost < least {
			best, least = slices.Clone(next), cost
		}
	}
	eachChange(next, func() {
		keep()
		eachChange(next, keep)
	})
	return best, least
}

// eachChange changes 1, 2, 4, ... GPUs from one partition to another, in every way. After each change it calls visit,
// and then takes the change back.
func eachChange(numbers []int, visit func()) {
	for from, have := range numbers {
		for n := 1; n <= have; n *= 2 {
			numbers[from] -= n
			for to := range numbers {
				if to != from {
					numbers[to] += n
					visit()
					numbers[to] -= n
				}
			}
			numbers[from] += n
		}
	}
}

// sizesOf returns the sizes of a partition's instances.
func sizesOf(p mig.Partition) (sizes sizeSet) {
	for _, in := range p {
		sizes |= 1 << in.Size()
	}
	return sizes
}

// cost returns the sum of the times from arrival to end, in slots. It is infinite if a request fits no instance.
func (s *geometrySearch) cost(numbers []int) float64 {
	var exist sizeSet
	var servers [mig.MaxSize + 1]int
	for i, n := range numbers {
		if n == 0 {
			continue
		}
		exist |= sizesOf(s.parts[i])
		for _, in := range s.parts[i] {
			servers[in.Size()] += n
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

// divide returns the requests for the instances of each size, as [task.Requests.Fix] does; nil if some fit no instance.
func (s *geometrySearch) divide(numbers []int) map[mig.Slices][]task.Request {
	in := s.in
	in.Requests = slices.Clone(in.Requests)
	var names []string
	for i, n := range numbers {
		if n > 0 {
			names = append(names, s.parts[i].String())
		}
	}
	in.GPUs = max(in.GPUs, len(names))
	if in.Fix(s.g, names) != nil {
		return nil
	}
	out := map[mig.Slices][]task.Request{}
	for _, q := range in.Requests {
		out[q.Profile.Size] = append(out[q.Profile.Size], q)
	}
	return out
}

// queueTime returns the sum of the slots from arrival to end if requests wait for servers in the order of their
// arrival. A request takes the servers that become free first.
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
