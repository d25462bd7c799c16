// Command miglab is the benchmark harness and reproducibility suite for scheduling
// on NVIDIA Multi-Instance GPUs: it generates workloads, schedules and referees
// them, and regenerates the tables and figures of the papers.
//
// Exit codes: 0 done, 1 a check, a claim or a cell of run failed, 2 bad input.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	_ "miglab/algorithms"
	_ "miglab/algorithms/corun"
	_ "miglab/algorithms/dispatch"
	_ "miglab/algorithms/placement"
	_ "miglab/algorithms/rl/agents"
	_ "miglab/bounds"
	"miglab/harness/cli"
	"miglab/harness/external"
	"miglab/harness/nearest"
	"miglab/profiling/command"
)

// Exit codes of the command line.
const (
	exitDone        = 0
	exitFailed      = 1
	exitBadInput    = 2
	exitInterrupted = 130
)

func main() { os.Exit(commandLine(os.Args[1:])) }

// commandLine runs the command line and returns the exit code.
func commandLine(args []string) int {
	ctx := interruptible()
	defer external.Close()
	root := newRoot()
	root.SetArgs(args)
	out := cli.Output{File: os.Stdout}
	root.SetOut(&out)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.Err
	}
	code, failed, interrupted := exitBadInput, cli.FailedError{}, cli.InterruptedError{}
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &failed):
		code = exitFailed
	case errors.As(err, &interrupted):
		code, err = exitInterrupted, interrupted
	case errors.Is(err, context.Canceled):
		code, err = exitInterrupted, errors.New("interrupted")
	}
	fmt.Fprintln(os.Stderr, "miglab:", err)
	return code
}

// interruptible returns a context that ends with the first signal to stop. The second signal of a kind
// ends the process, whatever it is doing. Signals of different kinds count apart, because a task of a
// sweep on this machine gets the terminal's interrupt and then the sweep's own TERM.
func interruptible() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for seen := map[os.Signal]bool{}; ; cancel() {
			s := <-signals
			if seen[s] {
				fmt.Fprintln(os.Stderr, "miglab: interrupted again; it ends at once")
				os.Exit(exitInterrupted)
			}
			seen[s] = true
		}
	}()
	return ctx
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "miglab",
		Short:         "Benchmarks and reproductions for scheduling on Multi-Instance GPUs",
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },

		PersistentPreRunE: cli.CheckValues,
	}
	root.Version = version()
	root.SetVersionTemplate("miglab {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newList(), newGenerate(), newImport(), newSchedule(), newCheck(), newBound(), newRun(), newExport(),
		newReproduce(), newReadme(), newLeaderboard(), newCompare(), newCite(), newAudit(), newVerify(), newSite(),
		newSuite(), newTrain(), newSubmit(), newStatus(), newMerge(), newTask(), newCorunSimulation())
	root.AddCommand(command.All()...) // those that need a GPU
	root.SetHelpCommand(newHelp(root))
	for _, c := range root.Commands() {
		for _, own := range append(c.Commands(), c) {
			if own.Args == nil {
				own.Args = cli.Arguments(0, 0, "")
			}
		}
	}
	root.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknownCommand(root, args[0])
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		// The root has no flags of its own, so a mistyped command's flags end up here.
		if c == root && c.Flags().NArg() > 0 {
			return unknownCommand(root, c.Flags().Arg(0))
		}
		return flagError(c, err)
	})
	cli.SetHelp(root, helpTexts, helpNumbers)
	return root
}

// newHelp is cobra's help command, except that an unknown command is an error.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [command]",
		Short:   "Help on a command",
		Example: "  miglab help schedule",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(root, args[0])
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
		Args: cli.Arguments(0, 1, "a command"),
	}
}

func unknownCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("%w; see miglab --help", nearest.Unknown("command", name, names))
}
