package launch

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// drain is how long to wait for output after the process and its group have ended. A program that left the group may
// hold the pipe open forever.
const drain = time.Second

// An ended is a process that has ended.
type ended struct {
	// start is just before the process was started, end just after it ended.
	start, end time.Time
	// exit is its exit status; signal is not 0 if a signal ended it.
	exit   int
	signal syscall.Signal
	output string
	// late says that it was still running when its time was up.
	late bool
}

// wasKilled reports whether SIGKILL ended the process, as it does at the end of a context.
func (p ended) wasKilled() bool { return p.signal == syscall.SIGKILL }

// execute runs a command in a process group of its own until it or its context ends, or its time is up, and kills what
// is left of the group. An error means that the command could not be started or waited for. The time begins when it has
// started: on a busy machine that takes a while.
func execute(cmd *exec.Cmd, limit time.Duration) (ended, error) {
	// With Cmd's own pipe, Wait would not return before every process that holds the pipe has closed it, and the time
	// would be too long.
	r, w, err := os.Pipe()
	if err != nil {
		return ended{}, err
	}
	defer r.Close()
	cmd.Stdout, cmd.Stderr = w, w
	leadGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd.Process) }

	// The kernel kills the process when the thread that starts it ends (see leadGroup), so the thread must live as
	// long.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := ended{start: time.Now()}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return ended{}, err
	}
	timer := time.AfterFunc(limit, func() { killGroup(cmd.Process) })
	var out clip
	read := make(chan struct{})
	go func() {
		defer close(read)
		io.Copy(&out, r) // the read deadline ends this
	}()
	err = cmd.Wait()
	p.end, p.late = time.Now(), !timer.Stop()
	killGroup(cmd.Process)
	r.SetReadDeadline(p.end.Add(drain))
	<-read
	if cmd.ProcessState == nil {
		return ended{}, err
	}
	p.output = out.String()
	p.exit = cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		p.signal = status.Signal()
	}
	return p, nil
}
