package slurm

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// runCommand runs a command of Slurm and returns what it prints. The error of one that fails has the last line that it
// says.
func runCommand(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	failed, _ := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return string(out), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("no %s on the PATH: miglab submit slurm works where jobs are submitted, as on a login "+
			"node; miglab run needs no Slurm", name)
	case ctx.Err() != nil:
		return "", ctx.Err()
	case failed != nil && len(failed.Stderr) > 0:
		text := strings.TrimSpace(string(failed.Stderr))
		text = strings.TrimPrefix(text[strings.LastIndexByte(text, '\n')+1:], name+": ")
		return "", fmt.Errorf("%s: %s", name, strings.TrimPrefix(text, "error: "))
	}
	return "", fmt.Errorf("%s: %w", name, err)
}
