package certificate

import (
	"fmt"
	"math/bits"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// maxSearched is the largest number of tasks for which all schedules are tried.
const maxSearched = 6

// verifySearch checks that one GPU has no schedule that ends before the bound. It tries every order of the
// operations. Each operation either destroys an instance whose tasks have ended, or creates one where there is room. On
// the new instance some of the remaining tasks run one after the other. An operation begins as early as possible: when
// its slices are free, and not before the previous operation begins or, under [mig.Sequential], ends.
func (w *Witness) verifySearch(p *schedule.Problem) error {
	released := slices.ContainsFunc(p.Release, func(t mig.Seconds) bool { return t > 0 })
	if len(p.Tasks) > maxSearched || p.GPUs() > 1 || released {
		return fmt.Errorf("a search is verified for at most %d tasks on one GPU, without release times", maxSearched)
	}
	if newTree(p, w.Bound).start(situation{situationKey: situationKey{left: 1<<len(p.Tasks) - 1}}, 0) {
		return fmt.Errorf("there is a schedule shorter than %v s", w.Bound)
	}
	return nil
}

// A tree is the search of all schedules that end before the limit.
type tree struct {
	*measured
	// instances are those that can be created, and those that exist at the start with another profile.
	instances []searched
	created   int // how many of them can be created
	seen      map[situationKey][]situation
	// begins is room for when tasks can begin on each instance.
	begins []amount
}

// A searched instance can exist.
type searched struct {
	mig.Instance
	create, destroy amount
	// takes is how long the tasks of a set take one after the other.
	takes []amount
}

// A situation is where a schedule stands after an operation.
type situation struct {
	situationKey
	// from is when the next operation can begin at the earliest.
	from amount
	// free is when the tasks on a slice end, or the operation that frees it.
	free [8]amount
}

type situationKey struct {
	// left is the set of remaining tasks.
	left uint
	// there is the index of the instance on each slice, counted from 1; 0 if there is none.
	there [8]uint8
}

func newTree(p *schedule.Problem, bound mig.Seconds) *tree {
	t := &tree{measured: measure(p, bound), seen: map[situationKey][]situation{}}
	for _, node := range p.GPU.Tree() {
		t.add(node.Instance)
	}
	t.created = len(t.instances)
	t.begins = make([]amount, t.created)
	for _, e := range p.Start {
		if t.index(e.Instance) < 0 {
			t.add(e.Instance)
		}
	}
	return t
}

func (t *tree) add(in mig.Instance) {
	x := searched{Instance: in, takes: make([]amount, 1<<len(t.p.Tasks))}
	x.create, x.destroy = t.of(t.p.Model.Cost(in.Profile.Create)), t.of(t.p.Model.Cost(in.Profile.Destroy))
	for set := 1; set < len(x.takes); set++ {
		x.takes[set] = x.takes[set&(set-1)].plus(t.takes[in.Size()][bits.TrailingZeros(uint(set))])
	}
	t.instances = append(t.instances, x)
}

// index returns the index of an instance, or -1.
func (t *tree) index(in mig.Instance) int {
	return slices.IndexFunc(t.instances, func(x searched) bool { return x.Instance == in })
}

// start tries every set of tasks on the instances that exist at the start, from the k-th on.
func (t *tree) start(s situation, k int) bool {
	if k == len(t.p.Start) {
		return t.next(s)
	}
	in, until := t.index(t.p.Start[k].Instance), t.of(t.p.Start[k].BusyUntil)
	if t.start(t.with(s, in, 0, until), k+1) {
		return true
	}
	for set := s.left; set != 0; set = (set - 1) & s.left {
		end := until.plus(t.instances[in].takes[set])
		if end.less(t.limit) && t.start(t.with(s, in, set, end), k+1) {
			return true
		}
	}
	return false
}

// with returns the situation in which an instance also exists and the tasks of a set run on it until an instant.
func (t *tree) with(s situation, in int, set uint, end amount) situation {
	s.left &^= set
	s.put(uint8(in+1), t.instances[in].Mask(), end)
	return s
}

// put lets an instance, or none, be on some slices, which are free from an instant on.
func (s *situation) put(in uint8, on mig.Mask, from amount) {
	for v := range s.free {
		if on>>v&1 != 0 {
			s.free[v], s.there[v] = from, in
		}
	}
}

func (t *tree) next(s situation) bool {
	if s.left == 0 {
		return true
	}
	if t.hopeless(&s) || t.known(&s) {
		return false
	}
	for v, in := range s.there {
		if in != 0 && int(t.instances[in-1].Start) == v && t.destroy(s, &t.instances[in-1]) {
			return true
		}
	}
	for in := range t.created {
		if t.create(s, in) {
			return true
		}
	}
	return false
}

// operate returns when an operation on an instance begins, and the situation after it.
func (t *tree) operate(s situation, in *searched, takes amount) (amount, situation) {
	begin := s.from
	for v := range s.free {
		if in.Mask()>>v&1 != 0 {
			begin = greater(begin, s.free[v])
		}
	}
	s.from = begin
	if t.p.Model == mig.Sequential {
		s.from = begin.plus(takes)
	}
	return begin, s
}

func (t *tree) destroy(s situation, in *searched) bool {
	begin, s := t.operate(s, in, in.destroy)
	s.put(0, in.Mask(), begin.plus(in.destroy))
	return t.next(s)
}

func (t *tree) create(s situation, in int) bool {
	x := &t.instances[in]
	for v := range s.there {
		if x.Mask()>>v&1 != 0 && s.there[v] != 0 {
			return false
		}
	}
	begin, s := t.operate(s, x, x.create)
	begin = begin.plus(x.create)
	for set := s.left; set != 0; set = (set - 1) & s.left {
		if end := begin.plus(x.takes[set]); end.less(t.limit) && t.next(t.with(s, in, set, end)) {
			return true
		}
	}
	return false
}

// hopeless reports whether a remaining task cannot end in time on any instance, or the
// slices do not have enough time for all remaining tasks.
func (t *tree) hopeless(s *situation) bool {
	for k := range t.created {
		in := &t.instances[k]
		begin := s.from
		for v, free := range s.free {
			if in.Mask()>>v&1 != 0 {
				if x := s.there[v]; x != 0 {
					free = free.plus(t.instances[x-1].destroy)
				}
				begin = greater(begin, free)
			}
		}
		t.begins[k] = begin.plus(in.create)
	}
	var area amount
	for m := s.left; m != 0; m &= m - 1 {
		least, fits := amount{}, false
		for k := range t.created {
			in := &t.instances[k]
			takes := in.takes[m&-m]
			if t.begins[k].plus(takes).less(t.limit) {
				work := takes.times(in.Size())
				if !fits || work.less(least) {
					least = work
				}
				fits = true
			}
		}
		if !fits {
			return true
		}
		area = area.plus(least)
	}
	for v, in := range s.there {
		// An instance that exists at the start can be busy for longer.
		until := lesser(s.free[v], t.limit)
		if in != 0 && int(t.instances[in-1].Start) == v && s.from.less(until) {
			area = area.plus(until.minus(s.from).times(t.instances[in-1].Size()))
		}
	}
	return t.limit.minus(s.from).times(t.p.GPU.ComputeSlices).less(area)
}

// known reports whether the search has tried a situation in which nothing is later. If not, it records this one.
func (t *tree) known(s *situation) bool {
	for v := range s.free {
		s.free[v] = greater(s.free[v], s.from)
	}
	list := t.seen[s.situationKey]
	for i := range list {
		o := &list[i]
		earlier := !s.from.less(o.from)
		for v := range o.free {
			earlier = earlier && !s.free[v].less(o.free[v])
		}
		if earlier {
			return true
		}
	}
	t.seen[s.situationKey] = append(list, *s)
	return false
}
