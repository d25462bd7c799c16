package schedule

import (
	"math"

	"miglab/harness/mig"
)

// SliceSeconds counts compute slices times seconds.
type SliceSeconds float64

// Metrics measures a valid schedule.
type Metrics struct {
	Makespan mig.Seconds  // the time at which the last task ends (FAR 2.2)
	Busy     SliceSeconds // the work of the compute slices: the sum of size times duration over all tasks
	// Utilisation is Busy divided by the slice-seconds of the GPUs up to the makespan, from 0 to 1. Slices of
	// instances that are being created or destroyed are idle. It is 0 for a schedule without tasks.
	Utilisation      float64
	Reconfigurations int         // the number of creates and destroys, including those after the makespan
	Reconfiguring    mig.Seconds // the sum of the durations of all creates and destroys
	// Energy is what the GPUs draw from 0 to the makespan; 0 for a model without a [mig.Power]. Creates and destroys
	// draw no more than an idle GPU.
	Energy mig.Joules
}

// Measure checks the schedule and measures it. It returns an [*InvalidError] with the
// violations that [Check] finds. The result does not depend on the order of the schedule's lists.
func Measure(p Problem, s Schedule) (Metrics, error) {
	v := Check(p, s)
	if len(v) > 0 {
		return Metrics{}, &InvalidError{Algorithm: s.Algorithm, Violations: v}
	}
	m := Metrics{Makespan: s.Makespan(), Reconfigurations: len(s.Operations)}
	// Busy is summed by task, and the parts of a task by time, so that its rounding does not depend on the lists.
	work := make([]SliceSeconds, len(p.Tasks))
	placements := s.Placements
	if p.Restart > 0 {
		placements = s.sortedPlacements()
	}
	for i := range placements {
		pl := &placements[i]
		work[pl.Task] += SliceSeconds(SliceSeconds(pl.Instance.Size()) * SliceSeconds(pl.End-pl.Start))
	}
	for _, w := range work {
		m.Busy += w
	}
	whole := SliceSeconds(p.GPU.ComputeSlices) * SliceSeconds(p.GPUs()) * SliceSeconds(m.Makespan)
	if whole > 0 {
		m.Utilisation = float64(m.Busy / whole)
	}
	for _, o := range s.sortedOperations() {
		m.Reconfiguring += o.End - o.Start
	}
	if p.GPU.Power != nil {
		runs := make([]mig.Run, len(s.Placements))
		for i, pl := range s.Placements {
			runs[i] = mig.Run{Board: pl.GPU, Size: pl.Instance.Size(), Start: pl.Start, End: pl.End}
		}
		m.Energy = p.GPU.Energy(p.GPUs(), runs)
	}
	return m, nil
}

// EnergyAtLeast returns a lower bound on the energy of every schedule whose makespan is at least the given one. The
// model must have a [mig.Power], and the tasks must be valid.
//
// PROVEN. All boards are on until the makespan and draw at least their idle watts. Beyond these, the busy instances
// draw at least their floors ([mig.GPU.Floor]). A task that runs on one size draws the floor of the size for its
// duration there. A task that is stopped does its work in parts on several sizes, and each part draws its share of one
// of these energies, so that the sum is at least the smallest. The sum is rounded, for up to 10^6 tasks
// by less than 1e-9 of it.
func EnergyAtLeast(p Problem, makespan mig.Seconds) mig.Joules {
	sum := mig.Joules(float64(p.GPUs()) * float64(p.GPU.Power.Idle) * float64(makespan))
	for i := range p.Tasks {
		least := math.Inf(1)
		for _, size := range p.GPU.Sizes() {
			if p.Tasks[i].Fits(size) {
				least = min(least, float64(p.GPU.Floor(size))*float64(p.Tasks[i].On(size)))
			}
		}
		sum += mig.Joules(least)
	}
	return sum
}
