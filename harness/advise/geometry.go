package advise

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/harness/heap"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/stats"
	"miglab/harness/task"
	"miglab/harness/work"
)

// A Fixed is the best geometry that a search found for a cluster that never changes its instances. Its profiles are
// requested ones.
type Fixed struct {
	GPUs int
	// Geometry has the instances of each GPU; nil if no geometry serves all requests.
	Geometry []mig.Partition
	Outcome  Outcome
	// Mean is the mean delay, and Cost is Mean minus the mean wait on these GPUs under the best policy, which changes
	// instances.
	Mean, Cost stats.BlockEstimate
}

// fixedPolicy places requests on existing instances. The waits do not depend on which free one of a profile it takes.
const fixedPolicy = "packed"

// fixed searches for the best fixed geometry with all named profiles, or for the best one of all if none has them, with
// the adviser of [adviser.separateWhole]. It compares it with the best policy.
func (a *adviser) fixed(separate *adviser, gpus int, best string) (f Fixed, err error) {
	outcomes, err := a.run([]Simulation{{Policy: best, GPUs: gpus}})
	if err != nil {
		return f, err
	}
	f, err = separate.search(gpus, a.q.Named)
	if err == nil && f.Geometry == nil {
		f, err = separate.search(gpus, nil)
	}
	if err == nil && f.Geometry != nil && f.Outcome.Error == "" {
		f.Mean, f.Cost = a.wait(f.Outcome.Bins), a.mean(difference(f.Outcome.Bins, outcomes[0].Bins))
	}
	return f, err
}

// search searches for the best fixed geometry of a number of GPUs that has certain profiles, and simulates it.
func (a *adviser) search(gpus int, has []*mig.Profile) (f Fixed, err error) {
	f.GPUs = gpus
	unit := a.unit(fmt.Sprint("geometry/", gpus, "/", has), "2", func(ctx context.Context) (any, error) {
		in := a.in
		in.GPUs = gpus
		return searchGeometry(ctx, a.q.GPU, in, has)
	})
	found, err := records[foundGeometry](a, []work.Unit{unit})
	if err != nil || len(found[0].Layouts) == 0 {
		return f, err
	}
	for _, name := range found[0].Layouts {
		layout, err := a.q.GPU.ParseLayout(name)
		if err != nil {
			return f, err
		}
		f.Geometry = append(f.Geometry, layout)
	}
	outcomes, err := a.run([]Simulation{{Policy: fixedPolicy, GPUs: gpus, Geometry: found[0].Layouts}})
	if err == nil {
		f.Outcome = outcomes[0]
	}
	return f, err
}

