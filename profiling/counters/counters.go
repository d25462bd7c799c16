package counters

import (
	"math"

	"miglab/harness/mig"
)

// Counters are the statistics of a program in the order of the hierarchical paper's
// Table III. NaN is what Nsight Compute could not read.
type Counters struct {
	// Launches is how many kernel launches they are of.
	Launches int
	// Duration is that of all launches together, and not the time of the program.
	Duration mig.Seconds
	// Memory is the share of the peak of caches and memory that is used, in percent: the
	// highest of its parts.
	Memory float64
	// ElapsedCycles is how many cycles the GPCs counted, over all launches.
	ElapsedCycles float64
	// GridSize is the number of blocks.
	GridSize float64
	// Registers is the number of registers of a thread.
	Registers float64
	// DRAM, L1 and L2 are shares of the peaks of device memory, L1/TEX and L2 cache, in
	// percent; that of L1/TEX only counts the cycles in which it was active.
	DRAM, L1, L2 float64
	// ActiveCycles is how many cycles the mean multiprocessor was active, over all launches.
	ActiveCycles float64
	// Compute is the share of the peak of the multiprocessors that is used, in percent.
	Compute float64
	// Waves is how many times all multiprocessors were filled with blocks.
	Waves float64
	// ActiveWarps is how many warps an active multiprocessor had on average.
	ActiveWarps float64
}

// A counter is a statistic of Table III.
type counter struct {
	// metric is what Nsight Compute calls it, and column the column in files of ours.
	metric, column string
	// sum is true for what has an extent, and false for what is a mean over launches.
	sum bool
	of  func(*Counters) *float64
}

// table is Table III.
var table = []counter{
	{"gpu__time_duration.sum", "duration_s", true, func(c *Counters) *float64 { return (*float64)(&c.Duration) }},
	{"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "memory_percent", false, func(c *Counters) *float64 { return &c.Memory }},
	{"gpc__cycles_elapsed.max", "elapsed_cycles", true, func(c *Counters) *float64 { return &c.ElapsedCycles }},
	{"launch__grid_size", "grid_size", false, func(c *Counters) *float64 { return &c.GridSize }},
	{"launch__registers_per_thread", "registers_per_thread", false, func(c *Counters) *float64 { return &c.Registers }},
	{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "dram_percent", false, func(c *Counters) *float64 { return &c.DRAM }},
	{"l1tex__throughput.avg.pct_of_peak_sustained_active", "l1tex_percent", false, func(c *Counters) *float64 { return &c.L1 }},
	{"lts__throughput.avg.pct_of_peak_sustained_elapsed", "l2_percent", false, func(c *Counters) *float64 { return &c.L2 }},
	{"sm__cycles_active.avg", "sm_active_cycles", true, func(c *Counters) *float64 { return &c.ActiveCycles }},
	{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "compute_percent", false, func(c *Counters) *float64 { return &c.Compute }},
	{"launch__waves_per_multiprocessor", "waves_per_sm", false, func(c *Counters) *float64 { return &c.Waves }},
	{"sm__warps_active.avg.per_cycle_active", "active_warps_per_sm", false, func(c *Counters) *float64 { return &c.ActiveWarps }},
}

// duration is the metric that weighs launches.
const duration = "gpu__time_duration.sum"

// aggregate makes one value of many launches. Every launch has a duration above 0.
func aggregate(launches []Counters) Counters {
	all := Counters{Launches: len(launches)}
	for _, c := range table {
		var sum, weighted, weight float64
		for i := range launches {
			v := *c.of(&launches[i])
			sum += v
			if !math.IsNaN(v) {
				d := float64(launches[i].Duration)
				weighted += d * v
				weight += d
			}
		}
		if c.sum {
			*c.of(&all) = sum
		} else {
			*c.of(&all) = weighted / weight // NaN where no launch has it
		}
	}
	return all
}
