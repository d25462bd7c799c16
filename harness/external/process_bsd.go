//go:build unix && !linux

package external

import (
	"os"
	"os/exec"
	"syscall"
)

// newCommand returns a command whose process has its own process group. Its memory is not limited on these systems.
func newCommand(path string, args []string, _ uint64) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// killAll kills a process and its group. After the process has ended, its number still
// names the group while the group has members.
func killAll(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
