package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"miglab/bounds"
	"miglab/datasets/traces"
	"miglab/harness/advise"
	"miglab/harness/algo"
	"miglab/harness/cli"
	"miglab/harness/layout"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/task"
	"miglab/harness/work"
	page "miglab/reports/advise"
)

// adviseFlags holds the flags of advise. wait and p95 are 0 if they are not given.
type adviseFlags struct {
	traceFlags
	cellFlags
	gpus      int
	wait, p95 time.Duration
	policies  []string
	out       string
}

// advisedPolicies are compared by default. They are the policies on the page about clusters (reports/site/CLUSTERS.md).
var advisedPolicies = []string{
	"ff", "dra-first-fit", "hami-2.10", "hami-binpack", "hami-spread", "bf-bi", "wf-bi", "mfi", "mfi-weighted", "fgd",
}

func newAdvise() *cobra.Command {
	var f adviseFlags
	c := &cobra.Command{
		Use:   "advise FILE",
		Short: "Answer what a cluster wants to know of its own trace: policy, GPUs, geometry, order of devices",
		Args:  cli.Arguments(1, 1, "the file of the trace"),
		RunE:  func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.traceFlags.register(c, requestsFormat)
	f.cellFlags.register(c, "folder for results", "simulations")
	c.Flags().BoolVar(&f.options.Snapshot, "snapshot", false,
		"formats "+strings.Join(traces.SnapshotFormats(), ", ")+": the rows, or the jobs that run, are there at once; "+
			"times are not read")
	cli.AddFlag(c, &f.gpus, "gpus", "0", cli.WholeNumber(0, mostGPUs),
		"GPUs of the cluster in which policies are compared; 0 means as many as first fit needs")
	cli.AddFlag(c, &f.perNode, "pernode", "0", cli.AtLeast(0), "GPUs of a node; 0 means all")
	cli.AddFlag(c, &f.wait, "wait", "", cli.ReadDuration, "largest mean wait (default 10m, or none with --p95)")
	cli.AddFlag(c, &f.p95, "p95", "", cli.ReadDuration, "largest 95th percentile of the waits")
	c.Flags().StringSliceVar(&f.policies, "policies", advisedPolicies,
		"policies to compare with ff, separated by commas (miglab list algorithms)")
	cli.AddFolder(c, &f.out, "out", "", "folder for the page as Markdown, its chart and the files of other tools")
	cli.CheckArgs(c, func() error { return f.check(c) })
	return c
}

func (f *adviseFlags) check(c *cobra.Command) error {
	if err := f.traceFlags.check(c); err != nil {
		return err
	}
	if f.options.Snapshot {
		switch {
		case !slices.Contains(traces.SnapshotFormats(), f.format):
			return fmt.Errorf("--snapshot is for the formats %s; %s has arrivals",
				strings.Join(traces.SnapshotFormats(), ", "), f.format)
		case c.Flags().Changed("wait") || c.Flags().Changed("p95"):
			return errors.New("--wait and --p95 have no meaning with --snapshot, in which nobody waits")
		}
	}
	if f.gpu.Name != f.gpu.Board() {
		return fmt.Errorf("--gpu %s: simulated requests start without a reconfiguration; give %s", f.gpu.Name,
			f.gpu.Board())
	}
	for _, p := range f.policies {
		if _, err := algo.ParseFor(p, algo.TrackPlacement); err != nil {
			return fmt.Errorf("--policies: %w", err)
		}
	}
	return nil
}

// defaultWait is the largest accepted mean wait, in seconds, if no flag gives another limit; noLimit accepts any wait.
const defaultWait, noLimit = 600, -1

// question returns the question that the flags ask about a trace.
func (f *adviseFlags) question(in task.Requests) advise.Question {
	q := advise.Question{
		GPU: f.gpu, Requests: in, Named: f.named(in), GPUs: f.gpus, PerNode: f.perNode, Wait: noLimit, P95: noLimit,
		Policies: f.policies, Snapshot: f.options.Snapshot,
		Bounds: advise.Bounds{
			Wait: func(g *mig.GPU, in task.Requests) float64 { return bounds.WaitAtLeast(g, in) },
			Late: bounds.LateAtLeast,
		},
	}
	switch {
	case f.options.Snapshot:
		q.Wait = 0
	case f.wait > 0:
		q.Wait = f.wait.Seconds()
	case f.p95 == 0:
		q.Wait = defaultWait
	}
	if f.p95 > 0 {
		q.P95 = f.p95.Seconds()
	}
	return q
}

func (f *adviseFlags) run(c *cobra.Command, path string) error {
	in, rejected, err := f.requests(c, path)
	if err != nil {
		return err
	}
	if len(in.Requests) == 0 {
		return fmt.Errorf("%s has no row that can be used as format %s%s", path, f.format, firstReason(rejected))
	}
	n := traces.Count(len(f.lines), rejected)
	if n.Of[traces.Lost] > n.Used {
		return fmt.Errorf("%s: %d of %d jobs cannot be used: no advice%s", path, n.Of[traces.Lost], n.Jobs, n.Lost)
	}
	if f.out != "" {
		if err := errors.Join(page.Check(f.out), os.MkdirAll(f.out, 0o777)); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	db, err := run.Open(f.results, &f.catalog)
	if err != nil {
		return err
	}
	defer db.Close()
	var advice *advise.Advice
	err = cli.RunUnits(c, "simulations", func(p *cli.Progress) (err error) {
		runner := &work.Runner{Log: work.NewLog(db, ""), Workers: f.workers, Progress: p.Set}
		advice, err = advise.Advise(c.Context(), f.question(in), runner)
		return err
	})
	if err != nil {
		return err
	}
	answer := page.Page{
		Advice: advice, File: path, Command: adviseLine(c, path),
		First: f.first(n), Notes: f.notes(rejected), Lines: f.lines,
		Types: layout.Types{
			Prefix: strings.TrimPrefix(traces.Type(f.gpu, f.jobs, true)+"_", "_"),
			Whole:  traces.Type(f.gpu, f.jobs, false),
		},
		Partial: n.Of[traces.Lost] > 0,
	}
	if err := answer.Text(c.OutOrStdout()); err != nil {
		return err
	}
	if f.out == "" {
		return nil
	}
	if err := answer.Write(f.out); err != nil {
		return err
	}
	list := cli.File{Path: filepath.Join(f.out, "rejected.csv")}
	if err = list.Emit(c, func(w io.Writer) error { return traces.WriteRejected(w, rejected) }); err == nil {
		fmt.Fprintf(c.ErrOrStderr(), "the page, its chart and the files for other tools are in %s\n", f.out)
	}
	return err
}

// named returns the profiles that the jobs name.
func (f *adviseFlags) named(in task.Requests) (out []*mig.Profile) {
	for _, p := range task.RequestProfiles(f.gpu) {
		byJob := func(j traces.Job) bool { return slices.Contains(strings.Split(j.Profile, "+"), p.String()) }
		byRequest := func(q task.Request) bool {
			isWhole := q.GPUs > 0 && p.Length == f.gpu.MemorySlices
			return f.format == requestsFormat && q.Profile == p && q.Work == 0 && !isWhole
		}
		if slices.ContainsFunc(f.jobs, byJob) || slices.ContainsFunc(in.Requests, byRequest) {
			out = append(out, p)
		}
	}
	return out
}

// first returns the sentences before all answers: which jobs are left out, and how jobs got their profiles.
func (f *adviseFlags) first(n traces.Census) (out []string) {
	if n.Jobs > n.Used {
		text := fmt.Sprintf("%d of %d jobs are used, with --gpu %s.", n.Used, n.Jobs, f.gpu)
		if lost := n.Of[traces.Lost]; lost > 0 {
			text = fmt.Sprintf("%s cannot be used, so that the numbers of GPUs are too low%s. %s",
				cli.Count(lost, "jobs"), n.Lost, text)
		}
		if running := n.Of[traces.Running]; running > 0 {
			text += fmt.Sprintf(" Still running, the longest among them, so that the load is too low: %d.", running)
		}
		switch waiting := n.Of[traces.Waiting]; {
		case waiting > 0 && f.options.Snapshot:
			text += fmt.Sprintf(" Waiting, without GPUs: %d; --pending counts them.", waiting)
		case waiting > 0:
			text += fmt.Sprintf(" Never started: %d.", waiting)
		}
		out = append(out, text)
	}
	return append(append(out, f.models()...), f.assumption()...)
}

// assumption returns a sentence that says how the jobs got their profiles. It returns nil if the file names profiles
// for all, or memory: then no jobs are kept.
func (f *adviseFlags) assumption() []string {
	untyped := 0
	for _, j := range f.jobs {
		if j.Profile == "" && j.Model == "" {
			untyped++
		}
	}
	if len(f.jobs) == 0 || slices.ContainsFunc(f.jobs, func(j traces.Job) bool { return j.Profile != "" }) {
		if untyped == 0 || f.format != "sacct" {
			return nil
		}
		return []string{fmt.Sprintf("%s without a type count as whole GPUs. If Slurm began to record types in this "+
			"time (AccountingStorageTRES), take only later jobs: sacct -S.", cli.Count(untyped, "jobs"))}
	}
	whole := !slices.ContainsFunc(f.jobs, func(j traces.Job) bool { return j.Milli != traces.WholeGPU })
	if whole && f.format != "csv" {
		text := "Every job takes whole GPUs: which of them an instance would do for is not in the file."
		if f.format == "sacct" {
			text += " Slurm records instances only with AccountingStorageTRES=gres/gpu,gres/gpu:1g.10gb,..., for " +
				"later jobs."
		}
		return []string{text}
	}
	text := fmt.Sprintf("Which MIG profiles the jobs would have is not in the file. --map %s assumes the smallest "+
		"profile with the job's share of a GPU.", f.mapping)
	if whole {
		text += " Every job takes whole GPUs: if the file has shares or profiles, name their column with --columns " +
			"gpu_milli=NAME or --columns profile=NAME."
	}
	return []string{text}
}

// firstReason returns the reason why the first rejected row cannot be used; "" if no row was rejected.
func firstReason(rejected []traces.Rejected) string {
	if len(rejected) == 0 {
		return ""
	}
	return fmt.Sprintf("; line %d: %s", rejected[0].Line, rejected[0].Reason)
}

// adviseLine returns the command line without the flags that do not change the answers.
func adviseLine(c *cobra.Command, path string) string {
	words := []string{"miglab", "advise", path}
	c.Flags().Visit(func(f *pflag.Flag) {
		switch list, many := f.Value.(pflag.SliceValue); {
		case f.Name == "out" || f.Name == "results" || f.Name == "workers":
		case many:
			words = append(words, "--"+f.Name, strings.Join(list.GetSlice(), ","))
		case f.Value.Type() == "bool" && f.Value.String() == "true":
			words = append(words, "--"+f.Name)
		case f.Value.Type() == "bool":
			words = append(words, "--"+f.Name+"=false")
		default: // pflag prints the map of --columns in brackets
			words = append(words, "--"+f.Name, strings.Trim(f.Value.String(), "[]"))
		}
	})
	return cli.Words(words)
}
