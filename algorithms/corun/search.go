package corun

import (
	"math"
	"math/bits"

	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// rounding is larger than the relative difference between sums of the same times in different orders.
const rounding = 1e-12

// A search finds the best setup for some jobs that run together, and the best slot of each. It is not safe for
// concurrent use.
type search struct {
	w    *corun.Window
	menu *menu
	// demand holds, by place and job, the seconds of the job there without others and the bandwidth that it would use.
	// alone is a copy of the seconds, because fill reads these very often.
	demand []corun.Demand
	alone  []float64
	// least holds the seconds of each job in its best place, traffic the seconds to move its data at full bandwidth.
	least, traffic []float64

	// The other fields are about the current set of jobs.

	jobs  []int
	below float64 // only ways that take less are of interest, in seconds
	fair  *way    // the way with the least slowdown so far; nil in a search for the fastest
	// slots holds the job in each slot, as an index in jobs, and places the place of each slot.
	slots, places [corun.MaxSlots]int
}

// A way is a group with a setup and a slot for each job.
type way struct {
	slowdown float64 // the sum of the jobs' slowdowns
	group    corun.Group
}

func newSearch(w *corun.Window, f corun.Family) *search {
	m, n := loadMenu(f), len(w.Jobs)
	s := &search{
		w: w, menu: m, alone: make([]float64, len(m.places)*n), demand: make([]corun.Demand, len(m.places)*n),
		least: make([]float64, n), traffic: make([]float64, n),
	}
	for j := range w.Jobs {
		job := &w.Jobs[j]
		s.least[j] = math.Inf(1)
		for p := range m.places {
			place := &m.places[p]
			demand := corun.DemandOf(job, place.most(&w.Model), place.memory)
			s.demand[p*n+j], s.alone[p*n+j] = demand, demand.Seconds
			s.least[j] = min(s.least[j], demand.Seconds)
		}
		s.traffic[j] = float64(job.Solo) * job.Memory
	}
	return s
}

// fastest returns the least time in which some jobs can run together, in seconds, or below if none is less.
func (s *search) fastest(jobs []int, below float64) float64 {
	s.below, s.fair = below, nil
	s.try(jobs)
	return s.below
}

// plan returns each group in the setup and slots with the least mean slowdown among its fastest ways. There are often
// several, because all jobs except the last to end have slack.
func (s *search) plan(groups []jobGroup) corun.Plan {
	var out corun.Plan
	for _, g := range groups {
		s.below, s.fair = g.seconds*(1+rounding), &way{slowdown: math.Inf(1)}
		s.try(g.jobs)
		out = append(out, s.fair.group)
	}
	return out
}

// try tries all ways for some jobs except those that cannot be the best.
func (s *search) try(jobs []int) {
	s.jobs = jobs
	s.fill(s.menu.trees[len(jobs)], 0, 1<<len(jobs)-1, 0, instanceBound{})
}

// fill tries the jobs of left, a bit mask, in slot at and the slots after it. nodes lists the choices for slot at. The
// GPU instances whose slots are all filled take at least floor seconds. open bounds the instance that is being filled.
func (s *search) fill(nodes []node, at int, left uint, floor float64, open instanceBound) {
	kappa := s.w.Model.Kappa
	for i := range nodes {
		n := &nodes[i]
		filled, current := floor, open
		if n.gpu {
			filled = max(filled, current.atLeast(kappa))
			current = s.newBound(n, left)
		}
		candidates := left
		if n.twin { // Only later jobs, so that each pair is tried once.
			candidates &= ^uint(0) << (s.slots[at-1] + 1)
		}
		alone := s.alone[n.place*len(s.w.Jobs):]
		for ; candidates != 0; candidates &= candidates - 1 {
			k := bits.TrailingZeros(candidates)
			j := s.jobs[k]
			longest, sum := max(current.longest, alone[j]), current.sum+alone[j]
			if n.last { // newBound has counted the job in its best place.
				sum -= s.least[j]
			}
			grown := instanceBound{longest, sum, current.transfer}
			if max(filled, grown.atLeast(kappa)) >= s.below {
				continue
			}
			s.slots[at], s.places[at] = k, n.place
			if n.setup >= 0 {
				s.simulate(n.setup)
			} else {
				s.fill(n.next, at+1, left&^(1<<k), filled, grown)
			}
		}
	}
}

// An instanceBound bounds the time of a GPU instance when some of its jobs have their slots. All fields are in seconds.
type instanceBound struct {
	// longest is a lower bound on the longest time of a job alone, and sum on the sum of the jobs' times alone. On the
	// last GPU instance, which runs all remaining jobs, they include the jobs without a slot.
	longest, sum float64
	// transfer is the time to move the data of all jobs of the last GPU instance with its bandwidth; 0 for the others.
	transfer float64
}

// newBound returns the bounds of a GPU instance before any job has its slot.
func (s *search) newBound(n *node, left uint) (in instanceBound) {
	if !n.last {
		return instanceBound{}
	}
	for ; left != 0; left &= left - 1 {
		j := s.jobs[bits.TrailingZeros(left)]
		in.longest = max(in.longest, s.least[j])
		in.sum += s.least[j]
		in.transfer += s.traffic[j]
	}
	in.transfer /= s.menu.places[n.place].memory
	return in
}

// atLeast returns a lower bound on the time of the instance. In the model, each of m active jobs takes at least 1 +
// kappa (m-1) times as long as alone, and the bandwidth is divided by the same factor. So the last job to end takes its
// own time, or the time to move all data, plus kappa times the time of each other job.
func (in instanceBound) atLeast(kappa float64) float64 {
	return max(in.longest, in.transfer) + float64(kappa*(in.sum-in.longest))
}

// simulate simulates the jobs in their slots. If they take less than s.below, it keeps their time or, in a search for
// the fairest way, the way if its slowdown is the least so far.
func (s *search) simulate(setup int) {
	var ends [corun.MaxSlots]float64
	seconds := s.ends(setup, &ends)
	if seconds >= s.below {
		return
	}
	if s.fair == nil {
		s.below = seconds
		return
	}
	slowdown := 0.0
	n := len(s.jobs)
	for i, k := range s.slots[:n] {
		slowdown += ends[i] / float64(s.w.Jobs[s.jobs[k]].Solo)
	}
	if slowdown < s.fair.slowdown*(1-rounding) {
		group := corun.Group{Setup: s.menu.setups[n][setup]}
		for _, k := range s.slots[:n] {
			group.Jobs = append(group.Jobs, s.jobs[k])
		}
		*s.fair = way{slowdown, group}
	}
}

// ends simulates the jobs in their slots and returns when the last one ends.
func (s *search) ends(setup int, ends *[corun.MaxSlots]float64) float64 {
	n := len(s.jobs)
	layout := &s.menu.layouts[n][setup]
	if s.w.Model.Fixed(layout) {
		var demands [corun.MaxSlots]corun.Demand
		for i, k := range s.slots[:n] {
			demands[i] = s.demand[s.places[i]*len(s.w.Jobs)+s.jobs[k]]
		}
		return s.w.Model.EndsOf(layout, &demands, ends)
	}
	var programs [corun.MaxSlots]*task.Program
	for i, k := range s.slots[:n] {
		programs[i] = &s.w.Jobs[s.jobs[k]]
	}
	return s.w.Model.Ends(layout, &programs, ends)
}
