// Package cli holds what all commands of miglab share: flags that are checked with the command line, progress, and
// the errors that decide the exit code. An error of neither kind is a mistake of the user.
package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// A FailedError is an outcome that is no mistake of the user, such as a schedule that the referee rejects.
type FailedError struct{ Err error }

func (e FailedError) Error() string { return e.Err.Error() }

// Unwrap returns the outcome.
func (e FailedError) Unwrap() error { return e.Err }

// An InterruptedError says what an interrupted command kept, and how to go on.
type InterruptedError struct{ Kept string }

func (e InterruptedError) Error() string { return "interrupted; " + e.Kept }

// Unwrap returns [context.Canceled].
func (e InterruptedError) Unwrap() error { return context.Canceled }

// Arguments checks that a command gets from least to most arguments, each of them a what.
func Arguments(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s needs %s; see %s --help", c.Name(), what, c.CommandPath())
		case len(args) > most && most == 0:
			return fmt.Errorf("%s takes flags only and cannot use %q; see %s --help", c.Name(), args[0],
				c.CommandPath())
		case len(args) > most:
			return fmt.Errorf("%s takes %s and cannot use %q, too; see %s --help", c.Name(), what, args[most],
				c.CommandPath())
		}
		return nil
	}
}
