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
	"miglab/profiling/internal/system"
)

// patience is how long the daemon may take to start and to end. Tests have less.
var patience = 20 * time.Second

const (
	// quitTime is how long a quitting daemon waits for its clients, in seconds. Then it ends its servers.
	quitTime = 10
	// pollInterval is the pause between questions to a daemon that starts or ends.
	pollInterval = 20 * time.Millisecond
	// socketPath is the length of the longest path of a UNIX socket on Linux. With a longer
	// one the daemon starts but cannot be reached.
	socketPath = 107
	// answerTime is how long the control program may take.
	answerTime = 30 * time.Second
	// longestSocket is the daemon's socket with the longest name.
	longestSocket = "control_privileged"
)

// control is the program of NVIDIA's driver that starts daemons and talks to them.
const control = "nvidia-cuda-mps-control"

func installed() error {
	if _, err := exec.LookPath(control); err != nil {
		return &profiling.DeviceError{
			Op: "find " + control, Err: fmt.Errorf("%w with all its tools", profiling.ErrNoDriver),
			Remedy: "install the driver's compute utilities (on Ubuntu nvidia-compute-utils-VERSION): " + control +
				" must be in PATH",
		}
	}
	return nil
}

// runControl runs the control program to its end. It has a process group of its own, so that Ctrl-C ends
// only this process, which needs the program to clean up.
func runControl(ctx context.Context, setup func(*exec.Cmd), args ...string) error {
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	c := exec.CommandContext(limited, control, args...)
	c.WaitDelay = time.Second
	system.Lead(c, false)
	setup(c)
	err := c.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return fmt.Errorf("%s did not end in %v", control, answerTime)
	}
	return err
}

// lastWords adds what the program said last to the error that it ended with.
func lastWords(err error, out []byte) error {
	text := strings.TrimSpace(string(out))
	if text == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]))
}

// A daemon is an MPS control daemon with a folder of its own.
type daemon struct {
	// gpu is the UUID of the only GPU or instance that it sees.
	gpu string
	// pipe and log are its folders.
	pipe, log string
}

// newDaemon makes the folders of the daemon of a GPU or an instance in a folder.
func newDaemon(dir, gpu string) (daemon, error) {
	dir, err := filepath.Abs(filepath.Join(dir, "mps-"+gpu))
	if err != nil {
		return daemon{}, err
	}
	d := daemon{gpu: gpu, pipe: filepath.Join(dir, "pipe"), log: filepath.Join(dir, "log")}
	if n := len(filepath.Join(d.pipe, longestSocket)) - socketPath; n > 0 {
		return daemon{}, fmt.Errorf("%s is %d bytes too long for the daemon's sockets; choose a shorter folder", d.pipe,
			n)
	}
	return d, errors.Join(os.MkdirAll(d.pipe, 0o700), os.MkdirAll(d.log, 0o700))
}

func (d daemon) env() []string {
	return append(profiling.Environ(),
		"CUDA_VISIBLE_DEVICES="+d.gpu, "CUDA_MPS_PIPE_DIRECTORY="+d.pipe, "CUDA_MPS_LOG_DIRECTORY="+d.log)
}

func (d daemon) ask(ctx context.Context, line string) (string, error) {
	var out bytes.Buffer
	err := runControl(ctx, func(c *exec.Cmd) {
		c.Env, c.Stdin, c.Stdout, c.Stderr = d.env(), strings.NewReader(line+"\n"), &out, &out
	})
	if err != nil {
		return "", fmt.Errorf("the MPS daemon does not answer: %w", lastWords(err, out.Bytes()))
	}
	return strings.TrimSpace(out.String()), nil
}

// askLimit is a question that every daemon answers.
const askLimit = "get_default_active_thread_percentage"

// check fails unless the daemon answers and lets its clients use the whole GPU.
func (d daemon) check(ctx context.Context) error {
	answer, err := d.ask(ctx, askLimit)
	if err != nil {
		return err
	}
	limit, err := strconv.ParseFloat(answer, 64)
	if err != nil {
		return fmt.Errorf("the MPS daemon answers %q instead of a percentage", answer)
	}
	if limit != 100 {
		return fmt.Errorf("the MPS daemon limits all clients to %v %% of the multiprocessors instead of 100 %%", limit)
	}
	return nil
}

// gone reports whether there is no daemon. A daemon that does not answer is not gone.
func (d daemon) gone(ctx context.Context) bool {
	_, err := d.ask(ctx, askLimit)
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.Exited()
}

// start ends a daemon that a killed run left behind, and starts a new one.
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
		if err = d.check(ctx); err == nil {
			return nil
		}
	}
	err = &profiling.DeviceError{Op: "start the MPS daemon", Err: err, Remedy: "its logs are in " + d.log}
	// It may run even though it did not start well.
	return errors.Join(err, d.stop(context.WithoutCancel(ctx)))
}

// launch starts the daemon, which goes into the background. Its output goes to a file,
// since it may keep the output open.
func (d daemon) launch(ctx context.Context) error {
	f, err := os.Create(filepath.Join(d.log, "start.log"))
	if err != nil {
		return err
	}
	defer f.Close()
	err = runControl(ctx, func(c *exec.Cmd) { c.Env, c.Stdout, c.Stderr = d.env(), f, f }, "-d")
	if err != nil {
		text, _ := os.ReadFile(f.Name()) // if this fails, the error has no last words
		return lastWords(err, text)
	}
	return nil
}

func (d daemon) stop(ctx context.Context) error {
	_, err := d.ask(ctx, fmt.Sprintf("quit -t %d", quitTime))
	if d.wait(ctx, func() bool { return d.gone(ctx) }) == nil {
		return nil // even if somebody else ended it
	}
	if err == nil {
		err = errors.New("it does not end")
	}
	return &profiling.DeviceError{
		Op: "end the MPS daemon", Err: err,
		Remedy: fmt.Sprintf("end it by hand: echo quit | CUDA_MPS_PIPE_DIRECTORY=%s %s", d.pipe, control),
	}
}

// wait asks until the answer is yes, for at most patience.
func (d daemon) wait(ctx context.Context, yes func() bool) error {
	for end := time.Now().Add(patience); !yes(); {
		if time.Now().After(end) {
			return fmt.Errorf("the MPS daemon has not answered after %v", patience)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval):
		}
	}
	return nil
}

// servers returns the processes through which the daemon's clients use the GPU.
func (d daemon) servers(ctx context.Context) ([]int, error) {
	answer, err := d.ask(ctx, "get_server_list")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, word := range strings.Fields(answer) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("the MPS daemon answers %q instead of a list of its servers", answer)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}
