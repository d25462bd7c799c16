package sim

import "miglab/harness/task"

// WattMinutes is an energy in watt-minutes, 60 joules each.
type WattMinutes float64

// Joules converts the energy.
func (e WattMinutes) Joules() float64 { return float64(e) * 60 }

// A Run is a stay of a job on a slice. With a pre-emptive fleet a job may have several stays.
type Run struct {
	Job        int          // the index of the job
	Slice      int          // an index in [Queue.Slices]
	Start, End task.Minutes // count from the beginning of the day
}

// DispatchResult is the outcome of the jobs of one queue.
type DispatchResult struct {
	// Jobs is the number of jobs, and Late is the number of jobs that end after their deadline. A job is counted as
	// soon as its end is known: when it starts or, on a pre-emptive fleet, when it ends.
	Jobs, Late int
	// Tardiness is the mean, over all jobs, of the time by which a job ends after its
	// deadline; a job in time counts as 0.
	Tardiness task.Minutes
	// Energy is the integral, from the beginning of the day to the last completion, of the power that the GPUs draw.
	// EnergyAsReleased is what the report's figures show: the report's released code frees a slice before it charges
	// for the time in which the slice was busy.
	Energy, EnergyAsReleased WattMinutes
	Makespan                 task.Minutes // the time of the last completion
	// Runs[i] is the stay of job i. For a pre-emptive fleet, Runs is in the order of ends instead, without stays of
	// length 0 that do not end a job.
	Runs []Run
}

// LatePercent returns the share of late jobs, from 0 to 100; 0 if there are no jobs.
func (r *DispatchResult) LatePercent() float64 {
	if r.Jobs == 0 {
		return 0
	}
	return 100 * float64(r.Late) / float64(r.Jobs)
}

// Metrics lists the measured values by name. Names end in the unit: percent, min
// (minutes), wmin (watt-minutes), j (joules); jobs is a number.
func (r *DispatchResult) Metrics() []Metric {
	return []Metric{
		{"energy_as_released_wmin", float64(r.EnergyAsReleased)},
		{"energy_j", r.Energy.Joules()},
		{"energy_wmin", float64(r.Energy)},
		{"jobs", float64(r.Jobs)},
		{"late_percent", r.LatePercent()},
		{"makespan_min", float64(r.Makespan)},
		{"tardiness_min", float64(r.Tardiness)},
	}
}
