package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"miglab/datasets/suite"
	"miglab/harness/algo"
	"miglab/harness/atomicfile"
	"miglab/harness/cli"
	"miglab/harness/run"
	"miglab/harness/wholefile"
	board "miglab/reports/suite"
)

func newSuite() *cobra.Command {
	c := &cobra.Command{
		Use:   "suite",
		Short: "The frozen instances of suite " + suite.Version + ": run, rank, export, and hand in a better schedule",
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSuiteList(), newSuiteExport(), newSuiteSubmit(), newSuiteCheck(),
		newSuiteRanking("run", "Run algorithms on the suite and print its board", true),
		newSuiteRanking("board", "Print how far results are from the bounds and from the best known ones", false))
	return c
}

func newSuiteList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Example: "  miglab suite list",
		Short:   "Count the instances by class, and those whose best known result is proven to be optimal",
		RunE: func(c *cobra.Command, _ []string) error {
			return board.Classes(suite.Frozen()).Text(c.OutOrStdout())
		},
	}
}

// suiteFlags are the flags of commands that compare algorithms on the suite.
type suiteFlags struct {
	cellFlags
	algorithms []string
	division   string
	declared   bool
}

// newSuiteRanking returns a command that compares algorithms. computes says that it runs the missing cells.
func newSuiteRanking(name, short string, computes bool) *cobra.Command {
	var f suiteFlags
	c := &cobra.Command{
		Use: name,
		Example: "  miglab suite " + name + " --algorithms far,lns --division closed\n" +
			"  miglab suite " + name + " --algorithms far,'exec:python3 mine.py' --declare",
		Short: short,
		RunE:  func(c *cobra.Command, _ []string) error { return f.rank(c, computes) },
	}
	f.cellFlags.register(c, "folder for results", "cells")
	c.Flags().StringSliceVar(&f.algorithms, "algorithms", nil,
		"algorithms, separated by commas (miglab list algorithms), or exec: and a program")
	cli.RequireFlags(c, "algorithms")
	cli.AddFlag(c, &f.division, "division", "closed", cli.OneOf("division", []string{"closed", "open"}),
		"closed: nothing was trained or tuned on the suite; open: all is allowed")
	c.Flags().BoolVar(&f.declared, "declare", false,
		"declare that nothing that was learned, and no program of your own, has seen the suite")
	return c
}

// rank computes the cells of the algorithms if computes is set, and prints the comparison.
func (f *suiteFlags) rank(c *cobra.Command, computes bool) error {
	a := suite.Frozen()
	names, cells, err := f.entries(c, a)
	if err != nil {
		return err
	}
	return f.runCells(c, "cells", func(e *run.Engine) error {
		var failures []run.Failure
		if computes {
			if failures, err = computeCells(c, e, slices.Concat(cells...)); err != nil {
				return err
			}
		}
		results := make([][]suite.Result, len(names))
		for i := range names {
			if results[i], err = a.Results(e.Store, cells[i]); err != nil {
				return err
			}
		}
		t := board.Table(names, results)
		t.Title = "Suite " + suite.Version + ", " + f.division + " division, miglab " + version()
		if err := t.Text(c.OutOrStdout()); err != nil {
			return err
		}
		printFailures(c.ErrOrStderr(), failures)
		return failedCells(countCells(failures, true) + countCells(failures, false))
	})
}

// entries returns the names of the algorithms and the cells of each: its instances of a track. A program that does
// several tracks has an entry for each. In the closed division, entries refuses algorithms that may have learned from
// the suite.
func (f *suiteFlags) entries(c *cobra.Command, a *suite.Archive) (names []string, cells [][]run.Span, err error) {
	for _, id := range f.algorithms {
		parsed, err := algo.Parse(id)
		if err != nil {
			return nil, nil, err
		}
		learned := parsed.Weights() != "" || parsed.Spec.Open != nil
		if learned && f.division == "closed" && !f.declared {
			return nil, nil, fmt.Errorf("%s may have learned from the suite; if it has not, --declare that, "+
				"and otherwise run --division open", parsed.ID)
		}
		var trackErr error           // a program may not do every track
		var skipped, chosen []string // the skipped tracks have their errors
		declines := true             // the program said of each skipped track that it does not do it
		for _, track := range board.Tracks(a) {
			if parsed.Spec.Track != "" && parsed.Spec.Track != track {
				continue
			}
			own, err := board.Cells(a, track, id)
			if err != nil {
				failure, ok := errors.AsType[algo.Failure](err)
				declines = declines && ok && failure.FailureKind() == run.KindInfeasible
				trackErr, skipped = err, append(skipped, track+": "+err.Error())
				continue
			}
			names, cells, chosen = append(names, parsed.ID), append(cells, own), append(chosen, track)
		}
		found := len(chosen) > 0
		switch {
		case trackErr != nil && (parsed.Spec.Track != "" || !found):
			return nil, nil, trackErr
		case trackErr != nil && declines:
			fmt.Fprintf(c.ErrOrStderr(), "miglab: %s runs on %s; it is for no other track\n", parsed.ID,
				strings.Join(chosen, " and "))
		case trackErr != nil:
			fmt.Fprintf(c.ErrOrStderr(), "miglab: not on %s\n", strings.Join(skipped, "; "))
		case !found:
			return nil, nil, fmt.Errorf("the suite has no instances for %s, which is of the %s track", id,
				parsed.Spec.Track)
		}
	}
	return names, cells, nil
}

