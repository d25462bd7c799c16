// Package launch reads YAML manifests of benchmark programs for GPUs, and runs one of these programs once.
//
// A manifest looks like this:
//
//	version: 1
//	suite: rodinia
//	parameters:                 # name: default; one without needs --set name=value
//	  rodinia:
//	  size: 2048
//	defaults:                   # for the fields of a kernel but name, argv, data and result
//	  timeout: 5m
//	kernels:
//	  - name: NW
//	    argv: [./needle, "${size}", 10]
//	    size_class: ${size}
//	    workdir: ${rodinia}/cuda/nw
//	    own_folder: false       # the default
//	    data: [{path: input.txt, sha256: 9f86d0...}]
//	    timeout: 5m             # default: 10m
//	    warmup: 2s              # default: 0s
//	    repetitions: 20         # default: 10
//	    min_mem_mb: 4000        # default: 0
//	    expect: {regexp: Processing bottom-right matrix, device: false}
//	    time: {source: wall}    # the default
//	    result: {file: result.txt}
//
// Only name and argv are required. argv begins with the program. A kernel's field replaces the default's. Parameters
// are replaced in size_class, workdir, argv, and the paths of data and result, which are relative to workdir. Data with
// a sha256 must have that content; without one they must only exist.
//
// own_folder: true is for programs that write files: each run has a new, empty folder beside workdir, in which the
// program runs and which is deleted after the run. ../../data leads to the same folder from there and from workdir. The
// program is still found from workdir, and result is read in the new folder.
//
// The time may also be {source: regexp, pattern: 'time: ([0-9.]+)', unit: ms}, with unit s, ms or us. It may be
// {source: altis_csv, row: bfs_kernel_time} for a program that writes Altis's CSV; argv must then give it the path
// ${csv}.
//
// expect: {device: true} is for programs that print where they run, in lines such as "sms: 14" and "uuid: 5c89...", the
// UUID without a prefix. A run elsewhere than asked is wrong.
//
// result names what the program computed: a file that it writes, or a {pattern: 'distance: (.*)'} of its output.
// Every run must give the same result, and a run without a GPU another one. This finds programs that ignore the
// errors of CUDA: they print the expected output without having computed a result. Do not use it for programs whose
// results differ from run to run.
//
// A manifest is read strictly: unknown fields, unused parameters and duplicate names are errors.
package launch

import (
	"regexp"
	"time"

	"miglab/harness/mig"
)

// A Kernel is one program with its arguments.
type Kernel struct {
	Name      string // unique within a manifest, and the task's name in datasets
	Suite     string // the benchmark suite, for example rodinia
	SizeClass string // how large the input is
	// Argv is the program and its arguments. ${csv} is the path of the CSV that the time is read from, if there is one.
	Argv      []string
	Dir       string // the folder it runs in; empty means the current one
	OwnFolder bool   // says that each run has a new folder beside Dir, and runs there
	Data      []Data // files that must exist
	// Timeout ends a run that hangs.
	Timeout time.Duration
	// Warmup is how long the kernel runs before it is measured, in complete runs, at least one; 0 means no warm-up.
	Warmup      time.Duration
	Repetitions int // the number of measured runs, unless a command gives another; 0 means 10
	// MinMemoryMB is the memory that it needs. It is not tried on instances with less.
	MinMemoryMB int
	// Expect must match the output of a successful run; nil accepts any output.
	Expect       *regexp.Regexp
	PrintsDevice bool         // says that a run prints which device it is on
	Time         TimeSource   // says where the time is read from
	Result       ResultSource // says what must be the same in every run, whatever it runs on
	// File and Line say where the manifest describes it.
	File string
	Line int
}

// Data is a file that a kernel reads.
type Data struct {
	Path   string // relative to the kernel's folder
	SHA256 string // in hexadecimal, as sha256sum prints it; empty if any content is accepted
}

// A TimeKind says where the time of a run is read from.
type TimeKind string

// The time sources.
const (
	// Wall is the time from the start of the process to its end: the start of CUDA, the reading of files and copies are
	// in it.
	Wall TimeKind = "wall"
	// Regexp is a number in the output: what the program says.
	Regexp TimeKind = "regexp"
	// AltisCSV is a row of the CSV that an Altis benchmark writes: its kernels alone.
	AltisCSV TimeKind = "altis_csv"
)

// A TimeSource says where the time of a run is read from.
type TimeSource struct {
	Kind TimeKind
	// Pattern has one group, the number. The first match in the output counts.
	Pattern *regexp.Regexp
	// Unit is the unit of the number: 1, 1e-3 or 1e-6 s. A CSV names its own unit.
	Unit mig.Seconds
	// Row is the test's name in Altis's CSV. If several tests have the name, ", " and the test's attributes follow.
	Row string
}

// A ResultSource says where a kernel shows what it computed. The zero value is for kernels that do not.
type ResultSource struct {
	// File is the file that it writes, relative to the kernel's folder. It is deleted before each run.
	File string
	// Pattern selects parts of the output: its first group, or the whole match if it has no group.
	Pattern *regexp.Regexp
}

// A Status says how a run ended.
type Status string

// How a run can end.
const (
	OK          Status = "ok"
	OutOfMemory Status = "oom"
	Crash       Status = "crash"
	Timeout     Status = "timeout"
	// Wrong is a run with the right exit status, but without the expected output or a time.
	Wrong Status = "wrong"
)

// An Outcome is the result of one run.
type Outcome struct {
	Status  Status
	Seconds mig.Seconds // the time by the kernel's time source; +Inf unless OK
	// Start and End are when the process started and ended.
	Start, End time.Time
	Result     string // a hash of the kernel's result, if it shows one and Status is OK
	Detail     string // says in one line what went wrong; empty if Status is OK
}
