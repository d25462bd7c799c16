package schedule

import (
	"miglab/harness/mig"
)

// SliceSeconds counts compute slices times seconds.
type SliceSeconds float64

// Metrics measures a valid schedule.
type Metrics struct {
	// Makespan is the time at which the last task ends (FAR 2.2).
	Makespan mig.Seconds
	// Busy is the work of the compute slices: the sum of size times duration over all tasks.
	Busy SliceSeconds
	// Utilisation is Busy divided by the slice-seconds of the GPUs up to the makespan, from 0 to 1. Slices of
	// instances that are being created or destroyed are idle. It is 0 for a schedule without tasks.
	Utilisation float64
	// Reconfigurations is the number of creates and destroys, including those after the makespan.
	Reconfigurations int
	// Reconfiguring is the sum of the durations of all creates and destroys.
	Reconfiguring mig.Seconds
}

// Measure checks the schedule and measures it. It returns an [*InvalidError] with the
// violations that [Check] finds. The result does not depend on the order of the schedule's lists.
func Measure(p Problem, s Schedule) (Metrics, error) {
	v := Check(p, s)
	if len(v) > 0 {
		return Metrics{}, &InvalidError{Algorithm: s.Algorithm, Violations: v}
	}
	m := Metrics{Makespan: s.Makespan(), Reconfigurations: len(s.Operations)}
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
	return m, nil
}
