package kernel

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// drain is how long output may still come once the process and its group are gone:
// a program that left the group may hold the pipe open for ever.
const drain = time.Second

// A process has ended.
type process struct {
	// start is just before it was started, end just after it ended.
	start, end time.Time
	// exit is its exit status, or signal what ended it.
	exit   int
	signal syscall.Signal
	output string
}

// killed reports whether SIGKILL ended it, as at the end of a context.
func (p process) killed() bool { return p.signal == syscall.SIGKILL }

// execute runs a command in a process group of its own, until it or its context
// ends, and kills what is left of the group. The error says that it could not be
// started.
func execute(cmd *exec.Cmd) (process, error) {
	// A pipe of our own, since Cmd's would make Wait return, and with it the time end,
	// when the last process that holds it lets go.
	r, w, err := os.Pipe()
	if err != nil {
		return process{}, err
	}
	defer r.Close()
	cmd.Stdout, cmd.Stderr = w, w
	cmd.SysProcAttr = inGroup()
	cmd.Cancel = func() error { return killGroup(cmd.Process) }

	// The parent that the process shall not outlive is the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := process{start: time.Now()}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return process{}, err
	}
	var out clip
	read := make(chan struct{})
	go func() {
		defer close(read)
		io.Copy(&out, r) // ends at the deadline at the latest
	}()
	err = cmd.Wait()
	p.end = time.Now()
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
