package measure

import (
	"context"
	"fmt"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/profiling/launch"
	"miglab/reports"
)

var _ = Register(Experiment{
	Name: "startup", Noun: "runs", Kernels: true, Modes: []string{mig.SourceMIG, ModeExisting},
	Short: "Measure how long processes take before their kernels are timed",
	Run:   Tabled(Startup, "startup", startupTable),
})

// A StartupTime is how long the processes of a kernel took before and after the time that they report.
type StartupTime struct {
	datasets.Provenance
	Kernel string      `csv:"kernel"`
	Runs   int         `csv:"runs"`
	Median mig.Seconds `csv:"median_seconds"`
	datasets.Load
}

// A startup is the record of a run.
type startup struct {
	Kernel  string
	Seconds float64
}

// Startup plans to run each kernel on the whole GPU, and to compare the time of its process with the reported time.
func Startup(_ context.Context, b *Bench) (*Plan[StartupTime], error) {
	p := newPlan(b, "startup", startupRows)
	on, g := b.stage(), b.Session.Identity().Model
	for run := 1; run <= b.rounds(); run++ {
		for _, k := range b.kernels() {
			if run > b.repetitions(k) {
				continue
			}
			p.add(k.Name, run, []string{k.Name}, func(ctx context.Context) (*finishedRun[any], error) {
				if err := on.set(ctx, "whole GPU", firstInstance(g, g.ComputeSlices)); err != nil {
					return nil, err
				}
				out, err := b.Launcher.Launch(ctx, k, on.made[0])
				if err != nil {
					return nil, err
				}
				if out.Status != launch.OK {
					b.fail(k.Name, "on the whole GPU", out)
					return nil, nil
				}
				seconds := out.End.Sub(out.Start).Seconds() - float64(out.Seconds)
				return b.finish(startup{k.Name, seconds}, out.Start, out.End), nil
			})
		}
	}
	return p, nil
}

func startupRows(from datasets.Provenance, load datasets.Load, runs []startup) []StartupTime {
	median := medianOf(runs, func(r *startup) float64 { return r.Seconds })
	return []StartupTime{{from, runs[0].Kernel, len(runs), median, load}}
}

func startupTable(_ *Bench, rows []StartupTime) reports.Table {
	t := reports.Table{
		Title:   TitleWithSource("Time of processes beside the time that they report", rows[0].Provenance),
		Columns: reports.Left("kernel").Right("runs", "median [s]"),
	}
	for _, r := range rows {
		t.Rows = append(t.Rows, []string{r.Kernel, fmt.Sprint(r.Runs), reports.Fixed(float64(r.Median), 3)})
	}
	return t
}