func newSuiteExport() *cobra.Command {
	var out string
	var check bool
	c := &cobra.Command{
		Use:     "export",
		Example: "  miglab suite export --out instances/",
		Short:   "Write every instance as JSON for other solvers and as CSV, and tables of what is known",
		RunE: func(c *cobra.Command, _ []string) error {
			a := suite.Frozen()
			result, export := "written to", writeExport
			if check {
				result, export = "have the hash of suite "+suite.Version+" in", checkExport
			}
			if err := export(a, out); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "%d instances %s %s\n", len(a.Instances), result, out)
			return err
		},
	}
	cli.AddFolder(c, &out, "out", "", "folder for the files")
	c.Flags().BoolVar(&check, "check", false,
		"write nothing, and check that the folder has the files that would be written")
	cli.RequireFlags(c, "out")
	return c
}

// refuseLinks returns an error if a folder has links or pipes, which could lead a write elsewhere.
func refuseLinks(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() && !e.Type().IsRegular() {
			return fmt.Errorf("%s is not a regular file; remove it, or export to another folder",
				filepath.Join(dir, e.Name()))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// exported calls use with the name and the contents of each file of an export: the tables of the archive, and each
// instance as JSON and CSV.
func exported(a *suite.Archive, use func(name string, text []byte) error) error {
	if err := a.Tables(use); err != nil {
		return err
	}
	for _, in := range a.Instances {
		text, csv, err := a.Files(in.ID)
		if err != nil {
			return err
		}
		if err := errors.Join(use(in.ID+".json", text), use(in.ID+".csv", csv)); err != nil {
			return err
		}
	}
	return nil
}

// writeExport writes the files of an export.
func writeExport(a *suite.Archive, dir string) error {
	if err := errors.Join(refuseLinks(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	return exported(a, func(name string, text []byte) error { return atomicfile.Write(filepath.Join(dir, name), text) })
}

// checkExport checks that the files of an export have the bytes that writeExport writes.
func checkExport(a *suite.Archive, dir string) error {
	return exported(a, func(name string, want []byte) error {
		path := filepath.Join(dir, name)
		text, err := wholefile.Read(path, mostSubmitted)
		if err == nil && !bytes.Equal(text, want) {
			err = cli.FailedError{Err: fmt.Errorf("%s: it differs from the file that suite export writes", path)}
		}
		return err
	})
}

func newSuiteSubmit() *cobra.Command {
	var out, id, by string
	c := &cobra.Command{
		Use:     "submit file.json",
		Example: "  miglab suite submit better.json --id batch-004 --by 'Ada Lovelace'",
		Short:   "Verify a schedule of an instance of the batch track and compare it with the best known one",
		Args:    cli.Arguments(1, 1, "one file.json"),
		RunE: func(c *cobra.Command, args []string) error {
			path := args[0]
			text, err := cli.Interruptible(c.Context(), func() ([]byte, error) { return readSubmission(path) })
			if err != nil {
				return err
			}
			s, err := cli.Interruptible(c.Context(), func() (*suite.Submission, error) {
				if id == "" {
					return suite.ReadSubmission(text)
				}
				wrapped, err := suite.Wrap(text, id, by, time.Now())
				if err != nil {
					return nil, err
				}
				return suite.ReadSubmission(wrapped)
			})
			if err != nil {
				return fmt.Errorf("%s is refused: %w", path, err)
			}
			j, err := s.Submit(c.Context(), out)
			if err != nil {
				return fmt.Errorf("%s is refused: %w", path, err)
			}
			return showJudgement(c, j, path)
		},
	}
	c.Flags().StringVar(&id, "id", "", "instance, if the file is a schedule alone, as miglab schedule writes it")
	c.Flags().StringVar(&by, "by", "", "who hands in the schedule of --id")
	c.MarkFlagsRequiredTogether("id", "by")
	cli.AddFolder(c, &out, "out", "",
		"folder for the files of the archive that an improvement changes, such as datasets/suite/"+suite.Version+
			"; those that it has are used")
	return c
}

// mostSubmitted is the largest size of a file of an export or of a submission, in bytes.
const mostSubmitted = 64 << 20

// readSubmission returns the text of a file, or of standard input if the path is "-".
func readSubmission(path string) ([]byte, error) {
	if path == "-" {
		return wholefile.ReadAll(os.Stdin, "standard input", mostSubmitted)
	}
	return wholefile.Read(path, mostSubmitted)
}

// showJudgement prints the judgement of a submission. A submission that does not improve a result fails.
func showJudgement(c *cobra.Command, j *suite.Judgement, path string) error {
	_, err := fmt.Fprintf(c.OutOrStdout(), "%s: %s, makespan %.6f s, %+.4f %% against the best known %.6f s; "+
		"%.4f %% above the bound %.6f s\n", j.ID, j.Schedule, j.Value, j.Percent, j.Best, j.Gap, j.Bound)
	if err == nil && !j.Improved {
		err = cli.FailedError{Err: fmt.Errorf("%s changes nothing: the schedule or the bound must be better than "+
			"what is known", path)}
	}
	return err
}

func newSuiteCheck() *cobra.Command {
	var f cellFlags
	c := &cobra.Command{
		Use:     "check",
		Example: "  miglab suite check",
		Short:   "Verify all that is known about the instances: hashes, schedules, certificates and classes",
		RunE: func(c *cobra.Command, _ []string) error {
			a := suite.Frozen()
			return f.runCells(c, "cells", func(e *run.Engine) error {
				if err := a.Check(c.Context(), e); err != nil {
					return cli.FailedError{Err: err}
				}
				_, err := fmt.Fprintf(c.OutOrStdout(), "ok: %d instances of suite %s\n", len(a.Instances),
					suite.Version)
				return err
			})
		},
	}
	f.register(c, "folder for the results that are computed again", "cells")
	return c
}
