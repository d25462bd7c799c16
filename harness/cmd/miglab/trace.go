package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"miglab/datasets/traces"
	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
	"miglab/harness/wholefile"
)

// traceFlags are the flags that say how to read a trace of a cluster.
type traceFlags struct {
	format  string
	gpu     *mig.GPU
	mapping traces.Mapping
	slot    int
	options traces.Options
	columns map[string]string
	unit    string
	perNode int // the GPUs of a node, which must hold a whole pod; 0 means all
	// jobs has the jobs that were read, except in the formats requests and migbench. lines has the line of each
	// request.
	jobs  []traces.Job
	lines []int
}

// timeUnits are the units of times in files of the format csv, in seconds.
var timeUnits = map[string]float64{"ms": 1e-3, "s": 1, "min": 60, "h": 3600}

// register adds the flags. more are formats in addition to the formats of traces.
func (f *traceFlags) register(c *cobra.Command, more ...string) {
	formats := append(append(traces.FormatNames(), traces.MIGBench), more...)
	cli.AddFlag(c, &f.format, "format", "csv", cli.OneOf("format", formats), strings.Join(formats, ", "))
	addGPU(c, &f.gpu, new(mig.Catalog), "A100-80GB", "GPU model that the profiles and sizes are of")
	cli.AddFlag(c, &f.mapping, "map", traces.MappingNames()[0],
		cli.OneOf("mapping", []traces.Mapping{traces.Compute, traces.Memory}),
		strings.Join(traces.MappingNames(), " or "))
	cli.AddFlag(c, &f.slot, "slot", "1", cli.AtLeast(1), "seconds of a slot, for requests")
	c.Flags().StringToStringVar(&f.columns, "columns", nil,
		"format csv: names of the columns, as in gpus=n,gpu_milli=share")
	c.Flags().StringVar(&f.options.ShareUnit, "share-unit", "",
		"format csv: unit of gpu_milli: "+strings.Join(traces.ShareUnits, ", ")+
			" (default: thousandths, if one is above 100)")
	cli.AddFlag(c, &f.unit, "unit", "s", cli.OneOf("unit", []string{"ms", "s", "min", "h"}),
		"format csv: unit of times that are numbers: ms, s, min or h")
	c.Flags().BoolVar(&f.options.Pending, "pending", false,
		"formats sacct and pods with --snapshot: keep jobs that were never placed")
}

// check returns an error for flags of another format, and completes the options.
func (f *traceFlags) check(c *cobra.Command) error {
	for _, name := range slices.Sorted(maps.Keys(f.columns)) {
		if !slices.Contains(traces.CSVColumns, name) {
			return fmt.Errorf("--columns: %w", nearest.Unknown("column", name, traces.CSVColumns))
		}
	}
	if f.format != "csv" && (len(f.columns) > 0 || c.Flags().Changed("unit")) {
		return fmt.Errorf("--columns and --unit are for the format csv; %s says them itself", f.format)
	}
	f.options.Columns, f.options.Unit = f.columns, timeUnits[f.unit]
	return nil
}

// openTrace opens a trace, or standard input if the path is "-". It also returns the name of the trace in errors.
func openTrace(path string) (*os.File, string, error) {
	if path == "-" {
		return openInput(path)
	}
	file, err := strictcsv.Open(path)
	if errors.Is(err, wholefile.ErrNotRegular) {
		err = fmt.Errorf("%w; the file - is standard input, which may be a pipe", err)
	}
	return file, path, err
}

// readWork reads requests for work and memory, which have no profiles yet.
func (f *traceFlags) readWork(c *cobra.Command, file io.Reader, path string) ([]task.Request, error) {
	for _, name := range []string{"as", "gpu", "map", "slot", "alpha", "slack"} {
		if c.Flags().Changed(name) && !(name == "gpu" && c.Name() != "import") {
			return nil, fmt.Errorf("--%s has no meaning with the format %s, whose requests are for work and memory",
				name, f.format)
		}
	}
	requests, err := traces.ReadMIGBench(file, path)
	if err == nil && len(requests) == 0 {
		err = fmt.Errorf("%s has no requests", path)
	}
	return requests, err
}

