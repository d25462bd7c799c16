// Package kernel describes benchmark programs that run on a GPU, in manifests
// written in YAML, and runs one of them once.
//
// A manifest looks like this:
//
//	version: 1
//	suite: rodinia
//	parameters:                 # name: default; one without needs --set name=value
//	  rodinia:
//	  size: 2048
//	defaults:                   # for the fields of a kernel but name, argv and data
//	  timeout: 5m
//	kernels:
//	  - name: NW
//	    argv: [./needle, "${size}", 10]
//	    size_class: ${size}
//	    workdir: ${rodinia}/cuda/nw
//	    env: {OMP_NUM_THREADS: 1}
//	    data: [{path: input.txt, sha256: 9f86d0...}]
//	    timeout: 5m             # 10m unless it is said
//	    warmup: 2s              # none
//	    repetitions: 20         # 10
//	    min_mem_mb: 4000        # 0
//	    expect: {exit: 0, regexp: Processing bottom-right matrix} # {exit: 0}
//	    out_of_memory: no room  # what CUDA says
//	    time: {source: wall}    # this
//
// Only name and argv have to be there. The time may also be {source: regexp,
// pattern: 'time: ([0-9.]+)', unit: ms}, with unit s, ms or us, or {source:
// altis_csv, row: bfs_kernel_time}, for a program that writes Altis's CSV to the
// path ${csv}, which argv has to give it. Parameters are replaced in size_class,
// workdir, argv, env and the paths of data, which are the program's: relative to its
// workdir. Data with a sha256 have to have that content; without one they only have to be
// there, as in the shipped rodinia and altis, whose suites publish no hashes that the
// project knows. A kernel's field takes the place of the default's; variables of env are
// added to the default's.
//
// Nothing in a manifest is passed over: fields that do not exist, parameters that
// are not used and names that are there twice are errors.
package kernel

import (
	"regexp"
	"time"

	"miglab/harness/mig"
)

// A Kernel is one program with its arguments.
type Kernel struct {
	// Name is distinct within a manifest, and the task's name in datasets: letters,
	// digits and any of _.+- after the first.
	Name string
	// Suite is the benchmark suite, for example rodinia.
	Suite string
	// SizeClass says in a word how large the input is.
	SizeClass string
	// Argv is the program and its arguments, parameters replaced. ${csv} stands for
	// the path of the CSV where the time is read from one.
	Argv []string
	// Dir is the folder it runs in; empty means the current one.
	Dir string
	// Env is added to the environment, as KEY=VALUE, sorted.
	Env []string
	// Data are files that must be there.
	Data []Data
	// Timeout ends a run that hangs.
	Timeout time.Duration
	// Warmup is how long the kernel is run before it is measured, in whole runs, at
	// least one; 0 means none.
	Warmup time.Duration
	// Repetitions is the number of measured runs, unless a command asks for another; that of
	// a mix of kernels is the largest of theirs.
	Repetitions int
	// MinMemoryMB is what it needs at least, in MB; instances with less are not tried, nor
	// mixes of kernels that need more together than the GPU has.
	MinMemoryMB int
	// Exit is the exit status of a run that went well.
	Exit int
	// Expect has to match the output of a run that went well; nil expects nothing.
	Expect *regexp.Regexp
	// OutOfMemory matches the output of a run that failed for want of memory,
	// whatever its exit status, as many benchmarks do not look at the errors of CUDA.
	OutOfMemory *regexp.Regexp
	// Time says where the time is read from.
	Time TimeSource
	// File and Line say where the manifest describes it.
	File string
	Line int
}

// Data is a file that a kernel reads.
type Data struct {
	// Path is relative to the kernel's folder.
	Path string
	// SHA256 is in hexadecimal, as sha256sum prints it; empty where the content is free.
	SHA256 string
}

// A TimeKind says where the time of a run is read from.
type TimeKind string

// The time sources.
const (
	// Wall is the time from the start of the process to its end, as FAR measures.
	Wall TimeKind = "wall"
	// Regexp is a number in the output.
	Regexp TimeKind = "regexp"
	// AltisCSV is a row of the CSV that an Altis benchmark writes.
	AltisCSV TimeKind = "altis_csv"
)

// A TimeSource says where the time of a run is read from.
type TimeSource struct {
	Kind TimeKind
	// Pattern has one group, the number. The first match in the output counts.
	Pattern *regexp.Regexp
	// Unit is what 1 in the output stands for: 1, 1e-3 or 1e-6 s. A CSV names its own.
	Unit mig.Seconds
	// Row is the test's name in Altis's CSV, followed by ", " and the test's attributes
	// where several have the name.
	Row string
}

// A Status says how a run ended.
type Status string

// How a run can end.
const (
	OK          Status = "ok"
	OutOfMemory Status = "oom"
	Crash       Status = "crash"
	Timeout     Status = "timeout"
	// Wrong is a run that ended well by its exit status, but without the output that
	// was expected, or without a time.
	Wrong Status = "wrong"
)

// An Outcome is what one run gave.
type Outcome struct {
	Status Status
	// Seconds is the time by the kernel's time source; +Inf unless OK.
	Seconds mig.Seconds
	// Start and End are when the process started and ended.
	Start, End time.Time
	// Detail says in one line what went wrong; empty where Status is OK.
	Detail string
}

// A Manifest is a list of kernels.
type Manifest struct {
	Kernels []Kernel
}
