package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/algo"
	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/strictcsv"
	"miglab/harness/track"
	"miglab/reports"
	"miglab/reports/leaderboard"
)

type compareFlags struct {
	conditions
	catalog               mig.Catalog
	results, with, format string
	failAbove             float64
	datasets              []string
	a, b                  leaderboard.Side
}

func newCompare() *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare A [B]",
		Short: "Compare two results: paired differences, intervals, wins and losses, the worst instances",
		Args:  cli.Arguments(1, 2, "one or two algorithms"),
		RunE:  f.run,
	}
	f.register(c, &f.catalog, &f.results, &f.with)
	f.addRankBy(c)
	c.Flags().StringSliceVar(&f.datasets, "datasets", nil,
		"only these datasets, joined by commas (default: all that both have)")
	formats := reports.TableFormats
	cli.AddFlag(c, &f.format, "format", "text", cli.OneOf("format", formats), strings.Join(formats, ", "))
	cli.AddFolder(c, &f.results, "results", "results", "folder with the results")
	cli.AddFolder(c, &f.with, "with", "", "folder with the results of B (default: that of A)")
	cli.AddFlag(c, &f.failAbove, "fail-above", "", readPercentage,
		"exit with 1 if B is worse than A by more than this, such as 1%, in the mean of a dataset")
	return c
}

// readPercentage reads a percentage of at least 0, with or without the sign %.
func readPercentage(text string) (float64, error) {
	v, err := strictcsv.Float(strings.TrimSuffix(text, "%"))
	if err != nil || v < 0 {
		return 0, errors.New("a percentage of at least 0, for example 1%")
	}
	return v, nil
}

func (f *compareFlags) run(c *cobra.Command, args []string) error {
	if err := f.sides(c, args); err != nil {
		return err
	}
	if err := f.checkRankBy(); err != nil {
		return err
	}
	all, err := leaderboard.Compare(f.leaderboard(), f.a, f.b)
	if err != nil {
		return rankingError(err)
	}
	if len(all) == 0 {
		return f.missing(c)
	}
	title := fmt.Sprintf("%s against %s on the %s track: %s", f.label(f.b), f.label(f.a), f.track.Name, f.where())
	t := leaderboard.ComparisonTable(title, f.label(f.a), f.label(f.b), all)
	if f.format == "text" {
		t = *t.WithoutEmpty()
	}
	if err := t.Encode(c.OutOrStdout(), f.format); err != nil {
		return err
	}
	if c.Flags().Changed("fail-above") {
		return f.judge(all)
	}
	return nil
}

// judge returns an error that lists the datasets on which B is worse than --fail-above allows, and the datasets that
// were not compared although A has them or --datasets names them.
func (f *compareFlags) judge(all []*leaderboard.Comparison) error {
	ranking := f.leaderboard()
	wanted, err := f.a.Datasets(ranking)
	if err != nil {
		return err
	}
	wanted = append(wanted, ranking.Datasets...)
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	var failed []string
	for _, dataset := range wanted {
		i := slices.IndexFunc(all, func(c *leaderboard.Comparison) bool { return c.Dataset == dataset })
		if i < 0 {
			failed = append(failed, dataset+": not compared")
		} else if n := all[i].MissingB; n > 0 {
			failed = append(failed, fmt.Sprintf("%s: not run on %s", dataset, cli.Count(n, "instances")))
		} else if worse := all[i].Worse(); math.IsInf(worse, 1) {
			failed = append(failed, fmt.Sprintf("%s: %d instances without a valid answer, not %d, or a mean above 0",
				dataset, all[i].FailedB, all[i].FailedA))
		} else if worse > f.failAbove {
			failed = append(failed, fmt.Sprintf("%s: %.3f %%", dataset, worse))
		}
	}
	if failed == nil {
		return nil
	}
	return cli.FailedError{Err: fmt.Errorf("%s is worse than %s by more than %g %% on %d of %d datasets:\n%s",
		f.label(f.b), f.label(f.a), f.failAbove, len(failed), len(wanted), strings.Join(failed, "\n"))}
}

