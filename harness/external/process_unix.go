//go:build unix

package external

import (
	"os"
	"syscall"
)

// killGroup kills a process and its group. Where the process has ended already, its
// number still names the group as long as the group has members.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
