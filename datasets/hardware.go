package datasets

import (
	"fmt"
	"io"
	"strings"

	"github.com/gocarina/gocsv"

	"miglab/harness/mig"
)

// A Provenance says where and when something was measured on a GPU. It begins
// every row of the files of [ReadHardware].
type Provenance struct {
	// GPU is the model, as a [mig.Catalog] knows it. Without MIG it can also be the name of a board
	// that is not a known model, with its number of multiprocessors.
	GPU string `csv:"gpu"`
	// Name and Driver are the driver's name of the GPU and its version.
	Name   string `csv:"gpu_name"`
	Driver string `csv:"driver"`
	// Source says how kernels were limited to a part of the GPU: [mig.SourceMIG] or [mig.SourcePartition].
	Source string `csv:"source"`
	Date   string `csv:"date"` // the day of the measurement, for example 2026-11-21
}

// String returns the source, GPU, driver and date in one line.
func (p Provenance) String() string {
	return fmt.Sprintf("source: %s, %s, driver %s, %s", p.Source, p.Name, p.Driver, p.Date)
}

// Stub reports whether the rows come from a stand-in for a GPU, which tests and dry runs use. Its GPU's name or its
// driver's version contains emulated or stub.
func (p Provenance) Stub() bool {
	about := strings.ToLower(p.Name + " " + p.Driver)
	return strings.Contains(about, "emulated") || strings.Contains(about, "stub")
}

// A Load summarises the clocks, power and temperature of a GPU during a measurement, from about ten samples a second.
type Load struct {
	// Samples is the number of samples. Without samples, the numbers below are 0.
	Samples int `csv:"samples"`
	// Clocks are in MHz, power in W, the temperature in degrees Celsius.
	ClockMin       int     `csv:"sm_clock_min_mhz"`
	ClockMean      float64 `csv:"sm_clock_mean_mhz"`
	ClockMax       int     `csv:"sm_clock_max_mhz"`
	PowerMean      float64 `csv:"power_mean_w"`
	PowerMax       float64 `csv:"power_max_w"`
	TemperatureMax int     `csv:"temperature_max_c"`
	// Throttle has the reasons for lowered clocks, joined by +, as in power-cap+thermal. It is
	// "none" if the driver reported no reason, and "unknown" without samples.
	Throttle string `csv:"throttle"`
}

// checkLoad returns an error if the summary is impossible.
func (l Load) checkLoad() error {
	if l.Samples < 0 || l.ClockMin > l.ClockMax || !(l.PowerMean <= l.PowerMax*(1+rounding)) {
		return fmt.Errorf("%d samples, clocks from %d to %d MHz, power %v W, at most %v W; the least must not "+
			"exceed the most", l.Samples, l.ClockMin, l.ClockMax, l.PowerMean, l.PowerMax)
	}
	return nil
}

// A KernelTime is the measured time of a kernel on instances of one size (FAR 2.4, DRL 5.1.1).
type KernelTime struct {
	Provenance
	Suite  string     `csv:"suite"` // the benchmark suite of the kernel
	Kernel string     `csv:"kernel"`
	Size   mig.Slices `csv:"size"`
	// Mean and StdDev are over the runs; +Inf and 0 if the kernel does not fit.
	Mean   mig.Seconds `csv:"mean_seconds"`
	StdDev mig.Seconds `csv:"std_seconds"`
	Runs   int         `csv:"runs"` // the number of runs
}

// A ReconfigurationTime is the measured time to create or destroy instances of a size (FAR 2.1, Table 1).
type ReconfigurationTime struct {
	Provenance
	// Partition has the instances that a round created and destroyed again: their sizes by start, as
	// [mig.Partition] prints them, for example 2-2-2.
	Partition string     `csv:"partition"`
	Size      mig.Slices `csv:"size"`      // the size of the row's instances
	Operation string     `csv:"operation"` // create or destroy
	// Threads is the number of the round's operations that ran at once. 1 means one after the other.
	Threads int `csv:"threads"`
	Runs    int `csv:"runs"` // the number of operations
	// Mean, StdDev, Min and Max are over single operations. Total is the mean time of
	// a whole round, from the first start to the last end.
	Mean   mig.Seconds `csv:"mean_seconds"`
	StdDev mig.Seconds `csv:"std_seconds"`
	Min    mig.Seconds `csv:"min_seconds"`
	Max    mig.Seconds `csv:"max_seconds"`
	Total  mig.Seconds `csv:"total_seconds"`
	// Attempts is the mean number of calls to the driver until one succeeded. The driver refuses calls while an
	// instance is in use, also for a while after its last process.
	Attempts float64 `csv:"attempts"`
	// Load has the clocks, power and temperature of the GPU during the operations.
	Load
}

