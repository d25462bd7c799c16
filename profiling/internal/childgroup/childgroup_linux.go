// Package childgroup starts programs in process groups of their own: Ctrl-C in a terminal does not reach them, and
// what they start can be killed with them. On systems other than Linux it does nothing and kills a process alone.
package childgroup

import (
	"os"
	"os/exec"
	"syscall"
)

// Lead makes a program the leader of a new group. If mortal, the program dies with the thread that starts it.
func Lead(cmd *exec.Cmd, mortal bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if mortal {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
}

// Kill kills a process and its group. Even if the process has ended, its number still names the group as long as
// the group has members.
func Kill(p *os.Process) error {
	if syscall.Kill(-p.Pid, syscall.SIGKILL) != nil {
		return os.ErrProcessDone
	}
	return nil
}
