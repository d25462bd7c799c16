package task

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
)

// A Class says what limits the speed of a program (hierarchical paper V-A2).
type Class string

// The classes of the hierarchical paper's Table IV.
const (
	ComputeIntensive Class = "CI" // limited by multiprocessors
	MemoryIntensive  Class = "MI" // limited by memory bandwidth
	Unscalable       Class = "US" // loses less than 10 % on one of eight GPCs
)

// Classes lists the classes in the paper's order.
func Classes() []Class { return []Class{ComputeIntensive, MemoryIntensive, Unscalable} }

// A Program is a job of the co-run track in the terms of the performance model. Serial, Compute and Memory are shares
// of the solo time. Together they take 1 on a whole GPU ([Program.Relative]).
type Program struct {
	Name   string
	Class  Class
	Unseen bool // not used in training (marked * in Table IV)
	// Fitted is true if Serial, Parallelism and Solo are fitted on public measurements, and
	// false if all are drawn from the class or given by a user.
	Fitted      bool
	Solo        mig.Seconds // the time on a whole GPU with MIG off
	Serial      float64     // the part s that no resource speeds up
	Compute     float64     // the work w_c: its time on all multiprocessors
	Parallelism float64     // the limit p: the largest share of the multiprocessors that helps
	Memory      float64     // the work w_m: its time with the whole bandwidth
}

// Validate checks that the program is possible and takes its solo time on a whole GPU. The error text is to follow the
// name of a row, as in "job 3, program "x", has no name".
func (p *Program) Validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("program %q, "+format, append([]any{p.Name}, args...)...)
	}
	switch {
	case p.Name == "":
		return bad("has no name")
	case !slices.Contains(Classes(), p.Class):
		return bad("is of class %q; the classes are %v", p.Class, Classes())
	case !(p.Solo > 0 && p.Solo <= MaxSeconds):
		return bad("takes %v s alone; give a positive number, at most %g", p.Solo, MaxSeconds)
	case !(p.Parallelism > 0 && p.Parallelism <= 1):
		return bad("has parallelism %v; give a number over 0 and up to 1", p.Parallelism)
	case !(p.Serial >= 0 && p.Compute >= 0 && p.Memory >= 0):
		return bad("has parts %v (serial), %v (compute) and %v (memory); none may be negative", p.Serial,
			p.Compute, p.Memory)
	case !(math.Abs(p.Relative(1, 1)-1) <= wholeTolerance):
		return bad("takes %v times its solo time on the whole GPU; scale its parts so that it is 1", p.Relative(1, 1))
	}
	return nil
}

// wholeTolerance is the largest accepted distance of [Program.Relative] on the whole GPU from 1, for rounding.
const wholeTolerance = 1e-9

// The thresholds of the paper's rule (V-A2): a program is US if it loses less than UnscalableLoss of its solo time on
// one GPC, else CI if the ratio of compute to memory is over ComputeOverMemory.
const (
	UnscalableLoss    = 0.1
	ComputeOverMemory = 0.8
)

// ByRule returns the class that the paper's rule gives the program (V-A2). It is US if the program loses less than
// [UnscalableLoss] on one of eight GPCs with the memory that MIG gives it, else CI if the ratio of compute to memory is
// over [ComputeOverMemory], else MI. The paper takes the ratio of the counters Compute (SM) [%] and Memory [%]. The
// model takes the ratio of w_c / p to w_m, the times of the two parts alone on the whole GPU.
func (p *Program) ByRule() Class {
	const oneGPC = 1. / 8
	switch {
	case p.Relative(oneGPC, oneGPC) < 1+UnscalableLoss:
		return Unscalable
	case p.Compute/p.Parallelism > ComputeOverMemory*p.Memory:
		return ComputeIntensive
	}
	return MemoryIntensive
}

// Sharpness is the exponent of the model's smooth maximum: compute and memory work overlap, but not perfectly if they
// take about the same time. smoothMax is written for this value.
const Sharpness = 4

// Relative returns the time of the program as a multiple of its solo time, with a share of
// the multiprocessors and a share of the bandwidth, each over 0 and up to 1:
//
//	s + smoothmax(w_c / min(compute, p), w_m / bandwidth)
//
// where smoothmax(x, y) is (x^q + y^q)^(1/q) with q = [Sharpness].
func (p *Program) Relative(compute, bandwidth float64) float64 {
	return p.Contended(compute, bandwidth, 1)
}

// Contended is [Program.Relative] with the compute work multiplied by slowdown.
func (p *Program) Contended(compute, bandwidth, slowdown float64) float64 {
	return p.Serial + smoothMax(p.Compute*slowdown/min(compute, p.Parallelism), p.Memory/bandwidth)
}

// smoothMax returns (x^4 + y^4)^(1/4). It avoids math.Pow, because the simulators spend most of their time here.
func smoothMax(x, y float64) float64 {
	x, y = x*x, y*y
	return math.Sqrt(math.Sqrt(float64(x*x) + float64(y*y)))
}

// AddTo adds all fields that affect a result to a digest.
func (p *Program) AddTo(d *Digest) {
	d.Text(p.Name)
	d.Text(string(p.Class))
	for _, v := range []float64{float64(p.Solo), p.Serial, p.Compute, p.Parallelism, p.Memory} {
		d.Float(v)
	}
}
