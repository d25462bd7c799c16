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
	t := tree{ruler: newRuler(w.Bound), p: p, seen: map[situationKey][]situation{}}
	for _, node := range p.GPU.Tree() {
		t.instances = append(t.instances, node.Instance)
	}
	s := situation{situationKey: situationKey{left: 1<<len(p.Tasks) - 1}}
	if t.start(s, 0) {
		return fmt.Errorf("there is a schedule shorter than %v s", w.Bound)
	}
	return nil
}

// A tree searches the schedules of one GPU. start, next, destroy and create report whether the limit can be kept.
type tree struct {
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

// start tries every set of tasks on the instances that exist at the start, from the k-th on.
func (t *tree) start(s situation, k int) bool {
	if k == len(t.p.Start) {
		return t.next(s)
	}
	e := t.p.Start[k]
	until := t.units(e.BusyUntil)
	if t.start(s.place(e.Instance, 0, until), k+1) {
		return true
	}
	for set := s.left; set != 0; set = (set - 1) & s.left {
		end := until.plus(t.took(set, e.Instance.Size()))
		if end.less(t.limit) && t.start(s.place(e.Instance, set, end), k+1) {
			return true
		}
	}
	return false
}

func (t *tree) took(set uint, size mig.Slices) (sum amount) {
	for i := range t.p.Tasks {
		if set>>i&1 != 0 {
			sum = sum.plus(t.units(t.p.Tasks[i].On(size)))
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

func (t *tree) next(s situation) bool {
	if s.left == 0 {
		return true
	}
	if t.hopeless(&s) || t.prune(&s) {
		return false
	}
	for v, in := range s.there {
		if in.Profile != nil && int(in.Start) == v && t.destroy(s, in) {
			return true
		}
	}
	for _, in := range t.instances {
		if t.create(s, in) {
			return true
		}
	}
	return false
}

func (t *tree) cost(takes mig.Seconds) amount { return t.units(t.p.Model.Cost(takes)) }

// operate returns when an operation on an instance begins, and the situation after it.
func (t *tree) operate(s situation, in mig.Instance, takes amount) (amount, situation) {
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

func (t *tree) destroy(s situation, in mig.Instance) bool {
	takes := t.cost(in.Profile.Destroy)
	begin, s := t.operate(s, in, takes)
	s.put(mig.Instance{}, in.Mask(), begin.plus(takes))
	return t.next(s)
}

func (t *tree) create(s situation, in mig.Instance) bool {
	for v := range s.there {
		if in.Mask()>>v&1 != 0 && s.there[v].Profile != nil {
			return false
		}
	}
	takes := t.cost(in.Profile.Create)
	begin, s := t.operate(s, in, takes)
	for set := s.left; set != 0; set = (set - 1) & s.left {
		end := begin.plus(takes).plus(t.took(set, in.Size()))
		if end.less(t.limit) && t.next(s.place(in, set, end)) {
			return true
		}
	}
	return false
}

// hopeless reports whether a remaining task ends too late everywhere, or the slices lack time for all of them.
func (t *tree) hopeless(s *situation) bool {
	var least [maxSearched]amount // by task, its least work
	var fits uint
	for _, in := range t.instances {
		begin := s.from
		for v, free := range s.free {
			if in.Mask()>>v&1 != 0 {
				if s.there[v].Profile != nil {
					free = free.plus(t.cost(s.there[v].Profile.Destroy))
				}
				begin = greater(begin, free)
			}
		}
		begin = begin.plus(t.cost(in.Profile.Create))
		for m := s.left; m != 0; m &= m - 1 {
			i := bits.TrailingZeros(m)
			took := t.units(t.p.Tasks[i].On(in.Size()))
			if begin.plus(took).less(t.limit) {
				if work := took.times(in.Size()); fits>>i&1 == 0 || work.less(least[i]) {
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
		// An instance that exists at the start can be busy for longer.
		until := lesser(s.free[v], t.limit)
		if in.Profile != nil && int(in.Start) == v && s.from.less(until) {
			area = area.plus(until.minus(s.from).times(in.Size()))
		}
	}
	return t.limit.minus(s.from).times(t.p.GPU.ComputeSlices).less(area)
}

// prune reports whether the search has tried a situation in which no instant is later; if not, it records this one.
func (t *tree) prune(s *situation) bool {
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
