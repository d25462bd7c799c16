package dispatch

import (
	"cmp"
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

var _ = register("look-ahead", "our own",
	"the slice with which the head and the next job will do best together", lookAhead)

// lookAhead tries each free size for the head together with the best choice for the next job, as if no job came in
// between. The next job takes another free slice or else the one that becomes free first, because jobs may not wait for
// a better one. lookAhead takes the size with the fewest late jobs of the two, then the least tardiness and work.
func lookAhead(q *sim.Queue) int {
	v := newView(q)
	head, next := q.Head(), q.Next()
	best, chosen := hopeless, mig.Slices(0)
	for size := mig.Slices(1); size <= mig.MaxSize; size++ {
		if v.free[size] == 0 {
			continue
		}
		p := newProspect(head, size, q.Now())
		if next != nil {
			p = p.and(v.after(next, size, q.Now(), q.Now()+head.On(size)))
		}
		if p.less(best) {
			best, chosen = p, size
		}
	}
	return slices.IndexFunc(q.Slices(), func(s sim.Slice) bool { return !s.Busy && s.Size == chosen })
}

// A view sums up the slices for lookAhead.
type view struct {
	free [mig.MaxSize + 1]int // the number of free slices by size
	// soonest is when the first busy slice becomes free, +Inf if all are free. soonestSize is the size of that slice.
	soonest     task.Minutes
	soonestSize mig.Slices
}

func newView(q *sim.Queue) view {
	v := view{soonest: task.Minutes(math.Inf(1))}
	for i := range q.Slices() {
		switch s := &q.Slices()[i]; {
		case !s.Busy:
			v.free[s.Size]++
		case s.FreeAt < v.soonest:
			v.soonest, v.soonestSize = s.FreeAt, s.Size
		}
	}
	return v
}

// after returns the best prospect of the next job j if the head occupies one slice of size taken until the instant
// until.
func (v *view) after(j *task.Job, taken mig.Slices, now, until task.Minutes) prospect {
	best := hopeless
	for size, n := range v.free {
		if mig.Slices(size) == taken {
			n--
		}
		if n <= 0 {
			continue
		}
		p := newProspect(j, mig.Slices(size), now)
		if p.less(best) {
			best = p
		}
	}
	switch {
	case best != hopeless:
		return best
	case until < v.soonest:
		return newProspect(j, taken, until)
	}
	return newProspect(j, v.soonestSize, v.soonest)
}

// A prospect is the result of dispatching some jobs.
type prospect struct {
	late int
	// tardiness is the sum over the jobs, and work the sum of slices times minutes.
	tardiness, work task.Minutes
}

// hopeless is worse than every other prospect.
var hopeless = prospect{late: math.MaxInt}

// newProspect returns the result of starting a job on a slice of a size at an instant.
func newProspect(j *task.Job, size mig.Slices, start task.Minutes) prospect {
	d := j.On(size)
	// The conversion keeps the compiler from fusing the product with a later sum, which would round differently by
	// processor.
	p := prospect{work: task.Minutes(float64(size) * float64(d))}
	if start+d > j.Deadline {
		p.late, p.tardiness = 1, start+d-j.Deadline
	}
	return p
}

func (p prospect) and(o prospect) prospect {
	return prospect{p.late + o.late, p.tardiness + o.tardiness, p.work + o.work}
}

func (p prospect) less(o prospect) bool {
	return cmp.Or(cmp.Compare(p.late, o.late), cmp.Compare(p.tardiness, o.tardiness), cmp.Compare(p.work, o.work)) < 0
}
