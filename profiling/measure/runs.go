package measure

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
	"miglab/harness/wholefile"
	"miglab/profiling"
	"miglab/profiling/kernel"
)

// A Run is one measured run of a kernel: a row of runs.csv.
type Run struct {
	// GPU is the model's name for [mig.Lookup]. Name and UUID are the GPU's name and number
	// according to the driver. Driver is the driver's version.
	GPU, Name, UUID, Driver string
	// Source is what confined the kernel to a part of the GPU.
	Source                   profiling.Source
	Suite, Kernel, SizeClass string
	// Description is a hash of everything that decides what a run of the kernel does, such as
	// arguments, environment and data.
	Description string
	// Size is the instance's size, SMs its number of multiprocessors; 0 if not published.
	Size mig.Slices
	SMs  int
	// Mode says under MIG whether the program created the instance or it was existing; it is empty
	// without MIG. Instance is its UUID; empty if the kernel was not tried.
	Mode, Instance string
	// Repetition counts the runs of the kernel on instances of the size, from 1.
	Repetition int
	Status     kernel.Status
	// Seconds is the time from the kernel's time source. It is +Inf if the run ran out of
	// memory. It is 0, written as an empty field, if the run failed otherwise.
	Seconds mig.Seconds
	// Started is when the process was started, to the second; zero if the kernel was not
	// tried because it needs more memory than the instance has.
	Started time.Time
	// Load is how the GPU was doing while the process ran.
	datasets.Load
	// MemoryClock is in MHz, PowerLimit in W. They and OtherProcesses, the number of processes
	// on the GPU, were read after the run.
	MemoryClock    int
	PowerLimit     float64
	OtherProcesses int
	// Result is a hash of what the run computed, if the kernel shows it.
	Result string
	// Detail says in one line what went wrong.
	Detail string
}

type column struct {
	name string
	get  func(*Run) string
	set  func(*Run, string) error
}

func text[T ~string](name string, field func(*Run) *T) column {
	return column{
		name, func(r *Run) string { return string(*field(r)) },
		func(r *Run, s string) error { *field(r) = T(s); return nil },
	}
}

func count[T ~int](name string, field func(*Run) *T) column {
	return column{
		name, func(r *Run) string { return strconv.Itoa(int(*field(r))) },
		func(r *Run, s string) error {
			n, err := strictcsv.Int(s)
			if err != nil || n < 0 {
				return fmt.Errorf("%q is not a whole number from 0", s)
			}
			*field(r) = T(n)
			return nil
		},
	}
}

var columns = []column{
	text("gpu", func(r *Run) *string { return &r.GPU }),
	text("gpu_name", func(r *Run) *string { return &r.Name }),
	text("gpu_uuid", func(r *Run) *string { return &r.UUID }),
	text("driver", func(r *Run) *string { return &r.Driver }),
	text("source", func(r *Run) *profiling.Source { return &r.Source }),
	text("mode", func(r *Run) *string { return &r.Mode }),
	text("instance", func(r *Run) *string { return &r.Instance }),
	text("suite", func(r *Run) *string { return &r.Suite }),
	text("kernel", func(r *Run) *string { return &r.Kernel }),
	text("size_class", func(r *Run) *string { return &r.SizeClass }),
	text("description", func(r *Run) *string { return &r.Description }),
	count("size", func(r *Run) *mig.Slices { return &r.Size }),
	count("sms", func(r *Run) *int { return &r.SMs }),
	count("repetition", func(r *Run) *int { return &r.Repetition }),
	text("status", func(r *Run) *kernel.Status { return &r.Status }),
	{"seconds", secondsText, setSeconds},
	{"started", startedText, setStarted},
	count("samples", func(r *Run) *int { return &r.Samples }),
	count("sm_clock_min_mhz", func(r *Run) *int { return &r.ClockMin }),
	number("sm_clock_mean_mhz", "MHz", func(r *Run) *float64 { return &r.ClockMean }),
	count("sm_clock_max_mhz", func(r *Run) *int { return &r.ClockMax }),
	number("power_mean_w", "watts", func(r *Run) *float64 { return &r.PowerMean }),
	number("power_max_w", "watts", func(r *Run) *float64 { return &r.PowerMax }),
	count("temperature_max_c", func(r *Run) *int { return &r.TemperatureMax }),
	text("throttle", func(r *Run) *string { return &r.Throttle }),
	count("memory_clock_mhz", func(r *Run) *int { return &r.MemoryClock }),
	number("power_limit_w", "watts", func(r *Run) *float64 { return &r.PowerLimit }),
	count("other_processes", func(r *Run) *int { return &r.OtherProcesses }),
	text("result", func(r *Run) *string { return &r.Result }),
	text("detail", func(r *Run) *string { return &r.Detail }),
}

