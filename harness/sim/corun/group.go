package corun

import (
	"math"

	"miglab/harness/task"
)

// MaxSlots is the largest number of jobs that a setup can hold.
const MaxSlots = 8

// A Layout is a setup made ready for simulation: where its slots are.
type Layout struct {
	// Slots is the number of jobs.
	Slots int

	domains int
	// memory is the bandwidth of a domain, that is, of a GPU instance.
	memory [MaxSlots]float64
	slots  [MaxSlots]slot
}

// slot is where one job of a group runs.
type slot struct {
	// domain and instance number the GPU instance and the compute instance.
	domain, instance int
	// whole is the compute instance's share of the GPU, share the job's of the instance; 0
	// where there are no percentages. total is the sum of the instance's shares.
	whole, share, total float64
}

// Layout returns the setup's layout. It panics if there are more than [MaxSlots] jobs.
func (s *Setup) Layout() Layout {
	var l Layout
	add := func(at slot) { l.slots[l.Slots] = at; l.Slots++ }
	instance := 0
	for g, gi := range s.GIs {
		l.memory[g] = gi.Memory
		for _, ci := range gi.CIs {
			at := slot{domain: g, instance: instance, whole: ci.Compute, share: 1, total: 1}
			instance++
			switch {
			case len(ci.Shares) > 0:
				at.total = sum(ci.Shares)
				for _, at.share = range ci.Shares {
					add(at)
				}
			case ci.Default > 0:
				at.share = 0
				for range ci.Default {
					add(at)
				}
			default:
				add(at)
			}
		}
	}
	l.domains = len(s.GIs)
	return l
}

// Ends simulates a group and sets when each of its jobs ends, in the order of the slots
// and in seconds from the group's start; it returns when the last one does. There is a
// job for each slot.
//
// A job's pace at an instant depends on who else is active. Alone in its memory domain it
// would take A = [task.Program.Relative] of its share of the multiprocessors and of the
// domain's bandwidth, and use the bandwidth w_m / A. The domain's bandwidth is divided
// among what its active jobs would use by max-min fairness, and a job that gets less is as
// much slower: no domain ever moves more than its bandwidth. Besides, m active jobs slow
// each other by 1 + Kappa (m - 1).
func (m *Model) Ends(l *Layout, jobs *[MaxSlots]*task.Program, ends *[MaxSlots]float64) float64 {
	var left, pace [MaxSlots]float64
	active := l.Slots
	for i := range active {
		left[i], ends[i] = 1, 0
	}
	now := 0.0
	for active > 0 {
		m.paces(l, jobs, &left, &pace)
		step := math.Inf(1)
		for i := range l.Slots {
			if left[i] > 0 {
				step = min(step, left[i]*pace[i])
			}
		}
		now += step
		for i := range l.Slots {
			switch {
			case left[i] == 0:
			case left[i]*pace[i] <= step:
				left[i], ends[i] = 0, now
				active--
			default:
				left[i] -= step / pace[i]
			}
		}
	}
	return now
}

// paces sets how many seconds each job with work left would take for all of its work if
// things stayed as they are.
func (m *Model) paces(l *Layout, jobs *[MaxSlots]*task.Program, left, pace *[MaxSlots]float64) {
	for d := range l.domains {
		var use [MaxSlots]float64
		active := 0
		for i := range l.Slots {
			if left[i] > 0 && l.slots[i].domain == d {
				active++
			}
		}
		interference := 1 + m.Kappa*float64(active-1)
		for i := range l.Slots {
			if left[i] == 0 || l.slots[i].domain != d {
				continue
			}
			compute, contention := m.compute(l, jobs, left, i)
			p := *jobs[i]
			p.Compute *= contention
			relative := p.Relative(compute, l.memory[d])
			use[i] = p.Memory / relative
			pace[i] = relative * float64(p.Solo)
		}
		level := waterLevel(&use, l.memory[d])
		for i := range l.Slots {
			if left[i] > 0 && l.slots[i].domain == d {
				pace[i] *= max(1, use[i]/level) * interference
			}
		}
	}
}

// compute returns a job's share of the GPU's multiprocessors, and how many times its
// compute work is what it is alone. The share is the job's percentage of the compute
// instance; or, without percentages, what max-min fairness gives it of what the clients
// can use.
func (m *Model) compute(l *Layout, jobs *[MaxSlots]*task.Program, left *[MaxSlots]float64, i int) (share, contention float64) {
	at := &l.slots[i]
	if at.share > 0 && !m.Release {
		return at.whole * at.share, 1
	}
	var can [MaxSlots]float64
	shares, clients := 0.0, 0
	for j := range l.Slots {
		if left[j] > 0 && l.slots[j].instance == at.instance {
			can[j] = jobs[j].Parallelism
			shares += l.slots[j].share
			clients++
		}
	}
	if at.share > 0 {
		return at.whole * at.share * at.total / shares, 1
	}
	return min(can[i], waterLevel(&can, at.whole)), 1 + m.Delta*float64(clients-1)
}

// waterLevel is the level at which demands, each cut off there, add up to what there
// is; +Inf if they do not reach it. Demands of 0 take no part.
func waterLevel(demands *[MaxSlots]float64, have float64) float64 {
	sum, open := 0.0, 0
	for _, d := range demands {
		sum += d
		if d > 0 {
			open++
		}
	}
	if sum <= have {
		return math.Inf(1)
	}
	// Those below the fair share of the rest are served in full, which raises it.
	level := have / float64(open)
	for {
		rest, over := have, 0
		for _, d := range demands {
			if d > level {
				over++
			} else {
				rest -= d
			}
		}
		next := rest / float64(over)
		if !(next > level) {
			return level
		}
		level = next
	}
}
