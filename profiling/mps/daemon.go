package mps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"miglab/profiling"
)

const (
	// patience is how long the daemon may take to start and to end.
	patience = 20 * time.Second
	// quitTime is how long a quitting daemon waits for clients, in seconds, before it
	// ends its servers all the same.
	quitTime = 10
	// pollInterval is how often a daemon is asked that has to start or to end.
	pollInterval = 20 * time.Millisecond
	// socketPath is the longest path of a UNIX socket on Linux; with a longer one the
	// daemon starts and cannot be reached.
	socketPath = 107
	// longestSocket is the longest name that the daemon gives to a socket.
	longestSocket = "control_privileged"
)

// A daemon is an MPS control daemon with a folder of its own.
type daemon struct {
	// gpu is the UUID of the one GPU that it sees.
	gpu string
	// pipe and log are its folders.
	pipe, log string
	patience  time.Duration
}

// newDaemon makes the folders of a daemon.
func newDaemon(dir, gpu string, patience time.Duration) (daemon, error) {
	d := daemon{gpu: gpu, pipe: filepath.Join(dir, "pipe"), log: filepath.Join(dir, "log"), patience: patience}
	if n := len(filepath.Join(d.pipe, longestSocket)); n > socketPath {
		return daemon{}, fmt.Errorf("%s is %d bytes too long for the daemon's sockets; choose a shorter folder", d.pipe, n-socketPath)
	}
	return d, errors.Join(os.MkdirAll(d.pipe, 0o700), os.MkdirAll(d.log, 0o700))
}

// env is the environment in which the daemon and its control program run.
func (d daemon) env() []string {
	return append(
		profiling.Environ(),
		"CUDA_VISIBLE_DEVICES="+d.gpu,
		"CUDA_MPS_PIPE_DIRECTORY="+d.pipe,
		"CUDA_MPS_LOG_DIRECTORY="+d.log,
	)
}

// ask gives the daemon a command and returns the answer.
func (d daemon) ask(ctx context.Context, line string) (string, error) {
	var out bytes.Buffer
	err := run(ctx, func(c *exec.Cmd) {
		c.Env, c.Stdin, c.Stdout, c.Stderr = d.env(), strings.NewReader(line+"\n"), &out, &out
	}, control)
	if err != nil {
		return "", fmt.Errorf("the MPS daemon does not answer: %w", lastWords(err, out.Bytes()))
	}
	return strings.TrimSpace(out.String()), nil
}

// askLimit is the question that every daemon answers.
const askLimit = "get_default_active_thread_percentage"

// check says whether the daemon answers and leaves its clients the whole GPU.
func (d daemon) check(ctx context.Context) error {
	answer, err := d.ask(ctx, askLimit)
	if err != nil {
		return err
	}
	limit, err := strconv.ParseFloat(answer, 64)
	if err != nil {
		return fmt.Errorf("the MPS daemon answers %q where a percentage was asked for", answer)
	}
	if limit != 100 {
		return fmt.Errorf("the MPS daemon limits all clients to %v %% of the multiprocessors; it should be 100 %%", limit)
	}
	return nil
}

// gone says whether there is no daemon. One that is there and silent is not gone.
func (d daemon) gone(ctx context.Context) bool {
	_, err := d.ask(ctx, askLimit)
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.Exited()
}

// start ends what a killed run has left and starts the daemon.
func (d daemon) start(ctx context.Context) error {
	if !d.gone(ctx) {
		if err := d.stop(ctx); err != nil {
			return err
		}
	}
	err := d.launch(ctx)
	if err == nil {
		err = d.wait(ctx, func() bool { return !d.gone(ctx) })
	}
	if err == nil {
		err = d.check(ctx)
	}
	if err == nil {
		return nil
	}
	err = &profiling.DeviceError{Op: "start the MPS daemon", Err: err, Remedy: "its logs are in " + d.log}
	// What did not start well may be there all the same.
	return errors.Join(err, d.stop(context.WithoutCancel(ctx)))
}

// launch starts the daemon, which goes into the background. It may keep what it
// prints to, so that is a file.
func (d daemon) launch(ctx context.Context) error {
	f, err := os.Create(filepath.Join(d.log, "start.log"))
	if err != nil {
		return err
	}
	defer f.Close()
	err = run(ctx, func(c *exec.Cmd) { c.Env, c.Stdout, c.Stderr = d.env(), f, f }, control, "-d")
	if err != nil {
		text, _ := os.ReadFile(f.Name()) // the error alone will have to do
		return lastWords(err, text)
	}
	return nil
}

// stop ends the daemon and its servers.
func (d daemon) stop(ctx context.Context) error {
	_, err := d.ask(ctx, fmt.Sprintf("quit -t %d", quitTime))
	if d.wait(ctx, func() bool { return d.gone(ctx) }) == nil {
		return nil // whoever ended it
	}
	if err == nil {
		err = errors.New("it does not end")
	}
	return &profiling.DeviceError{
		Op: "end the MPS daemon", Err: err,
		Remedy: fmt.Sprintf("end it by hand: echo quit | CUDA_MPS_PIPE_DIRECTORY=%s %s", d.pipe, control),
	}
}

// wait asks again and again until the answer is yes.
func (d daemon) wait(ctx context.Context, yes func() bool) error {
	for end := time.Now().Add(d.patience); !yes(); {
		if time.Now().After(end) {
			return fmt.Errorf("the MPS daemon is not there after %v", d.patience)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval):
		}
	}
	return nil
}

// servers are the processes through which the daemon's clients use the GPU.
func (d daemon) servers(ctx context.Context) ([]int, error) {
	answer, err := d.ask(ctx, "get_server_list")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, word := range strings.Fields(answer) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("the MPS daemon answers %q where its servers were asked for", answer)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}
