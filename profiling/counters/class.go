package counters

import (
	"fmt"
	"math"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/profiling"
	"miglab/reports"
)

// The limits of the hierarchical paper, V-A2.
const (
	// unscalableBelow is the loss of performance on one GPC, as a share.
	unscalableBelow = 0.10
	// computeAbove is the ratio of Compute (SM) [%] to Memory [%].
	computeAbove = 0.80
)

// A Classification is a program's class with the values that it follows from.
type Classification struct {
	Program string
	Class   task.Class
	// Source is how the times were measured.
	Source profiling.Source
	// One and Full are the times on the smallest instance, of one GPC, and on the largest.
	One, Full mig.Seconds
	// Degradation is the share of the performance that is lost on one GPC, where
	// performance is the inverse of time: 1 - Full/One, 1 where One is +Inf.
	Degradation float64
	// Compute and Memory are in percent, and Ratio is the first over the second.
	Compute, Memory, Ratio float64
}

// Classify sorts a program into a class by the rules of the hierarchical paper (V-A2),
// from its measured times per instance size and its counters on the whole GPU:
//
//  1. US if it loses less than 10 % of its performance on one GPC with private memory
//     against the full GPU;
//  2. else CI if the ratio of Compute (SM) [%] to Memory [%] is more than 0.80;
//  3. else MI.
//
// The paper's full GPU has MIG mode off and 8 GPCs; here it is the largest instance,
// which on the 7-slice models has 7. Times of the source mps-sm-limit are with all of
// the memory, so that rule 1 finds programs unscalable that want its bandwidth only:
// [Table] says so.
//
// It is an error if the program has no time on the largest instance, or if rule 2 is
// asked and counters are not available.
func Classify(t task.Task, g *mig.GPU, source profiling.Source, c datasets.Counters) (Classification, error) {
	sizes := g.Sizes()
	out := Classification{
		Program: t.Name, Source: source,
		One: t.On(sizes[0]), Full: t.On(sizes[len(sizes)-1]),
		Compute: c.Compute, Memory: c.Memory, Ratio: c.Compute / c.Memory,
	}
	if !(out.Full > 0) || math.IsInf(float64(out.Full), 1) || !(out.One > 0) {
		return out, fmt.Errorf("%s takes %v s on %s whole and %v s on size %d; a class needs both times", t.Name, out.Full, g, out.One, sizes[0])
	}
	kept := float64(out.Full / out.One)
	out.Degradation = 1 - kept
	switch {
	case kept > 1-unscalableBelow:
		out.Class = task.Unscalable
	case math.IsNaN(out.Ratio):
		return out, fmt.Errorf("%s uses %v %% of the multiprocessors' peak and %v %% of the memory's; their ratio decides between CI and MI", t.Name, c.Compute, c.Memory)
	case out.Ratio > computeAbove:
		out.Class = task.ComputeIntensive
	default:
		out.Class = task.MemoryIntensive
	}
	return out, nil
}

// Table shows classes with the values that they follow from.
func Table(all []Classification) reports.Table {
	right := func(name string) reports.Column { return reports.Column{Name: name, Right: true} }
	t := reports.Table{
		Title: "Classes of programs (hierarchical paper V-A2)",
		Columns: []reports.Column{
			{Name: "Program"},
			{Name: "Class"},
			right("1 GPC [s]"),
			right("Full [s]"),
			right("Degradation [%]"),
			right("Compute (SM) [%]"),
			right("Memory [%]"),
			right("Compute/Memory"),
		},
		Notes: []string{
			"US: less than 10 % of the performance (1/time) lost on one GPC; else CI: Compute/Memory over 0.80; else MI.",
		},
	}
	unpartitioned := false
	for _, c := range all {
		unpartitioned = unpartitioned || c.Source == profiling.MPSSMLimit
		t.Rows = append(t.Rows, []string{
			c.Program,
			string(c.Class),
			reports.Fixed(float64(c.One), 3),
			reports.Fixed(float64(c.Full), 3),
			reports.Fixed(100*c.Degradation, 1),
			reports.Fixed(c.Compute, 1),
			reports.Fixed(c.Memory, 1),
			reports.Fixed(c.Ratio, 2),
		})
	}
	if unpartitioned {
		t.Notes = append(t.Notes, "source: mps-sm-limit. On one GPC's multiprocessors these programs had all of the memory's bandwidth; the paper's rule is about private memory.")
	}
	return t
}
