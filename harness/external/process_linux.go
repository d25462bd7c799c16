package external

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// inGroup puts a process at the head of a group, and lets it die with the thread that
// starts it. The runtime keeps its threads as long as no goroutine ends that is locked to
// one, and none does.
func inGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// limitMemory limits what a process, and each that it starts, may allocate, in bytes. What
// is only reserved, as garbage collectors do, does not count: hence not RLIMIT_AS.
func limitMemory(pid int, bytes uint64) error {
	err := unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: bytes, Max: bytes}, nil)
	if errors.Is(err, unix.ESRCH) {
		return nil // it has ended
	}
	return err
}