// sides sets the two sides of the comparison and opens their databases.
func (f *compareFlags) sides(c *cobra.Command, args []string) (err error) {
	if len(args) == 1 {
		if f.with == "" {
			return errors.New("compare needs two algorithms, or one and --with another folder of results; " +
				"see miglab compare --help")
		}
		args = append(args, args[0])
	}
	if f.a, err = f.side(c, args[0]); err != nil {
		return err
	}
	if f.b, err = f.side(c, args[1]); err != nil {
		return err
	}
	if err := f.check(c); err != nil {
		return err
	}
	if f.a == f.b && (f.with == "" || filepath.Clean(f.with) == filepath.Clean(f.results)) {
		return fmt.Errorf("both sides are %s in %s; name two algorithms, two versions, or another folder by --with",
			f.label(f.a), f.results)
	}
	if f.a.DB, err = run.Open(f.results, &f.catalog); err != nil {
		return err
	}
	f.b.DB = f.a.DB
	if f.with != "" {
		f.b.DB, err = run.Open(f.with, &f.catalog)
	}
	return err
}

// side reads an argument, ALGORITHM or ALGORITHM@VERSION. Without --track, the first argument also sets the track,
// unless it is a program of several tracks.
func (f *compareFlags) side(c *cobra.Command, text string) (leaderboard.Side, error) {
	name, version := text, 0
	if at := strings.LastIndex(text, "@"); at > 0 {
		if n, err := strconv.Atoi(text[at+1:]); err == nil && n > 0 {
			name, version = text[:at], n
		}
	}
	a, err := algo.Parse(name)
	if err != nil {
		return leaderboard.Side{},
			fmt.Errorf("%w; a program is named by its command, such as 'exec:python3 mine.py'", err)
	}
	if f.a.Algorithm == "" && !c.Flags().Changed("track") && a.Spec.Track != "" {
		f.track = track.MustLookup(a.Spec.Track)
		if f.track.Reference {
			return leaderboard.Side{},
				fmt.Errorf("%s is of the %s track; its results are bounds, which are not compared",
					a.ID, f.track.Name)
		}
	}
	return leaderboard.Side{Algorithm: a.ID, Version: version}, a.CheckTrack(f.track.Name)
}

// leaderboard returns the conditions of boards, with the datasets of the flags.
func (f *compareFlags) leaderboard() leaderboard.Conditions {
	c := f.conditions.leaderboard()
	for _, d := range f.datasets {
		c.Datasets = append(c.Datasets, canonical(d))
	}
	return c
}

// label returns the name of a side in the table.
func (f *compareFlags) label(s leaderboard.Side) string {
	out := s.Algorithm
	if s.Version > 0 {
		out += fmt.Sprintf(" version %d", s.Version)
	}
	if s.DB != nil && s.DB != f.a.DB {
		out += " in " + f.with
	}
	return out
}

// missing returns the error for sides without a common instance. It names the command that computes the missing
// results.
func (f *compareFlags) missing(c *cobra.Command) error {
	ofA, err := f.a.Datasets(f.leaderboard())
	if err != nil {
		return err
	}
	ofB, err := f.b.Datasets(f.leaderboard())
	if err != nil {
		return err
	}
	wanted := slices.Concat(f.datasets, ofA, ofB)
	if len(wanted) == 0 {
		wanted = f.track.Contests[0].Datasets
	}
	algorithms := slices.Compact([]string{f.a.Algorithm, f.b.Algorithm})
	command := []string{
		"miglab", "run", "--track", f.track.Name,
		"--algorithms", strings.Join(algorithms, ","), "--datasets", wanted[0],
	}
	for _, flag := range []string{"gpu", "gpus", "reconfiguration"} {
		if c.Flags().Changed(flag) {
			command = append(command, "--"+flag, c.Flags().Lookup(flag).Value.String())
		}
	}
	switch { // the folder that lacks results
	case f.with != "" && len(ofA) > 0:
		command = append(command, "--results", f.with)
	case c.Flags().Changed("results"):
		command = append(command, "--results", f.results)
	}
	return fmt.Errorf("%s and %s have no instance in common (%s, %s): A has %d datasets and B %d; to fill them: %s",
		f.label(f.a), f.label(f.b), f.track.Name, f.where(), len(ofA), len(ofB), cli.Words(command))
}
