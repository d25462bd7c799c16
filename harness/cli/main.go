package cli

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"miglab/harness/nearest"
)

// Exit codes of a command line.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitBadInput    = 2
	ExitInterrupted = 130
)

// Main runs a command line and returns the exit code.
func Main(root *cobra.Command, args []string) int {
	root.SetArgs(args)
	out := Output{File: os.Stdout}
	root.SetOut(&out)
	err := root.ExecuteContext(interruptible())
	if err == nil {
		err = out.Err
	}
	code, failed, interrupted := ExitBadInput, FailedError{}, InterruptedError{}
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &failed):
		code = ExitFailed
	case errors.As(err, &interrupted):
		code, err = ExitInterrupted, interrupted
	case errors.Is(err, context.Canceled):
		code, err = ExitInterrupted, errors.New("interrupted")
	}
	fmt.Fprintln(os.Stderr, "miglab:", err)
	return code
}

// interruptible returns a context that ends with the first signal to stop. The second signal of a kind ends the process
// at once. Signals of different kinds count separately, because a process that a script started may get the terminal's
// SIGINT and then the script's SIGTERM.
func interruptible() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for seen := map[os.Signal]bool{}; ; cancel() {
			s := <-signals
			if seen[s] {
				fmt.Fprintln(os.Stderr, "miglab: interrupted again; it ends at once")
				os.Exit(ExitInterrupted)
			}
			seen[s] = true
		}
	}()
	return ctx
}

// NewRoot returns the command miglab with its subcommands. It has its own flag --version: to change the text of cobra's
// flag takes a template, and with templates the linker keeps every method of the program.
func NewRoot(short, version string, commands ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use: "miglab", Short: short, SilenceErrors: true, SilenceUsage: true, PersistentPreRunE: CheckValues,
	}
	asked := root.Flags().BoolP("version", "v", false, "version for miglab")
	root.RunE = func(c *cobra.Command, _ []string) error {
		if !*asked {
			return c.Help()
		}
		_, err := fmt.Fprintln(c.OutOrStdout(), "miglab", version)
		return err
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(commands...)
	root.SetHelpCommand(newHelp(root))
	for _, c := range root.Commands() {
		for _, own := range append(c.Commands(), c) {
			if own.Args == nil {
				own.Args = Arguments(0, 0, "")
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
		// The root has only --version, so the flags of a mistyped command fail here.
		if c == root && c.Flags().NArg() > 0 {
			return unknownCommand(root, c.Flags().Arg(0))
		}
		return flagError(c, err)
	})
	return root
}

// newHelp returns cobra's help command, except that an unknown command or subcommand is an error.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [command]",
		Short:   "Help on a command",
		Example: "  miglab help schedule",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, _ := root.Find(args) // c is the last command that exists
			if len(rest) > 0 {
				return unknownCommand(c, rest[0])
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
}

// SetHelp sets the help of a command and of its subcommands from their files in texts, named by [HelpFile]. A file has
// a description, the line "Examples:" and examples. fill replaces placeholders in it.
func SetHelp(c *cobra.Command, texts embed.FS, fill *strings.Replacer) {
	if raw, err := texts.ReadFile(HelpFile(c)); err == nil {
		long, examples, _ := strings.Cut(fill.Replace(string(raw)), "Examples:\n")
		c.Long, c.Example = strings.TrimSuffix(long, "\n\n"), strings.TrimSuffix(examples, "\n")
	}
	for _, sub := range c.Commands() {
		SetHelp(sub, texts, fill)
	}
}

// HelpFile returns the name of a command's help file. For example, miglab suite run has help/suite-run.txt.
func HelpFile(c *cobra.Command) string {
	return "help/" + strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "miglab "), " ", "-") + ".txt"
}

// unknownCommand returns the error for a name that is not a subcommand of parent.
func unknownCommand(parent *cobra.Command, name string) error {
	var names []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("%w; see %s --help", nearest.Unknown("command", name, names), parent.CommandPath())
}

// flagError turns an error of the parser into an error that says what would be right.
func flagError(c *cobra.Command, err error) error {
	if own, ok := errors.AsType[ValueError](err); ok {
		return own
	}
	if missing, ok := errors.AsType[*pflag.NotExistError](err); ok && len(missing.GetSpecifiedName()) > 1 {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, "--"+f.Name)
			}
		})
		unknown, _ := errors.AsType[*nearest.UnknownError](nearest.Unknown("flag",
			"--"+missing.GetSpecifiedName(), known))
		unknown.Known = nil // a list of all flags would be long; --help has it
		err = unknown
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if want := wants[wrong.GetFlag().Value.Type()]; want != "" {
			err = fmt.Errorf("--%s %s: %s", wrong.GetFlag().Name, wrong.GetValue(), want)
		}
	}
	return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
}

// wants describes the values of the flags of pflag's own types.
var wants = map[string]string{
	"int": "a whole number", "int64": "a whole number", "uint64": "a whole number from 0", "float64": "a number",
	"bool": "true or false", "intSlice": "whole numbers, separated by commas",
	"stringToString": "name=value, separated by commas",
}
