package mps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"miglab/profiling"
	"miglab/profiling/internal/childgroup"
)

// The tools of NVIDIA's driver.
const (
	smi     = "nvidia-smi"
	control = "nvidia-cuda-mps-control"
)

// answerTime is how long a tool may take. Without persistence mode nvidia-smi first
// initialises the GPU, which takes seconds.
const answerTime = 30 * time.Second

// remedies say how to install the tools.
var remedies = map[string]string{
	smi: "install NVIDIA's driver for this GPU: nvidia-smi comes with it and must be in PATH",
	control: "install the driver's compute utilities (on Ubuntu nvidia-compute-utils-VERSION): " + control +
		" must be in PATH",
}

func installed(tool string) error {
	if _, err := exec.LookPath(tool); err != nil {
		err := fmt.Errorf("%w with all its tools", profiling.ErrNoDriver)
		return &profiling.DeviceError{Op: "find " + tool, Err: err, Remedy: remedies[tool]}
	}
	return nil
}

// runTool runs a tool to its end. The tool has a process group of its own, so that Ctrl-C ends
// only this process, which needs the tool to clean up.
func runTool(ctx context.Context, setup func(*exec.Cmd), tool string, args ...string) error {
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	c := exec.CommandContext(limited, tool, args...)
	c.WaitDelay = time.Second
	childgroup.Lead(c, false)
	setup(c)
	err := c.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return fmt.Errorf("%s did not end in %v", tool, answerTime)
	}
	return err
}

// lastWords adds what a tool said last to the error that it ended with.
func lastWords(err error, out []byte) error {
	text := strings.TrimSpace(string(out))
	if text == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]))
}

// query asks nvidia-smi for fields of one GPU, or of all if gpu is empty. It returns a
// record for each line.
func query(ctx context.Context, gpu, what string, fields ...string) ([][]string, error) {
	args := []string{"--query-" + what + "=" + strings.Join(fields, ","), "--format=csv,noheader,nounits"}
	if gpu != "" {
		args = append(args, "--id="+gpu)
	}
	var out bytes.Buffer
	err := runTool(ctx, func(c *exec.Cmd) { c.Stdout, c.Stderr = &out, &out }, smi, args...)
	if err != nil {
		return nil, smiError(lastWords(err, out.Bytes()))
	}
	var records [][]string
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		// The last field may be the path of a program, which may contain the separator.
		record := strings.SplitN(line, ", ", len(fields))
		if len(record) != len(fields) {
			return nil, fmt.Errorf("%s answers %q instead of %s", smi, line, strings.Join(fields, ", "))
		}
		for _, field := range record {
			if strings.Contains(field, "GPU is lost") || strings.Contains(field, "GPU requires reset") {
				return nil, fmt.Errorf("%w: %s answers %q", profiling.ErrLost, smi, line)
			}
		}
		records = append(records, record)
	}
	if gpu != "" && len(records) != 1 {
		return nil, fmt.Errorf("%s answers with %d lines for one GPU", smi, len(records))
	}
	return records, nil
}

// exitErrors are the causes of nvidia-smi's exit status (man nvidia-smi, RETURN VALUE; the numbers are those of
// nvmlReturn_t).
var exitErrors = map[int]error{
	4: profiling.ErrPermission, 9: profiling.ErrNoDriver, 12: profiling.ErrNoDriver,
	15: profiling.ErrLost, 16: profiling.ErrLost,
}

func smiError(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exitErrors[exit.ExitCode()] != nil {
		return fmt.Errorf("%w: %s: %w", exitErrors[exit.ExitCode()], smi, err)
	}
	return fmt.Errorf("%s: %w", smi, err)
}
