package datasets

import (
	"fmt"
	"math"
	"reflect"

	"miglab/harness/mig"
)

// Counters are the statistics of a program in the order of the hierarchical paper's
// Table III, over all of its kernel launches: package profiling/counters says how. NaN is
// what Nsight Compute could not read.
type Counters struct {
	// Launches is how many kernel launches they are of.
	Launches int `csv:"launches"`
	// Duration is that of all launches together, and not the time of the program.
	Duration mig.Seconds `csv:"duration_s"`
	// Memory is the share of the peak of caches and memory that is used, in percent: the
	// highest of its parts.
	Memory float64 `csv:"memory_percent"`
	// ElapsedCycles is how many cycles the GPCs counted, over all launches.
	ElapsedCycles float64 `csv:"elapsed_cycles"`
	// GridSize is the number of blocks.
	GridSize float64 `csv:"grid_size"`
	// Registers is the number of registers of a thread.
	Registers float64 `csv:"registers_per_thread"`
	// DRAM, L1 and L2 are shares of the peaks of device memory, L1/TEX and L2 cache, in
	// percent; that of L1/TEX only counts the cycles in which it was active.
	DRAM float64 `csv:"dram_percent"`
	L1   float64 `csv:"l1tex_percent"`
	L2   float64 `csv:"l2_percent"`
	// ActiveCycles is how many cycles the mean multiprocessor was active, over all launches.
	ActiveCycles float64 `csv:"sm_active_cycles"`
	// Compute is the share of the peak of the multiprocessors that is used, in percent.
	Compute float64 `csv:"compute_percent"`
	// Waves is how many times all multiprocessors were filled with blocks.
	Waves float64 `csv:"waves_per_sm"`
	// ActiveWarps is how many warps an active multiprocessor had on average.
	ActiveWarps float64 `csv:"active_warps_per_sm"`
}

// A KernelCounters is what the hardware counted while a kernel ran alone on a MIG
// instance of the whole GPU, or on the GPU without MIG and MPS, [SourceWholeGPU].
type KernelCounters struct {
	Provenance
	Kernel string `csv:"kernel"`
	Counters
}

func checkCounters(_ *mig.GPU, rows []KernelCounters) (int, error) {
	seen := map[string]bool{}
	for i, r := range rows {
		switch {
		case seen[r.Kernel]:
			return i, fmt.Errorf("kernel %s is there twice", r.Kernel)
		case r.Launches < 1:
			return i, fmt.Errorf("%d launches; there must be at least 1", r.Launches)
		case !positive(r.Duration):
			return i, fmt.Errorf("the launches took %v s; that must be positive and finite", r.Duration)
		}
		for f, v := range reflect.ValueOf(r.Counters).Fields() {
			if v.CanFloat() && (v.Float() < 0 || math.IsInf(v.Float(), 1)) {
				return i, fmt.Errorf("%s is %v; it must be a number from 0, or NaN where it could not be read", f.Tag.Get("csv"), v.Float())
			}
		}
		seen[r.Kernel] = true
	}
	return 0, nil
}
