//go:build unix

package kernel

import (
	"os"
	"syscall"
)

// killGroup kills a process and its group. Even if the process has ended, its number still
// names the group as long as the group has members.
func killGroup(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); err != nil {
		return os.ErrProcessDone
	}
	return nil
}
