package counters

import (
	"math"

	"miglab/datasets"
)

// A counter is a statistic of Table III.
type counter struct {
	// metric is what Nsight Compute calls it.
	metric string
	// sum is true for what has an extent, and false for what is a mean over launches.
	sum bool
	of  func(*datasets.Counters) *float64
}

// table is Table III.
var table = []counter{
	{"gpu__time_duration.sum", true, func(c *datasets.Counters) *float64 { return (*float64)(&c.Duration) }},
	{"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", false, func(c *datasets.Counters) *float64 { return &c.Memory }},
	{"gpc__cycles_elapsed.max", true, func(c *datasets.Counters) *float64 { return &c.ElapsedCycles }},
	{"launch__grid_size", false, func(c *datasets.Counters) *float64 { return &c.GridSize }},
	{"launch__registers_per_thread", false, func(c *datasets.Counters) *float64 { return &c.Registers }},
	{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", false, func(c *datasets.Counters) *float64 { return &c.DRAM }},
	{"l1tex__throughput.avg.pct_of_peak_sustained_active", false, func(c *datasets.Counters) *float64 { return &c.L1 }},
	{"lts__throughput.avg.pct_of_peak_sustained_elapsed", false, func(c *datasets.Counters) *float64 { return &c.L2 }},
	{"sm__cycles_active.avg", true, func(c *datasets.Counters) *float64 { return &c.ActiveCycles }},
	{"sm__throughput.avg.pct_of_peak_sustained_elapsed", false, func(c *datasets.Counters) *float64 { return &c.Compute }},
	{"launch__waves_per_multiprocessor", false, func(c *datasets.Counters) *float64 { return &c.Waves }},
	{"sm__warps_active.avg.per_cycle_active", false, func(c *datasets.Counters) *float64 { return &c.ActiveWarps }},
}

// duration is the metric that weighs launches.
const duration = "gpu__time_duration.sum"

// aggregate makes one value of many launches. Every launch has a duration above 0.
func aggregate(launches []datasets.Counters) datasets.Counters {
	all := datasets.Counters{Launches: len(launches)}
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
