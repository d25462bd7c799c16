//go:build unix

package mps

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"miglab/profiling"
)

// lock keeps other processes from using the daemon's folder. The system lifts it when
// the file is closed or the process dies, even by SIGKILL.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return profiling.ErrBusy
	}
	return err
}

// ownGroup starts a program in a process group of its own.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
