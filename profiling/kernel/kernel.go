// Package kernel describes benchmark programs that run on a GPU, in manifests
// written in YAML, and runs one of them once.
package kernel

import (
	"context"
	"io"
	"regexp"
	"time"

	"miglab/harness/mig"
)

// A Kernel is one program with its arguments.
type Kernel struct {
	// Name is distinct within a manifest, and the task's name in datasets.
	Name string
	// Suite is the benchmark suite, for example rodinia.
	Suite string
	// SizeClass says in a word how large the input is.
	SizeClass string
	// Argv is the program and its arguments, parameters replaced.
	Argv []string
	// Dir is the folder it runs in; empty means the current one.
	Dir string
	// Env is added to the environment, as KEY=VALUE.
	Env []string
	// Data are files that must be there.
	Data []Data
	// Timeout ends a run that hangs.
	Timeout time.Duration
	// Warmup is how long the kernel is run before it is measured, in whole runs, at
	// least one; 0 means none.
	Warmup time.Duration
	// Repetitions is the number of measured runs.
	Repetitions int
	// MinMemoryMB is what it needs at least, in MB; instances with less are not tried.
	MinMemoryMB int
	// Exit is the exit status of a run that went well.
	Exit int
	// Expect has to match the output of a run that went well; nil expects nothing.
	Expect *regexp.Regexp
	// OutOfMemory matches the output of a run that failed for want of memory.
	OutOfMemory *regexp.Regexp
	// Time says where the time is read from.
	Time TimeSource
	// File and Line say where the manifest describes it.
	File string
	Line int
}

// Data is a file that a kernel reads.
type Data struct {
	Path string
	// SHA256 is in hexadecimal; empty where the content is free.
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
	// Pattern has one group, the number.
	Pattern *regexp.Regexp
	// Row and File are the test's name in Altis's CSV and the CSV's path.
	Row, File string
	// Unit is the length of 1 in seconds: 1, 1e-3, 1e-6.
	Unit float64
}

// A Status says how a run ended.
type Status string

// How a run can end.
const (
	OK          Status = "ok"
	OutOfMemory Status = "oom"
	Crash       Status = "crash"
	Timeout     Status = "timeout"
	// Wrong is a run that ended well by its exit status, but without the output that was expected.
	Wrong Status = "wrong"
)

// An Outcome is what one run gave.
type Outcome struct {
	Status Status
	// Seconds is the time by the kernel's time source; +Inf unless OK.
	Seconds mig.Seconds
	// Start and End are when the process started and ended.
	Start, End time.Time
	// Detail says in one line what went wrong.
	Detail string
}

// A Manifest is a list of kernels.
type Manifest struct {
	Kernels []Kernel
}

// Read parses a manifest; set gives parameters other values than the manifest's.
// Errors name file and line.
func Read(r io.Reader, file string, set map[string]string) (Manifest, error) { panic("not yet") }

// Shipped opens a manifest that comes with the program by its name: rodinia, altis
// or miglab. The error for others is a *nearest.UnknownError.
func Shipped(name string) (text []byte, err error) { panic("not yet") }

// Check lists what a kernel needs and does not find: program, folder, data files
// with other contents. Nothing is run.
func (k *Kernel) Check() []error { panic("not yet") }

// Run runs the kernel once with a further environment and reads its time. The
// process group is killed when the time is up, when ctx ends, and when this process
// dies. An error means that ctx ended or that the machine could not start the
// program at all, and says nothing about the kernel.
func (k *Kernel) Run(ctx context.Context, env []string) (Outcome, error) { panic("not yet") }