// fixedLeast returns a number of GPUs that is enough with the best fixed geometry found that has all named profiles.
func (a *adviser) fixedLeast(below int) (Need, error) {
	t := &trial{a: a, tried: map[int]Outcome{}, run: func(numbers []int) (out []Outcome, err error) {
		for _, n := range numbers {
			f, err := a.search(n, a.q.Named)
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

// A geometrySearch searches for the geometry with the least cost, the sum of the times from arrival to end. Under a
// fixed geometry, the instances of a profile are servers of one queue. Each queue is simulated by itself, once.
type geometrySearch struct {
	g  *mig.GPU
	in task.Requests
	// profiles are the requested profiles, in the model's order. In this order, each serves all before it.
	profiles []*mig.Profile
	// times has the cost of a queue; see queueTime.
	times map[queueKey]float64
	// served and kinds describe the geometries with certain profiles. served has for each profile the ones whose
	// requests it serves. kinds are the layouts of a GPU without room for another instance, less those whose
	// instances another one has, too.
	served []profileSet
	kinds  []layoutKind
	// best has the layouts with the least cost so far.
	best  []string
	least float64
}

// A profileSet has bit i for the i-th profile of a search.
type profileSet uint16

func (s profileSet) has(i int) bool { return s>>i&1 == 1 }

// A layoutKind is a layout with its number of instances of each profile.
type layoutKind struct {
	name      string
	instances []int
}

// A queueKey names the requests that wait for a profile, and the number of its instances.
type queueKey struct {
	profile  int
	requests profileSet
	servers  int
}

// A foundGeometry is the result of a search: a layout for each GPU, or none if no geometry serves all requests.
type foundGeometry struct {
	Layouts []string `json:"layouts"`
}

func newGeometrySearch(g *mig.GPU, in task.Requests) *geometrySearch {
	s := &geometrySearch{g: g, in: in, times: map[queueKey]float64{}, least: math.Inf(1)}
	for _, p := range task.RequestProfiles(g) {
		if slices.ContainsFunc(in.Requests, func(q task.Request) bool { return q.Profile == p }) {
			s.profiles = append(s.profiles, p)
		}
	}
	return s
}

// searchGeometry searches among the geometries that have certain profiles, once for each set of the requested profiles.
// It adds GPU by GPU and then improves the numbers, so that the geometry found is not certainly the best.
func searchGeometry(ctx context.Context, g *mig.GPU, in task.Requests, has []*mig.Profile) (foundGeometry, error) {
	s := newGeometrySearch(g, in)
	keep := profileSet(1) << (len(s.profiles) - 1) // which the others cannot serve
	for i, p := range s.profiles {
		if slices.Contains(has, p) {
			keep |= 1 << i
		}
	}
	for exist := profileSet(1); exist < 1<<len(s.profiles) && ctx.Err() == nil; exist++ {
		if exist&keep != keep || !s.choose(exist) {
			continue
		}
		s.improve(ctx, s.grow(in.GPUs))
	}
	return foundGeometry{Layouts: s.best}, ctx.Err()
}

// choose prepares the search for the geometries with the profiles of a set. It returns false if they cannot serve all
// requests.
func (s *geometrySearch) choose(exist profileSet) bool {
	s.served, s.kinds = make([]profileSet, len(s.profiles)), nil
	var fixed task.Requests
	var names []string
	for i, p := range s.profiles {
		fixed.Requests = append(fixed.Requests, task.Request{Profile: p})
		if exist.has(i) {
			names = append(names, p.String())
		}
	}
	fixed.GPUs = len(names)
	if fixed.UseGeometry(s.g, names) != nil {
		return false
	}
	for i, q := range fixed.Requests {
		s.served[slices.Index(s.profiles, q.Profile)] |= 1 << i
	}
	var all []layoutKind
	for _, p := range s.g.PartitionsOf(func(p *mig.Profile) bool {
		i := slices.Index(s.profiles, p)
		return i >= 0 && exist.has(i)
	}) {
		k := layoutKind{instances: make([]int, len(s.profiles))}
		k.name = strings.Join(nearest.Names(p, func(in mig.Instance) string { return in.Profile.String() }), "-")
		for _, in := range p {
			k.instances[slices.Index(s.profiles, in.Profile)]++
		}
		all = append(all, k)
	}
	for _, k := range all {
		better := func(o layoutKind) bool { // or the first of equal ones
			return contains(o.instances, k.instances) && (o.name < k.name || !contains(k.instances, o.instances))
		}
		if !slices.ContainsFunc(all, better) {
			s.kinds = append(s.kinds, k)
		}
	}
	return true
}

// contains reports whether a layout has the instances of another one.
func contains(layout, other []int) bool {
	for i := range layout {
		if layout[i] < other[i] {
			return false
		}
	}
	return true
}

// try keeps the numbers of GPUs of each kind if they are better than all before.
func (s *geometrySearch) try(numbers []int) {
	cost := s.cost(numbers)
	if cost >= min(s.least, unserved) {
		return
	}
	s.least, s.best = cost, nil
	for i, n := range numbers {
		s.best = append(s.best, slices.Repeat([]string{s.kinds[i].name}, n)...)
	}
}

// grow gives each GPU in turn the kind with the least cost.
func (s *geometrySearch) grow(gpus int) []int {
	numbers := make([]int, len(s.kinds))
	for range gpus {
		least, to := math.Inf(1), 0
		for i := range numbers {
			numbers[i]++
			cost := s.cost(numbers)
			if cost < least {
				least, to = cost, i
			}
			numbers[i]--
		}
		numbers[to]++
	}
	return numbers
}

// improve makes one change at a time, as long as that lowers the cost. See step.
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

// step returns the best numbers that differ by 1, 2, 4, ... GPUs of one kind that become GPUs of another.
func (s *geometrySearch) step(numbers []int) (best []int, least float64) {
	least = math.Inf(1)
	for from, have := range numbers {
		for n := 1; n <= have; n *= 2 {
			for to := range numbers {
				next := slices.Clone(numbers)
				next[from] -= n
				next[to] += n
				cost := s.cost(next)
				if cost < least {
					best, least = next, cost
				}
			}
		}
	}
	return best, least
}

// cost returns the sum of the times from arrival to end, in slots. It is at least unserved if a request fits nowhere.
func (s *geometrySearch) cost(numbers []int) float64 {
	sum := 0.0
	for p, served := range s.served {
		if served == 0 {
			continue
		}
		key := queueKey{profile: p, requests: served}
		for i, n := range numbers {
			key.servers += n * s.kinds[i].instances[p]
		}
		time, known := s.times[key]
		if !known {
			time = queueTime(s.queue(key), key.servers)
			s.times[key] = time
		}
		sum += time
	}
	return sum
}

// queue returns the requests that wait for a profile.
func (s *geometrySearch) queue(key queueKey) []task.Request {
	in := task.Requests{GPUs: 1}
	for _, q := range s.in.Requests {
		if key.requests.has(slices.Index(s.profiles, q.Profile)) {
			in.Requests = append(in.Requests, q)
		}
	}
	if err := in.UseGeometry(s.g, []string{s.profiles[key.profile].String()}); err != nil {
		panic(err) // choose found that the profile serves them
	}
	return in.Requests
}

// unserved is the cost of an instance that the largest request of a queue lacks. It is above every sum of times.
const unserved = 1e18

// queueTime returns the sum of the slots from arrival to end if requests wait for servers in the order of their
// arrival. A request takes the servers that become free first. If requests do not fit, the largest decides the cost, so
// that it falls with each server.
func queueTime(requests []task.Request, servers int) float64 {
	most := 0
	for i := range requests {
		most = max(most, requests[i].Instances())
	}
	if most > servers {
		return unserved * float64(most-servers)
	}
	var free heap.Heap[int]
	for range servers {
		free.Push(heap.Item[int]{})
	}
	sum := 0.0
	for i := range requests {
		q := &requests[i]
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