// An IsolationTime is the measured time of a kernel alone or beside others (FAR 2.5, Table 2).
type IsolationTime struct {
	Provenance
	Kernel string     `csv:"kernel"`
	Size   mig.Slices `csv:"size"`
	// Beside lists the kernels that ran at the same time, each with the size and the
	// first slice of its instance: name:size@start, separated by spaces; empty alone.
	Beside string      `csv:"beside"`
	Runs   int         `csv:"runs"`
	Median mig.Seconds `csv:"median_seconds"` // over the runs
	// Difference is Median over the kernel's median alone, less one, in percent; 0 alone.
	Difference float64 `csv:"difference_percent"`
	Timed      string  `csv:"timed"` // says which times were measured: [TimedWindow] or [TimedProcess]
	// Load has the clocks, power and temperature of the GPU during the runs.
	Load
}

// The kinds of times of a kernel beside others.
const (
	TimedWindow = "window" // the time of an iteration, in a window in which all the kernels ran
	// TimedProcess is the time of a whole run. The other kernels may have started after it.
	TimedProcess = "process"
)

// An ExecutionTime has the start and end of a task of a schedule, in the simulation and
// on the GPU (FAR 6.2, Table 3; DRL 5.1.1, Table 3).
type ExecutionTime struct {
	Provenance
	Algorithm string     `csv:"algorithm"` // the algorithm of the schedule, with parameters
	Task      string     `csv:"task"`
	Device    int        `csv:"device"`
	Size      mig.Slices `csv:"size"`
	Slice     mig.Slices `csv:"slice"`
	// Times count from the beginning of the batch.
	SimulatedStart mig.Seconds `csv:"simulated_start_s"`
	SimulatedEnd   mig.Seconds `csv:"simulated_end_s"`
	RealStart      mig.Seconds `csv:"real_start_s"`
	RealEnd        mig.Seconds `csv:"real_end_s"`
	// Deviation is RealEnd less SimulatedEnd, in percent of RealEnd, as both papers print it.
	Deviation float64 `csv:"deviation_percent"`
}

// A HardwareTable is a file of [ReadHardware].
type HardwareTable[Row any] struct {
	File string // the file's name up to the kind: h200 for h200.kernels.csv
	// Provenance is the provenance of all rows, with the date of the first row.
	Provenance
	Rows []Row // at least one row, in the order of the file
}

// A HardwareSet holds measurements on GPUs. The tables of each kind are sorted by date and
// then by file, so that the last one is the newest. It is shared and must not be changed.
type HardwareSet struct {
	Kernels         []HardwareTable[KernelTime]
	Reconfiguration []HardwareTable[ReconfigurationTime]
	Isolation       []HardwareTable[IsolationTime]
	Execution       []HardwareTable[ExecutionTime]
	Overlap         []HardwareTable[OverlapRate]
	Stub            string // names a file that was made on a stub instead of a GPU; "" if all were made on GPUs
}

// WriteHardware writes rows as a file of [ReadHardware]. It does not check the rows, so that no measurement is lost. It
// passes on the errors of w.
func WriteHardware[Row HardwareRow](w io.Writer, rows []Row) error { return gocsv.Marshal(rows, w) }

// measurements converts rows. The provenance of a row becomes its source.
func measurements(rows []KernelTime) []measurement {
	out := make([]measurement, len(rows))
	for i, r := range rows {
		out[i] = measurement{
			GPU: r.GPU, Suite: r.Suite, Kernel: r.Kernel, Size: r.Size, Mean: r.Mean, StdDev: r.StdDev, Runs: r.Runs,
			Source: r.String(),
		}
	}
	return out
}