func secondsText(r *Run) string {
	switch {
	case r.Seconds == 0:
		return ""
	case math.IsInf(float64(r.Seconds), 1):
		return "inf"
	}
	return strconv.FormatFloat(float64(r.Seconds), 'g', -1, 64)
}

func setSeconds(r *Run, s string) error {
	if s == "" {
		return nil
	}
	if s == "inf" {
		r.Seconds = mig.Seconds(math.Inf(1))
		return nil
	}
	d, err := strictcsv.Float(s)
	if err != nil || !(d > 0) || d > task.MaxSeconds {
		return fmt.Errorf("%q is not a positive number of seconds, inf, or empty", s)
	}
	r.Seconds = mig.Seconds(d)
	return nil
}

func startedText(r *Run) string {
	if r.Started.IsZero() {
		return ""
	}
	return r.Started.Format(time.RFC3339)
}

func setStarted(r *Run, s string) error {
	if s == "" {
		return nil
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil || at.UTC().Format(time.RFC3339) != s {
		return fmt.Errorf("%q is not an instant such as 2026-11-21T09:30:00Z", s)
	}
	r.Started = at.UTC()
	return nil
}

func number(name, unit string, field func(*Run) *float64) column {
	return column{
		name, func(r *Run) string { return strconv.FormatFloat(*field(r), 'g', -1, 64) },
		func(r *Run, s string) error {
			v, err := strictcsv.Float(s)
			if err != nil || !(v >= 0) {
				return fmt.Errorf("%q is not a number of %s from 0", s, unit)
			}
			*field(r) = v
			return nil
		},
	}
}

var runsHeader = func() string {
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	return strings.Join(names, ",") + "\n"
}()

// line returns the row as a line of the file. No field holds a line break.
func (r *Run) line() []byte {
	fields := make([]string, len(columns))
	for i, c := range columns {
		fields[i] = c.get(r)
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(fields) // a buffer takes everything
	w.Flush()
	return b.Bytes()
}

// ReadRuns reads the rows of runs.csv. It ignores a last line without its end, which a
// killed process may have left. All rows must have the same GPU, driver and source, and
// the rows of a kernel the same description; no run may appear twice. The file's name is
// used only in errors. An error in the text is a [*task.ParseError]; other errors are those
// of r.
func ReadRuns(r io.Reader, file string) ([]Run, error) {
	all, err := wholefile.ReadAll(r, file, maxLog)
	if err != nil {
		return nil, err
	}
	return parseRuns(all, file)
}

// parseRuns reads the complete lines of a file.
func parseRuns(text []byte, file string) (runs []Run, err error) {
	complete := len(wholeLines(text))
	fail := func(line int, column string, err error) ([]Run, error) {
		return nil, &task.ParseError{File: file, Line: line, Column: column, Err: err}
	}
	if complete == 0 && !strings.HasPrefix(runsHeader, string(text)) || complete > 0 && !bytes.HasPrefix(text, []byte(runsHeader)) {
		return fail(1, "", fmt.Errorf("the first line is not %s; record the runs in another folder", strings.TrimSuffix(runsHeader, "\n")))
	}
	first := map[string]int{} // by kernel
	lines := map[cell]int{}
	for number, line := range numbered(strings.TrimPrefix(string(text[:complete]), runsHeader)) {
		in := csv.NewReader(strings.NewReader(line))
		in.FieldsPerRecord = len(columns)
		fields, err := in.Read()
		if at, ok := errors.AsType[*csv.ParseError](err); ok {
			err = at.Err
		}
		if err == io.EOF {
			err = errors.New("the line is empty")
		}
		if err != nil {
			return fail(number, "", fmt.Errorf("%w; delete the line, and the run is repeated", err))
		}
		var r Run
		for i, c := range columns {
			if err := c.set(&r, fields[i]); err != nil {
				return fail(number, c.name, err)
			}
		}
		if column, err := r.check(); err != nil {
			return fail(number, column, err)
		}
		if before, ok := lines[r.cell()]; ok {
			return fail(number, "", fmt.Errorf("line %d has the same run; delete one of them", before))
		}
		lines[r.cell()] = number
		if len(runs) > 0 {
			if column, err := r.agrees(&runs[0]); err != nil {
				return fail(number, column, fmt.Errorf("%w, on line 2; a file holds one GPU, driver and source", err))
			}
		}
		if i, ok := first[r.Kernel]; ok && runs[i].Description != r.Description {
			return fail(number, "description", fmt.Errorf("kernel %s had other arguments on line %d; delete the lines of one of them", r.Kernel, i+2))
		} else if !ok {
			first[r.Kernel] = len(runs)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// numbered yields the lines below the header with their numbers in the file.
func numbered(text string) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		number := 2
		for line := range strings.Lines(text) {
			if !yield(number, line) {
				return
			}
			number++
		}
	}
}

type cell struct {
	place
	repetition int
}

// A place is a kernel on an instance size.
type place struct {
	kernel string
	size   mig.Slices
}

func (r *Run) place() place { return place{r.Kernel, r.Size} }
func (r *Run) cell() cell   { return cell{r.place(), r.Repetition} }

var statuses = []string{string(kernel.OK), string(kernel.OutOfMemory), string(kernel.Crash), string(kernel.Timeout), string(kernel.Wrong)}

// check refuses a row that no run produces. column is the wrong one.
func (r *Run) check() (column string, err error) {
	g, err := mig.Lookup(r.GPU)
	if err != nil {
		return "gpu", err
	}
	infinite := math.IsInf(float64(r.Seconds), 1)
	switch {
	case r.GPU != g.Name:
		return "gpu", fmt.Errorf("%q must be written %s", r.GPU, g)
	case r.Source != profiling.MIG && r.Source != profiling.MPSSMLimit:
		return "source", nearest.Unknown("source", string(r.Source), []string{string(profiling.MIG), string(profiling.MPSSMLimit)})
	case r.Kernel == "":
		return "kernel", errors.New("the kernel has no name")
	case g.Profile(r.Size) == nil:
		return "size", fmt.Errorf("%s has no instances of size %d; its sizes are %v", g, r.Size, g.Sizes())
	case r.Mode != "" && r.Mode != created && r.Mode != existing:
		return "mode", nearest.Unknown("mode", r.Mode, []string{created, existing})
	case r.Repetition == 0:
		return "repetition", errors.New("repetitions count from 1")
	case !slices.Contains(statuses, string(r.Status)):
		return "status", nearest.Unknown("status", string(r.Status), statuses)
	case r.Status == kernel.OK && (r.Seconds == 0 || infinite):
		return "seconds", errors.New("a run with status ok must have a finite time")
	case r.Status == kernel.OutOfMemory && !infinite:
		return "seconds", errors.New("a run with status oom must have the time inf")
	case r.Status != kernel.OK && r.Status != kernel.OutOfMemory && r.Seconds != 0:
		return "seconds", fmt.Errorf("a run with status %s cannot have a time", r.Status)
	}
	return "", nil
}

// agrees says in which column the row's GPU differs from that of an earlier row.
func (r *Run) agrees(before *Run) (column string, err error) {
	for _, c := range columns[:5] { // gpu, gpu_name, gpu_uuid, driver, source
		if is, was := c.get(r), c.get(before); is != was {
			return c.name, fmt.Errorf("it is %q and was %q", is, was)
		}
	}
	return "", nil
}

// A runLog is runs.csv open for appending.
type runLog struct {
	f file
	// size is the length up to the end of the last row.
	size int64
}

type file interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
}

// openRuns opens runs.csv and returns its rows.
func openRuns(path string) (l *runLog, runs []Run, err error) {
	l, err = openLog(path, []byte(runsHeader), func(text []byte) (err error) {
		runs, err = parseRuns(text, path)
		return err
	})
	return l, runs, err
}

// maxLog is how many bytes a file of runs may have.
const maxLog = 256 << 20

// openLog opens a file of runs for appending and has its text adopted. It creates the file and its
// folder if necessary, and begins an empty file with the header. Unless adopt fails, it cuts off a
// last line without its end, which a killed process may have left.
func openLog(path string, header []byte, adopt func(text []byte) error) (*runLog, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	text, err := wholefile.Read(path, maxLog)
	l := &runLog{f, int64(len(wholeLines(text)))}
	if err == nil {
		err = adopt(text)
	}
	if err == nil {
		err = f.Truncate(l.size)
	}
	if err == nil && l.size == 0 {
		err = l.write(header)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// wholeLines returns a text without a last line that has no end.
func wholeLines(text []byte) []byte { return text[:bytes.LastIndexByte(text, '\n')+1] }

// append writes a row to disk, completely or not at all.
func (l *runLog) append(r *Run) error { return l.write(r.line()) }

func (l *runLog) write(line []byte) error {
	_, err := l.f.Write(line)
	if err == nil {
		err = l.f.Sync()
	}
	if err != nil {
		err = fmt.Errorf("the run cannot be recorded: %w; solve this and start again, the recorded runs are kept", err)
		return errors.Join(err, l.f.Truncate(l.size))
	}
	l.size += int64(len(line))
	return nil
}

func (l *runLog) close() error { return l.f.Close() }
