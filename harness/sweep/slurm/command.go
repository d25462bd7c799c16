package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// A NotFoundError says that a command of Slurm is not installed here.
type NotFoundError struct {
	Command string
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no %s on the PATH: miglab submit slurm works where jobs are submitted, as on a login node; "+
		"miglab run needs no Slurm", e.Command)
}

// A CommandError says why a command of Slurm failed.
type CommandError struct {
	Command string
	// Reason is its own, the last line of what it says.
	Reason string
}

func (e *CommandError) Error() string { return e.Command + ": " + e.Reason }

// runCommand runs a command of Slurm and returns what it prints.
func runCommand(ctx context.Context, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	switch {
	case err == nil:
		return stdout.String(), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", &NotFoundError{name}
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "", &CommandError{name, failureReason(stderr.String(), name, err)}
}

// failureReason returns the last line of what a command says on its standard error.
func failureReason(stderr, name string, err error) string {
	text := strings.TrimSpace(stderr)
	text = text[strings.LastIndexByte(text, '\n')+1:]
	text = strings.TrimPrefix(text, name+": ")
	text = strings.TrimPrefix(text, "error: ")
	if text == "" {
		return err.Error()
	}
	return text
}
