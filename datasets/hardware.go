package datasets

import "miglab/harness/mig"

// A Provenance says where and when something was measured on a GPU. It begins
// every row of the files in datasets/hardware.
type Provenance struct {
	// GPU is the model, as [mig.Lookup] knows it.
	GPU string `csv:"gpu"`
	// Name and Driver are the driver's name of the GPU and its version.
	Name   string `csv:"gpu_name"`
	Driver string `csv:"driver"`
	// Source is what held kernels to a part of the GPU: mig or mps-sm-limit.
	Source string `csv:"source"`
	// Date is the day of the measurement, for example 2026-11-21.
	Date string `csv:"date"`
}

// A ReconfigurationTime is how long instances of a size took to create or destroy
// (FAR 2.1, Table 1).
type ReconfigurationTime struct {
	Provenance
	// Partition is what was created or destroyed in a round, as [mig.Partition] prints
	// it: the sizes by start, for example 2-2-2.
	Partition string `csv:"partition"`
	// Size is that of the instances of the round that the row is about.
	Size mig.Slices `csv:"size"`
	// Operation is create or destroy.
	Operation string `csv:"operation"`
	// Threads is how many of the round's operations went on at once; 1: one after the other.
	Threads int `csv:"threads"`
	// Runs is the number of operations.
	Runs int `csv:"runs"`
	// Mean, StdDev, Min and Max are over single operations. Total is the mean time of
	// a whole round, from the first start to the last end.
	Mean   mig.Seconds `csv:"mean_seconds"`
	StdDev mig.Seconds `csv:"std_seconds"`
	Min    mig.Seconds `csv:"min_seconds"`
	Max    mig.Seconds `csv:"max_seconds"`
	Total  mig.Seconds `csv:"total_seconds"`
}

// An IsolationTime is how long a kernel took alone and beside others (FAR 2.5, Table 2).
type IsolationTime struct {
	Provenance
	Kernel string     `csv:"kernel"`
	Size   mig.Slices `csv:"size"`
	// Beside lists the kernels that ran at the same time, each with the size and the
	// first slice of its instance: name:size@start, separated by spaces; empty alone.
	Beside string `csv:"beside"`
	Runs   int    `csv:"runs"`
	// Median is over the runs.
	Median mig.Seconds `csv:"median_seconds"`
	// Difference is Median over that of the kernel alone, less one, in percent; 0 alone.
	Difference float64 `csv:"difference_percent"`
}

// An ExecutionTime is when a task of a schedule started and ended, as simulated and
// for real (FAR 6.2, Table 3; DRL 5.1.1, Table 3).
type ExecutionTime struct {
	Provenance
	// Algorithm is the schedule's, with parameters.
	Algorithm string     `csv:"algorithm"`
	Task      string     `csv:"task"`
	Device    int        `csv:"device"`
	Size      mig.Slices `csv:"size"`
	Slice     mig.Slices `csv:"slice"`
	// Instants count from the beginning of the batch.
	SimulatedStart mig.Seconds `csv:"simulated_start_s"`
	SimulatedEnd   mig.Seconds `csv:"simulated_end_s"`
	RealStart      mig.Seconds `csv:"real_start_s"`
	RealEnd        mig.Seconds `csv:"real_end_s"`
	// Deviation is RealEnd over SimulatedEnd, less one, in percent.
	Deviation float64 `csv:"deviation_percent"`
}
