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

// A process is a process that has ended.
type process struct {
	// start is just before it was started, end just after it ended.
	start, end time.Time
	// exit is its exit status; signal is not 0 if a signal ended it.
	exit   int
	signal syscall.Signal
	output string
	// late says that it was still running when its time was up.
	late bool
}

// wasKilled reports whether SIGKILL ended it, as it does at the end of a context.
func (p process) wasKilled() bool { return p.signal == syscall.SIGKILL }

// execute runs a command in a process group of its own until it or its context ends, or its time is up, and kills what
// is left of the group. An error means that it could not be started. The time begins when it has started: on a busy
// machine that takes a while.
func execute(cmd *exec.Cmd, limit time.Duration) (process, error) {
	// With Cmd's own pipe, Wait would not return before every process that holds the pipe has closed it, and the time
	// would be too long.
	r, w, err := os.Pipe()
	if err != nil {
		return process{}, err
	}
	defer r.Close()
	cmd.Stdout, cmd.Stderr = w, w
	leadGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd.Process) }

	// The process dies with the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := process{start: time.Now()}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return process{}, err
	}
	late := time.AfterFunc(limit, func() { killGroup(cmd.Process) })
	var out clip
	read := make(chan struct{})
	go func() {
		defer close(read)
		io.Copy(&out, r) // the read deadline ends this
	}()
	err = cmd.Wait()
	p.end, p.late = time.Now(), !late.Stop()
	killGroup(cmd.Process)
	r.SetReadDeadline(p.end.Add(drain))
	<-read
	if cmd.ProcessState == nil {
		return process{}, err
	}
	p.output = out.String()
	p.exit = cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		p.signal = status.Signal()
	}
	return p, nil
}