// requestsFormat is the format of the files that import writes.
const requestsFormat = "requests"

// requests reads a trace as requests that wait. rejected are the rows that cannot be used.
func (f *traceFlags) requests(c *cobra.Command, path string) (in task.Requests, rejected []traces.Rejected, err error) {
	file, path, err := openTrace(path)
	if err != nil {
		return in, nil, err
	}
	defer file.Close()
	switch f.format {
	case requestsFormat:
		cluster := task.Requests{GPUs: math.MaxInt, Waiting: task.Retry}
		in, err = task.ReadRequests(file, path, f.gpu, cluster)
		if err == nil && in.HasGangs() {
			err = fmt.Errorf("%s has requests for several instances at once or for +me; %s", path, f.noGangs())
		}
		return in, nil, err
	case traces.MIGBench:
		const millisecond = 0.001
		in.SlotSeconds = millisecond
		in.Requests, err = f.readWork(c, file, path)
		for i := range in.Requests {
			if err == nil {
				err = in.Requests[i].SetProfile(f.gpu)
			}
		}
		return in, nil, err
	}
	jobs, rejected, err := traces.Read(file, path, f.format, f.options)
	if err != nil {
		return in, nil, err
	}
	f.jobs = jobs
	in.SlotSeconds = float64(f.slot)
	requests, more := traces.Requests(f.gpu, f.mapping, float64(f.slot), jobs)
	leftOut := map[int]bool{}
	for _, r := range more {
		leftOut[r.Line] = true
	}
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(j traces.Job) bool { return leftOut[j.Line] })
	for i, q := range requests {
		why := ""
		switch {
		case q.Gang != nil && (!f.options.Snapshot || q.Gang.Media() > 0):
			why = fmt.Sprintf("needs %v; %s", q.Gang, f.noGangs())
		case f.format == "pods" && f.perNode > 0 && q.Exceeds(f.gpu, f.perNode):
			why = fmt.Sprintf("needs more than the %d GPUs of a node (--pernode), and a pod is on one", f.perNode)
		}
		if why != "" {
			more = append(more, traces.Rejected{Line: jobs[i].Line, Reason: why})
			continue
		}
		in.Requests, f.lines = append(in.Requests, q), append(f.lines, jobs[i].Line)
	}
	return in, append(rejected, more...), nil
}

// noGangs says why requests with gangs are left out, and how to simulate them.
func (f *traceFlags) noGangs() string {
	return fmt.Sprintf("advise simulates requests for one instance without +me and for whole GPUs; miglab import "+
		"--out FILE keeps all, miglab run --track placement --gpu %s --algorithms ff --instances 1 --datasets "+
		"'requests:FILE?gpus=N&queue=retry' simulates them, and miglab export has wait_mean_s", f.gpu.Name)
}

// notes returns sentences about the parts of a trace that are not used, and about signs that it was misread.
func (f *traceFlags) notes(rejected []traces.Rejected) []string {
	out := traces.LeftOut(rejected)
	doubt := traces.DoubtUnit(f.jobs)
	if doubt != "" && f.format == "csv" && !f.options.Snapshot {
		out = append(out, fmt.Sprintf("%s: is --unit %s right?", doubt, f.unit))
	}
	return out
}

// models returns a sentence about the jobs that ask for other GPU models.
func (f *traceFlags) models() []string {
	note := traces.OtherModels(f.gpu, f.jobs)
	if note == "" {
		return nil
	}
	if f.format == "sacct" {
		note += " sacct -r PARTITION has the jobs of one partition; grep -v gpu:MODEL FILE has the jobs of the other " +
			"models, and grep -e JobID -e gpu:MODEL FILE those of one."
	}
	return []string{note}
}
