package certificate

import (
	"math/bits"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// maxSearched is the largest number of tasks for which all schedules are tried.
const maxSearched = 6

// shorterExists reports whether one GPU has a schedule that ends before an instant. It tries every order of the
// operations. Each operation either destroys an instance whose tasks have ended, or creates one where there is room. On
// the new instance some of the remaining tasks run one after the other. An operation begins as early as possible: when
// its slices are free, and not before the previous operation begins or, under [mig.Sequential], ends.
func shorterExists(p *schedule.Problem, than mig.Seconds) bool {
	t := tree{p: p, than: than, seen: map[situationKey][]situation{}}
	for _, node := range p.GPU.Tree() {
		t.instances = append(t.instances, node.Instance)
	}
	s := situation{situationKey: situationKey{left: 1<<len(p.Tasks) - 1}}
	return t.start(s, 0)
}

type tree struct {
	p         *schedule.Problem
	than      mig.Seconds
	instances []mig.Instance
	seen      map[situationKey][]situation
}

// A situation is where a schedule stands after an operation.
type situation struct {
	situationKey
	// from is when the next operation can begin at the earliest.
	from mig.Seconds
	// free is when the tasks on a slice end, or the operation that frees it.
	free [8]mig.Seconds
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
	if t.start(s.with(e.Instance, 0, e.BusyUntil), k+1) {
		return true
	}
	for set := s.left; set != 0; set = (set - 1) & s.left {
		if end := e.BusyUntil + t.took(set, e.Instance.Size()); end < t.than &&
			t.start(s.with(e.Instance, set, end), k+1) {
			return true
		}
	}
	return false
}

// took returns how long the tasks of a set take, one after the other.
func (t *tree) took(set uint, size mig.Slices) mig.Seconds {
	var sum mig.Seconds
	for i := range t.p.Tasks {
		if set>>i&1 != 0 {
			sum += t.p.Tasks[i].On(size)
		}
	}
	return sum
}

// with returns the situation in which an instance also exists and the tasks of a set run on it until an instant.
func (s situation) with(in mig.Instance, set uint, end mig.Seconds) situation {
	s.left &^= set
	s.put(in, in.Mask(), end)
	return s
}

// put lets an instance, or none, be on some slices, which are free from an instant on.
func (s *situation) put(in mig.Instance, on mig.Mask, from mig.Seconds) {
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

// operate returns when an operation on an instance begins, and the situation after it.
func (t *tree) operate(s situation, in mig.Instance, takes mig.Seconds) (mig.Seconds, situation) {
	begin := s.from
	for v := range s.free {
		if in.Mask()>>v&1 != 0 {
			begin = max(begin, s.free[v])
		}
	}
	s.from = begin
	if t.p.Model == mig.Sequential {
		s.from += takes
	}
	return begin, s
}

func (t *tree) destroy(s situation, in mig.Instance) bool {
	takes := t.p.Model.Cost(in.Profile.Destroy)
	begin, s := t.operate(s, in, takes)
	s.put(mig.Instance{}, in.Mask(), begin+takes)
	return t.next(s)
}

func (t *tree) create(s situation, in mig.Instance) bool {
	for v := range s.there {
		if in.Mask()>>v&1 != 0 && s.there[v].Profile != nil {
			return false
		}
	}
	takes := t.p.Model.Cost(in.Profile.Create)
	begin, s := t.operate(s, in, takes)
	for set := s.left; set != 0; set = (set - 1) & s.left {
		if end := begin + takes + t.took(set, in.Size()); end < t.than && t.next(s.with(in, set, end)) {
			return true
		}
	}
	return false
}

// hopeless reports whether a remaining task cannot end in time on any instance, or the
// slices do not have enough time for all remaining tasks.
func (t *tree) hopeless(s *situation) bool {
	var area mig.Seconds
	for m := s.left; m != 0; m &= m - 1 {
		i := bits.TrailingZeros(m)
		fits := false
		least := inf
		for _, in := range t.instances {
			size := in.Size()
			begin := s.from
			for v := range s.free {
				if in.Mask()>>v&1 != 0 {
					free := s.free[v]
					if x := s.there[v].Profile; x != nil {
						free += t.p.Model.Cost(x.Destroy)
					}
					begin = max(begin, free)
				}
			}
			if begin+t.p.Model.Cost(in.Profile.Create)+t.p.Tasks[i].On(size) < t.than {
				fits = true
				least = min(least, mig.Seconds(float64(size)*float64(t.p.Tasks[i].On(size))))
			}
		}
		if !fits {
			return true
		}
		area += least
	}
	whole := mig.Seconds(float64(t.p.GPU.ComputeSlices) * float64(t.than-s.from))
	for v, in := range s.there {
		// An instance that exists at the start can be busy for longer.
		if until := min(s.free[v], t.than); in.Profile != nil && int(in.Start) == v && until > s.from {
			whole -= mig.Seconds(float64(in.Size()) * float64(until-s.from))
		}
	}
	return area > whole+mig.Seconds(1e-9*float64(t.than))
}

// known reports whether the search has tried a situation in which nothing is later. If not, it records this one.
func (t *tree) known(s *situation) bool {
	for v := range s.free {
		s.free[v] = max(s.free[v], s.from)
	}
	list := t.seen[s.situationKey]
	for i := range list {
		o := &list[i]
		earlier := o.from <= s.from
		for v := range o.free {
			earlier = earlier && o.free[v] <= s.free[v]
		}
		if earlier {
			return true
		}
	}
	t.seen[s.situationKey] = append(list, *s)
	return false
}
