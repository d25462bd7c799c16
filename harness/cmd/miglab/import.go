package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"miglab/datasets/traces"
	"miglab/harness/cli"
	"miglab/harness/task"
)

// importFlags are the flags of the command import.
type importFlags struct {
	traceFlags
	as  string
	out cli.File
	law traces.Law
}

func newImport() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Turn a trace of a cluster into requests or jobs",
		Args:  cli.Arguments(1, 1, "the file of the trace"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			return f.run(c, args[0])
		},
	}
	f.register(c)
	cli.AddFlag(c, &f.as, "as", "requests", cli.OneOf("kind", []string{"requests", "jobs"}),
		"requests (track placement) or jobs (track dispatch)")
	c.Flags().Float64Var(&f.law.Alpha, "alpha", 1, "for jobs: on s slices instead of m, (m/s)^alpha times as long")
	c.Flags().Float64Var(&f.law.Slack, "slack", 2, "for jobs: from arrival to deadline, as a multiple of the lifetime")
	f.out.Register(c, "out", "file to write; - for standard output, without a list of what cannot be used", "csv")
	cli.RequireFlags(c, "out")
	return c
}

// run imports a file and reports on standard error. It fails if no row can be used.
func (f *importFlags) run(c *cobra.Command, path string) error {
	if !(f.law.Alpha >= 0 && f.law.Alpha <= 4) || !(f.law.Slack >= 0 && f.law.Slack <= 1e6) {
		return fmt.Errorf("--alpha %v --slack %v: give an alpha from 0 to 4 and a slack from 0 to 1e6", f.law.Alpha,
			f.law.Slack)
	}
	file, path, err := openTrace(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if f.format == traces.MIGBench {
		requests, err := f.readWork(c, file, path)
		if err != nil {
			return err
		}
		return f.out.Emit(c, func(w io.Writer) error { return task.WriteRequests(w, requests) })
	}
	jobs, rejected, err := traces.Read(file, path, f.format, f.options)
	if err != nil {
		return err
	}
	f.jobs = jobs
	kept, more, write := f.convert(jobs)
	rejected = append(rejected, more...)
	list, err := f.listRejected(c, path, rejected)
	if err != nil {
		return err
	}
	report := c.ErrOrStderr()
	fmt.Fprintf(report, "%s: %s became %s, %d were rejected", path, cli.Count(kept, "rows"), f.as, len(rejected))
	if len(rejected) > 0 {
		fmt.Fprintf(report, "; %s lists them", list)
	}
	fmt.Fprintln(report)
	for _, note := range append(f.notes(rejected), f.models()...) {
		fmt.Fprintln(report, note)
	}
	if kept == 0 {
		return fmt.Errorf("%s has no row that can be used as format %s", path, f.format)
	}
	return f.out.Emit(c, write)
}

// listRejected writes a list of the rejected rows beside the file and returns the list's name. Beside standard output
// it writes no list.
func (f *importFlags) listRejected(c *cobra.Command, path string, rejected []traces.Rejected) (string, error) {
	if !f.out.IsRegular() {
		return "no file", nil
	}
	list := cli.File{Path: f.out.Path + ".rejected.csv"}
	if err := cli.KeepInputs(c, []string{path}, "the list of rejected rows", list.Path); err != nil {
		return "", err
	}
	return list.Path, list.Emit(c, func(w io.Writer) error { return traces.WriteRejected(w, rejected) })
}

// convert converts jobs to the kind of --as. It returns the number of usable rows, the rejected rows, and a function
// that writes the file.
func (f *importFlags) convert(jobs []traces.Job) (kept int, rejected []traces.Rejected, write func(io.Writer) error) {
	if f.as == "jobs" {
		out, rejected := traces.Jobs(f.gpu, f.mapping, f.law, jobs)
		return len(out), rejected, func(w io.Writer) error { return task.WriteJobs(w, f.gpu, out) }
	}
	out, rejected := traces.Requests(f.gpu, f.mapping, float64(f.slot), jobs)
	return len(out), rejected, func(w io.Writer) error { return task.WriteRequests(w, out) }
}
