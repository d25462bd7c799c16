// Package corun simulates groups of programs that share a GPU under MIG and MPS
// (hierarchical paper III and V). It is a model, not a measurement: the paper's data
// come from a real A100 and were not published.
package corun

import (
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// A Model holds the constants of the simulation.
type Model struct {
	// Kappa is how much jobs that share memory slow each other: with m jobs active in
	// the domain each takes 1 + Kappa (m - 1) times as long.
	Kappa float64
	// Delta is what MPS without percentages costs: with k clients in a compute
	// instance, compute work takes 1 + Delta (k - 1) times as long.
	Delta float64
	// Release lets the jobs that still run have the shares of those that have ended,
	// where the hardware would: under MPS, not across instances. Nearly always the group then
	// ends earlier; where more than two share memory, one that gets more multiprocessors may
	// take bandwidth from the one that ends last.
	Release bool
}

// A Setup is one partition of the hierarchical paper's Table VII: GPU instances, or the
// whole GPU, divided into compute instances and MPS clients. Slots are numbered from
// left to right.
type Setup struct {
	GIs []GI
}

// A GI is a GPU instance, or the whole GPU: the domain of memory.
type GI struct {
	CIs []CI
	// Memory is the share of the GPU's bandwidth, from 0 to 1.
	Memory float64
}

// A CI is a compute instance, or all of a GPU without MIG.
type CI struct {
	// MIG is false where the GPU is not divided by MIG: the CI is all eight GPCs.
	MIG bool
	// Compute is the share of the GPU's eight GPCs, from 0 to 1.
	Compute float64
	// Shares are the MPS clients' shares of the CI, each from 0 to 1. A CI that one job
	// has to itself has none.
	Shares []float64
	// Default is the number of MPS clients without percentages; 0 where there are Shares.
	Default int
}

// A Window is what a scheduler gets: jobs that are all there, to be run in groups, one
// group after the other (hierarchical paper IV-A).
type Window struct {
	Jobs []task.Program
	// Concurrency is Cmax, the largest size of a group.
	Concurrency int
	Model       Model
}

// A Group is a set of jobs that run at the same time.
type Group struct {
	// Jobs are indices in the window, by slot of the setup.
	Jobs  []int
	Setup Setup
}

// A Plan is an answer: every job is in one group. The groups run one after the other.
type Plan []Group

// A Result is what the referee measured.
type Result struct {
	// Groups are the durations of the groups, in the order of the plan: each lasts until its
	// last job.
	Groups []mig.Seconds
	// Makespan is their sum.
	Makespan mig.Seconds
	// TimeSharing is the sum of the solo times: the jobs one after the other, each with the
	// whole GPU.
	TimeSharing mig.Seconds
	// Slowdowns has each job's time in its group over its solo time, by job (V-B).
	Slowdowns []float64
	// Slower is the number of groups that take longer than their jobs one after the other.
	Slower int
}

// Throughput is relative to time sharing.
func (r *Result) Throughput() float64 { return float64(r.TimeSharing / r.Makespan) }

// MeanSlowdown is the mean over the jobs.
func (r *Result) MeanSlowdown() float64 { return sum(r.Slowdowns) / float64(len(r.Slowdowns)) }

// Fairness is the smallest slowdown over the largest, at most 1.
func (r *Result) Fairness() float64 { return slices.Min(r.Slowdowns) / slices.Max(r.Slowdowns) }
