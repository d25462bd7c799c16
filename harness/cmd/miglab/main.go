// Command miglab is the benchmark harness and reproducibility suite for scheduling
// on NVIDIA Multi-Instance GPUs: it generates workloads, schedules and referees
// them, and regenerates the tables and figures of the papers.
//
// Exit codes: 0 done, 1 a check or claim failed, 2 bad input.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	_ "miglab/algorithms"
	_ "miglab/bounds"
	"miglab/harness/nearest"
)

// Exit codes of the command line.
const (
	exitDone        = 0
	exitFailed      = 1
	exitBadInput    = 2
	exitInterrupted = 130
)

// failedError is an outcome that is no mistake of the user: a schedule that the
// referee rejects.
type failedError struct{ error }

func main() { os.Exit(execute(os.Args[1:])) }

// execute runs the command line and returns the exit code.
func execute(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var failed failedError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &failed):
		fmt.Fprintln(os.Stderr, "miglab:", err)
		return exitFailed
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "miglab: interrupted; what was computed is kept, run the same command again to go on")
		return exitInterrupted
	}
	fmt.Fprintln(os.Stderr, "miglab:", err)
	return exitBadInput
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "miglab",
		Short: "Benchmarks and reproductions for scheduling on Multi-Instance GPUs",
		Long: "miglab generates the workloads of five papers on scheduling for NVIDIA Multi-Instance GPUs (MIG),\n" +
			"schedules and referees them, and sets its own tables and figures beside the published numbers.",
		Example: "  miglab reproduce --quick\n" +
			"  miglab schedule --gpu A100 --algorithm far --tasks tasks.csv --format text\n" +
			"  miglab run --track batch --algorithms far,miso --datasets POORSCALING,WIDETIMES",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newList(), newGenerate(), newSchedule(), newCheck(), newBound(), newRun(), newReproduce(), newReadme(), newLeaderboard())
	for _, c := range root.Commands() {
		if c.Args == nil {
			c.Args = cobra.NoArgs
		}
	}
	root.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var names []string
		for _, c := range root.Commands() {
			if c.IsAvailableCommand() {
				names = append(names, c.Name())
			}
		}
		return nearest.Unknown("command", args[0], names)
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; see miglab %s --help", err, strings.TrimPrefix(c.CommandPath(), "miglab "))
	})
	return root
}
