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
	x := searcher{ruler: newRuler(w.Bound), p: p, seen: map[situationKey][]situation{}}
	for _, node := range p.GPU.Tree() {
		x.instances = append(x.instances, node.Instance)
	}
	s := situation{situationKey: situationKey{left: 1<<len(p.Tasks) - 1}}
	if x.next(s) {
		return fmt.Errorf("there is a schedule shorter than %v s", w.Bound)
	}
	return nil
}

// A searcher searches the schedules of one GPU. Its methods next, destroy and create report whether a schedule
// can end before the limit.
type searcher struct {
	*ruler
	p         *schedule.Problem
	instances []mig.Instance
	seen      map[situationKey][]situation
}

// A situation is the state of a schedule after an operation.
type situation struct {
	situationKey
	// from is the earliest start of the next operation.
	from amount
	// free is, by slice, the end of its tasks or of the operation that frees it.
	free [8]amount
}

type situationKey struct {
	// left is the set of remaining tasks.
	left uint
	// there is the instance on each slice.
	there [8]mig.Instance
}

// took returns the sum of the times of a set of tasks on a size.
func (x *searcher) took(set uint, size mig.Slices) (sum amount) {
	for i := range x.p.Tasks {
		if set>>i&1 != 0 {
			sum = sum.plus(x.units(x.p.Tasks[i].On(size)))
		}
	}
	return sum
}

// place returns the situation in which an instance also exists and runs the tasks of a set until an instant.
func (s situation) place(in mig.Instance, set uint, end amount) situation {
	s.left &^= set
	s.put(in, in.Mask(), end)
	return s
}

// put sets the instance on some slices, which are free from an instant on. The zero instance leaves them empty.
func (s *situation) put(in mig.Instance, on mig.Mask, from amount) {
	for v := range s.free {
		if on>>v&1 != 0 {
			s.free[v], s.there[v] = from, in
		}
	}
}

// next tries every operation that can come next.
func (x *searcher) next(s situation) bool {
	if s.left == 0 {
		return true
	}
	if x.hopeless(&s) || x.prune(&s) {
		return false
	}
	for v, in := range s.there {
		if in.Profile != nil && int(in.Start) == v && x.destroy(s, in) {
			return true
		}
	}
	for _, in := range x.instances {
		if x.create(s, in) {
			return true
		}
	}
	return false
}

func (x *searcher) cost(takes mig.Seconds) amount { return x.units(x.p.Model.Cost(takes)) }

// operate returns when an operation on an instance begins, and the situation after it.
func (x *searcher) operate(s situation, in mig.Instance, takes amount) (amount, situation) {
	begin := s.from
	for v := range s.free {
		if in.Mask()>>v&1 != 0 {
			begin = greater(begin, s.free[v])
		}
	}
	s.from = begin
	if x.p.Model == mig.Sequential {
		s.from = begin.plus(takes)
	}
	return begin, s
}

func (x *searcher) destroy(s situation, in mig.Instance) bool {
	takes := x.cost(in.Profile.Destroy)
	begin, s := x.operate(s, in, takes)
	s.put(mig.Instance{}, in.Mask(), begin.plus(takes))
	return x.next(s)
}

func (x *searcher) create(s situation, in mig.Instance) bool {
	for v := range s.there {
		if in.Mask()>>v&1 != 0 && s.there[v].Profile != nil {
			return false
		}
	}
	takes := x.cost(in.Profile.Create)
	begin, s := x.operate(s, in, takes)
	for set := s.left; set != 0; set = (set - 1) & s.left {
		end := begin.plus(takes).plus(x.took(set, in.Size()))
		if end.less(x.limit) && x.next(s.place(in, set, end)) {
			return true
		}
	}
	return false
}

// hopeless reports whether a remaining task ends too late everywhere, or the slices lack time for all of them.
func (x *searcher) hopeless(s *situation) bool {
	var least [maxSearched]amount // by task, its least work
	var fits uint
	for _, in := range x.instances {
		begin := s.from
		for v, free := range s.free {
			if in.Mask()>>v&1 != 0 {
				if s.there[v].Profile != nil {
					free = free.plus(x.cost(s.there[v].Profile.Destroy))
				}
				begin = greater(begin, free)
			}
		}
		begin = begin.plus(x.cost(in.Profile.Create))
		for m := s.left; m != 0; m &= m - 1 {
			i := bits.TrailingZeros(m)
			took := x.units(x.p.Tasks[i].On(in.Size()))
			if begin.plus(took).less(x.limit) {
				work := took.times(in.Size())
				if fits>>i&1 == 0 || work.less(least[i]) {
					least[i] = work
				}
				fits |= 1 << i
			}
		}
	}
	if fits != s.left {
		return true
	}
	var area amount
	for _, work := range least {
		area = area.plus(work)
	}
	for v, in := range s.there {
		if in.Profile != nil && int(in.Start) == v && s.from.less(s.free[v]) {
			area = area.plus(s.free[v].minus(s.from).times(in.Size()))
		}
	}
	return x.limit.minus(s.from).times(x.p.GPU.ComputeSlices).less(area)
}

// prune reports whether the search has tried a situation in which no instant is later; if not, it records this one.
func (x *searcher) prune(s *situation) bool {
	for v := range s.free {
		s.free[v] = greater(s.free[v], s.from)
	}
	list := x.seen[s.situationKey]
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
	x.seen[s.situationKey] = append(list, *s)
	return false
}
