// Package corun simulates groups of programs that share a GPU under MIG and MPS (hierarchical paper III and V). It is
// a model, not a measurement: the paper's data come from a real A100 and were not published. [Measure] refuses a plan
// that breaks a rule with an [*InvalidError], and [Parse] refuses a setup that MIG cannot create.
package corun

import (
	"io"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// A Model holds the constants of the simulation.
type Model struct {
	// Kappa is the slowdown of jobs that share memory: with m jobs active in the domain,
	// each takes 1 + Kappa (m - 1) times as long.
	Kappa float64
	// Delta is the cost of MPS without percentages: with k clients in a compute
	// instance, compute work takes 1 + Delta (k - 1) times as long.
	Delta float64
	// Release gives the shares of ended jobs to the jobs that still run, as the hardware does under MPS but not
	// across instances. The group then nearly always ends earlier. If more than two jobs share memory, a job with
	// more multiprocessors may take bandwidth from the job that ends last.
	Release bool
}

// A Setup is one partition of the hierarchical paper's Table VII: GPU instances, or the whole GPU, divided into
// compute instances and MPS clients. A slot is the place of one job; slots are numbered from left to right.
type Setup struct {
	GIs []GI
}

// A GI is a GPU instance, or the whole GPU: the domain of memory.
type GI struct {
	CIs    []CI
	Memory float64 // the share of the GPU's bandwidth, from 0 to 1
}

// A CI is a compute instance, or all of a GPU without MIG.
type CI struct {
	MIG     bool    // false if the GPU is not divided by MIG: the CI is all eight GPCs
	Compute float64 // the share of the GPU's eight GPCs, from 0 to 1
	// Shares has the MPS clients' shares of the CI, each from 0 to 1. It is empty for a CI with a single job.
	Shares  []float64
	Default int // the number of MPS clients without percentages; 0 if there are Shares
}

// A Window is the input of a scheduler: jobs that have all arrived and run in groups, one
// group after the other (hierarchical paper IV-A).
type Window struct {
	Jobs        []task.Program
	Concurrency int // Cmax, the largest size of a group
	Model       Model
}

// Kind implements [task.Payload].
func (Window) Kind() string { return "programs" }

// AddTo implements [task.Payload].
func (w Window) AddTo(d *task.Digest) {
	d.Int(w.Concurrency)
	d.Float(w.Model.Kappa)
	d.Float(w.Model.Delta)
	release := 0
	if w.Model.Release {
		release = 1
	}
	d.Int(release)
	d.Int(len(w.Jobs))
	for i := range w.Jobs {
		w.Jobs[i].AddTo(d)
	}
}

// WriteCSV implements [task.Payload].
func (w Window) WriteCSV(out io.Writer, _ *mig.GPU) error { return task.WritePrograms(out, w.Jobs) }

// A Group is a set of jobs that run at the same time.
type Group struct {
	Jobs  []int // indices in the window, by slot of the setup
	Setup Setup
}

// A Plan is the answer of a scheduler: every job is in one group. The groups run one after the other.
type Plan []Group

// A Result holds the measurements of the referee.
type Result struct {
	// Groups has the durations of the groups, in the order of the plan: each lasts until its last job ends.
	Groups      []mig.Seconds
	Makespan    mig.Seconds // the sum of Groups
	TimeSharing mig.Seconds // the sum of the solo times: the jobs one after the other, each with the whole GPU
	Slowdowns   []float64   // each job's time in its group over its solo time, by job (V-B)
	Slower      int         // the number of groups that take longer than their jobs one after the other
}

// Throughput returns the throughput relative to time sharing.
func (r *Result) Throughput() float64 { return float64(r.TimeSharing / r.Makespan) }

// MeanSlowdown returns the mean slowdown over the jobs.
func (r *Result) MeanSlowdown() float64 { return sum(r.Slowdowns) / float64(len(r.Slowdowns)) }

// Fairness returns the smallest slowdown over the largest, at most 1.
func (r *Result) Fairness() float64 { return slices.Min(r.Slowdowns) / slices.Max(r.Slowdowns) }
