package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/datasets/suite"
	"miglab/harness/algo"
	"miglab/harness/atomicfile"
	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/schedule"
	"miglab/reports"
)

func newSuite() *cobra.Command {
	c := &cobra.Command{
		Use:   "suite",
		Short: "The frozen instances of suite " + suite.Version + ": run, rank, export, and hand in a better schedule",
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSuiteList(), newSuiteRun(), newSuiteBoard(), newSuiteExport(), newSuiteSubmit(), newSuiteFreeze())
	for _, sub := range c.Commands() {
		if sub.Args == nil {
			sub.Args = cli.Arguments(0, 0, "")
		}
	}
	return c
}

func newSuiteList() *cobra.Command {
	var each bool
	c := &cobra.Command{
		Use:   "list",
		Short: "Count the instances by class, and those whose best known schedule is proven to be optimal",
		RunE: func(c *cobra.Command, _ []string) error {
			a, err := suite.Frozen()
			if err != nil {
				return err
			}
			if each {
				return suiteInstances(a).Text(c.OutOrStdout())
			}
			t := reports.Table{
				Title:   "Suite " + suite.Version,
				Columns: reports.Left("track", "class").Right("instances", "closed", "share (%)"),
			}
			for _, s := range a.Count() {
				t.Rows = append(t.Rows, []string{
					s.Track, s.Class, fmt.Sprint(s.Instances), fmt.Sprint(s.Closed),
					fmt.Sprintf("%.0f", 100*float64(s.Closed)/float64(s.Instances)),
				})
			}
			return t.Text(c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&each, "instances", false, "list each instance with what is known about it")
	return c
}

// suiteInstances lists each instance with what is known about it.
func suiteInstances(a *suite.Archive) *reports.Table {
	t := &reports.Table{Columns: reports.Left("id", "class", "dataset").Right("index").Left("GPU").
		Right("GPUs", "best known (s)", "bound (s)").Left("by")}
	for i, in := range a.Instances {
		b := &a.Best[i]
		t.Rows = append(t.Rows, []string{
			in.ID, in.Class, in.Dataset, fmt.Sprint(in.Index), in.GPU, fmt.Sprint(in.GPUs), fmt.Sprintf("%.6f", b.Value),
			fmt.Sprintf("%.6f", b.Bound), b.Algorithm,
		})
	}
	return t
}

// suiteFlags are the flags of commands that compare algorithms on the suite.
type suiteFlags struct {
	cellFlags
	algorithms []string
	closed     bool
	declared   bool
}

func (f *suiteFlags) register(c *cobra.Command) {
	f.cellFlags.register(c, "folder for results", "cells")
	c.Flags().StringSliceVar(&f.algorithms, "algorithms", nil, "algorithms, separated by commas (miglab list algorithms)")
	requireFlags(c, "algorithms")
}

func newSuiteRun() *cobra.Command {
	var f suiteFlags
	c := &cobra.Command{
		Use:   "run",
		Short: "Run algorithms on the suite and print its board",
		RunE: func(c *cobra.Command, _ []string) error {
			entries, err := f.entries()
			if err != nil {
				return err
			}
			return f.runCells(c, "cells", func(e *run.Engine) error {
				if err := e.Run(c.Context(), slices.Concat(entries.spans...)); err != nil {
					return err
				}
				return entries.board(c.OutOrStdout(), e)
			})
		},
	}
	f.register(c)
	cli.AddFlag(c, &f.closed, "division", "closed", func(text string) (bool, error) {
		if text != "closed" && text != "open" {
			return false, errors.New("closed or open")
		}
		return text == "closed", nil
	}, "closed: nothing was trained or tuned on the suite; open: all is allowed")
	c.Flags().BoolVar(&f.declared, "declare", false,
		"declare that nothing that was learned, and no program of your own, has seen the suite")
	return c
}

func newSuiteBoard() *cobra.Command {
	var f suiteFlags
	c := &cobra.Command{
		Use:   "board",
		Short: "Print how far results are above the bounds and above the best known schedules, by class",
		RunE: func(c *cobra.Command, _ []string) error {
			entries, err := f.entries()
			if err != nil {
				return err
			}
			db, err := run.Open(f.results)
			if err != nil {
				return err
			}
			defer db.Close()
			return entries.board(c.OutOrStdout(), &run.Engine{Store: db})
		},
	}
	f.register(c)
	return c
}

func newSuiteExport() *cobra.Command {
	var out string
	var check bool
	c := &cobra.Command{
		Use:   "export",
		Short: "Write every instance as JSON for other solvers, and as a tasks file",
		RunE: func(c *cobra.Command, _ []string) error {
			a, err := suite.Frozen()
			if err != nil {
				return err
			}
			each, what := exportInstance, "written to"
			if check {
				each, what = importInstance, "have the hash of suite "+suite.Version+" in"
			} else if err := os.MkdirAll(out, 0o755); err != nil {
				return err
			}
			for _, in := range a.Instances {
				if err := each(a, out, in.ID); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%d instances %s %s\n", len(a.Instances), what, out)
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "", "folder for the files")
	c.Flags().BoolVar(&check, "check", false, "read the files of the folder, and check that they have the suite's hashes")
	requireFlags(c, "out")
	return c
}

func exportInstance(a *suite.Archive, dir, id string) error {
	text, csv, err := a.Export(id)
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.Write(filepath.Join(dir, id+".json"), text),
		atomicfile.Write(filepath.Join(dir, id+".csv"), csv))
}

func importInstance(a *suite.Archive, dir, id string) error {
	path := filepath.Join(dir, id+".json")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if _, err := a.Import(text); err != nil {
		return cli.FailedError{Err: fmt.Errorf("%s: %w", path, err)}
	}
	return nil
}

func newSuiteSubmit() *cobra.Command {
	var out, format string
	c := &cobra.Command{
		Use:   "submit file.json",
		Short: "Verify a schedule of an instance and compare it with the best known one",
		Args:  cli.Arguments(1, 1, "one file.json"),
		RunE: func(c *cobra.Command, args []string) error {
			a, err := suite.Frozen()
			if err != nil {
				return err
			}
			file, path, err := openInput(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			text, err := io.ReadAll(file)
			if err != nil {
				return err
			}
			j, err := a.Judge(text)
			if err != nil {
				return fmt.Errorf("%s is refused: %w", path, err)
			}
			if out != "" && j.Improved {
				if err := a.Save(j, out); err != nil {
					return err
				}
			}
			return showJudgement(c, j, path, format)
		},
	}
	c.Flags().StringVar(&out, "out", "",
		"folder for the files of the archive that an improvement changes, for example datasets/suite/"+suite.Version)
	cli.AddFlag(c, &format, "format", "text", cli.OneOf("format", []string{"json", "text"}), "text or json")
	return c
}

// showJudgement prints what a submission is worth. What improves nothing fails.
func showJudgement(c *cobra.Command, j *suite.Judgement, path, format string) error {
	var err error
	if format == "json" {
		err = emitJSON(c, j)
	} else {
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %s, makespan %.6f s, %+.4f %% of the best known %.6f s; "+
			"%.4f %% above the bound %.6f s\n", j.ID, j.Schedule, j.Value, j.Percent, j.Best, j.Gap, j.Bound)
	}
	if err == nil && !j.Improved {
		err = cli.FailedError{Err: fmt.Errorf("%s improves neither the schedule nor the bound of %s", path, j.ID)}
	}
	return err
}

func newSuiteFreeze() *cobra.Command {
	var by, date string
	var most int
	var budget time.Duration
	c := &cobra.Command{
		Use:    "freeze FOLDER",
		Short:  "Make a suite of the candidates.csv in a folder",
		Hidden: true,
		Args:   cli.Arguments(1, 1, "a folder"),
		RunE: func(c *cobra.Command, args []string) error {
			solvers := suite.Solvers{
				Simple: shortestOf("far"), Better: shortestOf("treedp", "lns"),
				Best: func(ctx context.Context, p schedule.Problem) (certificate.Certificate, error) {
					return bounds.Best(ctx, p, budget)
				},
			}
			report := func(in suite.Instance) {
				fmt.Fprintf(c.ErrOrStderr(), "%s %s %d: %s\n", in.ID, in.Dataset, in.Index, in.Class)
			}
			return suite.Freeze(c.Context(), args[0], most, by, date, solvers, report)
		},
	}
	c.Flags().StringVar(&by, "by", "miglab", "who freezes it")
	c.Flags().StringVar(&date, "date", time.Now().UTC().Format(time.DateOnly), "when")
	cli.AddFlag(c, &most, "most", "60", cli.AtLeast(1), "instances of each class")
	cli.AddFlag(c, &budget, "budget", "10s", readDuration, "time to look for better schedules of an instance")
	return c
}

// shortestOf returns the shortest makespan of algorithms. Those that an instance is too large for are left out.
func shortestOf(names ...string) func(context.Context, schedule.Problem) (mig.Seconds, error) {
	return func(ctx context.Context, p schedule.Problem) (least mig.Seconds, err error) {
		for _, name := range names {
			s, err := algo.MustParse(name).Schedule(ctx, p)
			if _, many := errors.AsType[*algo.InfeasibleError](err); many {
				continue
			}
			if err != nil {
				return 0, err
			}
			if m := s.Makespan(); least == 0 || m < least {
				least = m
			}
		}
		return least, nil
	}
}
