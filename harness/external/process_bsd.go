//go:build unix && !linux

package external

import (
	"os"
	"syscall"
)

// inGroup makes a process the leader of a new process group.
func inGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

type mark struct{}

// limit does nothing: these systems cannot limit or mark another process.
func limit(int, uint64) (mark, error) { return mark{}, nil }

// killAll kills a process and its group. After the process has ended, its number still
// names the group while the group has members.
func killAll(p *os.Process, _ mark) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
