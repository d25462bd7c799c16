package dispatch

import (
	"math"

	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

var _ = register("look-ahead", "our own", "the slice with which the head and the next job will do best together", lookAhead)

// lookAhead tries each free size for the head and lets the job behind it make the
// best of what is left, as if nobody came in between: another free slice or, where
// there is none, the one that becomes free first, since jobs may not wait for a better
// one. It takes the size with the fewest late jobs of the two, then the least
// tardiness, then the least slice-minutes.
func lookAhead(q *sim.Queue) int {
	v := look(q)
	head, next := q.Head(), q.Next()
	best, chosen := hopeless, mig.Slices(0)
	for size := mig.Slices(1); size <= mig.MaxSize; size++ {
		if v.free[size] == 0 {
			continue
		}
		p := foresee(head, size, q.Now())
		if next != nil {
			p = p.and(v.after(next, size, q.Now(), q.Now()+head.On(size)))
		}
		if p.less(best) {
			best, chosen = p, size
		}
	}
	slice, _ := least(q, func(s *sim.Slice) float64 {
		if s.Size == chosen {
			return 0
		}
		return 1
	})
	return slice
}

// view is the slices as lookAhead tells them apart.
type view struct {
	// free is the number of free slices by size.
	free [mig.MaxSize + 1]int
	// soonest is when the first busy slice becomes free, +Inf where none is busy, and
	// its size.
	soonest task.Minutes
	size    mig.Slices
}

func look(q *sim.Queue) view {
	v := view{soonest: task.Minutes(math.Inf(1))}
	for i := range q.Slices() {
		switch s := &q.Slices()[i]; {
		case !s.Busy:
			v.free[s.Size]++
		case s.FreeAt < v.soonest:
			v.soonest, v.size = s.FreeAt, s.Size
		}
	}
	return v
}

// after returns the best prospect of a job while the head is on a slice of a size
// until an instant.
func (v *view) after(j *task.Job, taken mig.Slices, now, until task.Minutes) prospect {
	best, found := hopeless, false
	for size, n := range v.free {
		if mig.Slices(size) == taken {
			n--
		}
		if n <= 0 {
			continue
		}
		found = true
		if p := foresee(j, mig.Slices(size), now); p.less(best) {
			best = p
		}
	}
	switch {
	case found:
		return best
	case until < v.soonest:
		return foresee(j, taken, until)
	}
	return foresee(j, v.size, v.soonest)
}

// A prospect is what comes of dispatching some jobs.
type prospect struct {
	late int
	// tardiness is the sum over the jobs; work that of slices times minutes.
	tardiness, work task.Minutes
}

var hopeless = prospect{late: math.MaxInt}

// foresee returns what comes of a job on a slice of a size from an instant on.
func foresee(j *task.Job, size mig.Slices, start task.Minutes) prospect {
	d := j.On(size)
	// The conversion rounds the product, which keeps it from being fused with a sum.
	p := prospect{work: task.Minutes(float64(size) * float64(d))}
	if end := start + d; end > j.Deadline {
		p.late, p.tardiness = 1, end-j.Deadline
	}
	return p
}

func (p prospect) and(o prospect) prospect {
	return prospect{p.late + o.late, p.tardiness + o.tardiness, p.work + o.work}
}

func (p prospect) less(o prospect) bool {
	switch {
	case p.late != o.late:
		return p.late < o.late
	case p.tardiness != o.tardiness:
		return p.tardiness < o.tardiness
	}
	return p.work < o.work
}
