// Package cli has the parts that the commands of miglab share: flags that are checked with the command line, files to
// write, progress, and the errors that decide the exit code. [Main] reports any other error as bad input, except
// [context.Canceled].
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"miglab/harness/nearest"
)

// A FailedError is an outcome that is not a mistake of the user, such as a schedule that the referee rejects.
type FailedError struct{ Err error }

func (e FailedError) Error() string { return e.Err.Error() }

// Unwrap returns the outcome.
func (e FailedError) Unwrap() error { return e.Err }

// An InterruptedError says what an interrupted command kept, and how to go on.
type InterruptedError struct{ Kept string }

func (e InterruptedError) Error() string { return "interrupted; " + e.Kept }

// Unwrap returns [context.Canceled].
func (e InterruptedError) Unwrap() error { return context.Canceled }

// Interruptible does work that does not look at ctx, such as reading a pipe. It returns the error of ctx once ctx is
// done; the work then goes on in a goroutine.
func Interruptible[T any](ctx context.Context, work func() (T, error)) (T, error) {
	var v T
	done := make(chan error, 1)
	go func() {
		result, err := work()
		v = result
		done <- err
	}()
	select {
	case err := <-done:
		return v, err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Arguments returns a check that a command has from least to most arguments. noun names the arguments in errors, as in
// "a file".
func Arguments(least, most int, noun string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s needs %s; see %s --help", c.Name(), noun, c.CommandPath())
		case len(args) > most && most == 0:
			return fmt.Errorf("%s takes flags only and cannot use %q; put a value that has a space in quotes; "+
				"see %s --help", c.Name(), args[0], c.CommandPath())
		case len(args) > most:
			return fmt.Errorf("%s takes %s and cannot use %q, too; see %s --help", c.Name(), noun, args[most],
				c.CommandPath())
		}
		return nil
	}
}

// Output is the standard output of a command. It keeps the first error of a write, so that commands need not check each
// write.
type Output struct {
	File *os.File
	Err  error
}

// Write writes to the file.
func (o *Output) Write(text []byte) (int, error) {
	n, err := o.File.Write(text)
	if o.Err == nil {
		o.Err = err
	}
	return n, err
}

// TerminalWidth returns the columns of the terminal that w writes to. COLUMNS, if it is set, gives their number.
// Without a terminal, or if its size is unknown, TerminalWidth returns 0.
func TerminalWidth(w io.Writer) int {
	out, ok := w.(*Output)
	if !ok || !term.IsTerminal(int(out.File.Fd())) {
		return 0
	}
	n, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err == nil && n > 0 {
		return n
	}
	n, _, _ = term.GetSize(int(out.File.Fd())) // 0 after an error
	return n
}

// Count returns a number and a noun, as in "1 task" and "2 tasks". The singular is the plural without its last s.
func Count(n int, plural string) string {
	if n == 1 {
		plural = strings.TrimSuffix(plural, "s")
	}
	return fmt.Sprint(n, " ", plural)
}

// Words quotes texts for the shell and joins them by spaces.
func Words(texts []string) string {
	return strings.Join(nearest.Names(texts, word), " ")
}

// word quotes a text for the shell, if it needs quotes.
func word(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_=./,:%+@", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
