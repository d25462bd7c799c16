package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"miglab/datasets/traces"
	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
)

// importing are the flags of the command import.
type importing struct {
	format, as string
	out        output
	gpu        *mig.GPU
	mapping    traces.Mapping
	slot       int
	law        traces.Law
	options    traces.Options
}

// timeUnits are the units of times in files of the format csv, in seconds.
var timeUnits = map[string]float64{"ms": 1e-3, "s": 1, "min": 60, "h": 3600}

func newImport() *cobra.Command {
	var f importing
	var columns map[string]string
	var unit string
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Turn a trace of a cluster into requests or jobs",
		Args:  cli.Arguments(1, 1, "the file of the trace"),
		RunE: func(c *cobra.Command, args []string) error {
			for name := range columns {
				if !slices.Contains(traces.CSVColumns, name) {
					return fmt.Errorf("--columns: %w", nearest.Unknown("column", name, traces.CSVColumns))
				}
			}
			if f.format != "csv" && (len(columns) > 0 || c.Flags().Changed("unit")) {
				return fmt.Errorf("--columns and --unit are for the format csv; %s says them itself", f.format)
			}
			f.options.Columns, f.options.Unit = columns, timeUnits[unit]
			return f.run(c, args[0])
		},
	}
	formats := append(traces.FormatNames(), traces.MIGBench)
	cli.AddFlag(c, &f.format, "format", "csv", cli.OneOf("format", formats), strings.Join(formats, ", "))
	cli.AddFlag(c, &f.as, "as", "requests", cli.OneOf("kind", []string{"requests", "jobs"}),
		"requests (track placement) or jobs (track dispatch)")
	addGPU(c, &f.gpu, "A100-80GB", "GPU model that the profiles and sizes are of")
	cli.AddFlag(c, &f.mapping, "map", traces.MappingNames()[0],
		cli.OneOf("mapping", []traces.Mapping{traces.Compute, traces.Memory}),
		strings.Join(traces.MappingNames(), " or "))
	cli.AddFlag(c, &f.slot, "slot", "1", cli.AtLeast(1), "seconds of a slot, for requests")
	c.Flags().Float64Var(&f.law.Alpha, "alpha", 1, "for jobs: on s slices instead of m, (m/s)^alpha times as long")
	c.Flags().Float64Var(&f.law.Slack, "slack", 2, "for jobs: from arrival to deadline, as a multiple of the lifetime")
	c.Flags().StringToStringVar(&columns, "columns", nil,
		"format csv: names of the columns, as in gpus=n,gpu_milli=share")
	c.Flags().StringVar(&f.options.ShareUnit, "share-unit", "",
		"formats csv and openb: unit of gpu_milli: "+strings.Join(traces.ShareUnits, ", ")+
			" (default: thousandths, if one is above 100)")
	cli.AddFlag(c, &unit, "unit", "s", cli.OneOf("unit", []string{"ms", "s", "min", "h"}),
		"format csv: unit of times that are numbers: ms, s, min or h")
	c.Flags().BoolVar(&f.options.Pending, "pending", false, "format openb: keep pods that the cluster never placed")
	f.out.register(c, "out", "file to write; - for standard output, without a list of what cannot be used", "csv")
	requireFlags(c, "out")
	return c
}

// run imports a file and says on standard error what it did. It fails if no row can be used.
func (f *importing) run(c *cobra.Command, path string) error {
	if !(f.law.Alpha >= 0 && f.law.Alpha <= 4) || !(f.law.Slack >= 0 && f.law.Slack <= 1e6) {
		return fmt.Errorf("--alpha %v --slack %v: give an alpha from 0 to 4 and a slack from 0 to 1e6", f.law.Alpha,
			f.law.Slack)
	}
	file, err := strictcsv.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if f.format == traces.MIGBench {
		return f.runMIGBench(c, file, path)
	}
	jobs, rejected, err := traces.Read(file, path, f.format, f.options)
	if err != nil {
		return err
	}
	kept, more, write := f.convert(jobs)
	rejected = append(rejected, more...)
	slices.SortStableFunc(rejected, func(a, b traces.Rejected) int { return cmp.Compare(a.Line, b.Line) })
	list := output{path: f.out.path + ".rejected.csv"}
	if listed := f.out.isFile(); !listed {
		list.path = "no file"
	} else if err := keepInputs(c, []string{path}, "the list of rejected rows", list.path); err != nil {
		return err
	} else if err := list.emit(c, func(w io.Writer) error { return traces.WriteRejected(w, rejected) }); err != nil {
		return err
	}
	report := c.ErrOrStderr()
	fmt.Fprintf(report, "%s: %s became %s, %d were rejected", path, cli.Count(kept, "rows"), f.as, len(rejected))
	if len(rejected) > 0 {
		fmt.Fprintf(report, "; %s lists them, the first: line %d: %s", list.path, rejected[0].Line, rejected[0].Reason)
	}
	fmt.Fprintln(report)
	if kept == 0 {
		return fmt.Errorf("%s has no row that can be used as format %s", path, f.format)
	}
	return f.out.emit(c, write)
}

// runMIGBench imports requests for work and memory, which need no profiles yet.
func (f *importing) runMIGBench(c *cobra.Command, file io.Reader, path string) error {
	for _, name := range []string{"as", "gpu", "map", "slot", "alpha", "slack"} {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s has no meaning with the format %s, whose requests are for work and memory", name,
				f.format)
		}
	}
	requests, err := traces.ReadMIGBench(file, path)
	if err != nil {
		return err
	}
	if len(requests) == 0 {
		return fmt.Errorf("%s has no requests", path)
	}
	return f.out.emit(c, func(w io.Writer) error { return task.WriteRequests(w, requests) })
}

// convert returns the number of usable rows, the other rows, and a function that writes the file.
func (f *importing) convert(jobs []traces.Job) (int, []traces.Rejected, func(io.Writer) error) {
	if f.as == "jobs" {
		out, rejected := traces.Jobs(f.gpu, f.mapping, f.law, jobs)
		return len(out), rejected, func(w io.Writer) error { return task.WriteJobs(w, f.gpu, out) }
	}
	out, rejected := traces.Requests(f.gpu, f.mapping, float64(f.slot), jobs)
	return len(out), rejected, func(w io.Writer) error { return task.WriteRequests(w, out) }
}
