package launch

import (
	"os"
	"os/exec"
	"syscall"
)

// leadGroup makes a program the leader of a new process group: Ctrl-C in a terminal does not reach it, and its children
// can be killed with it. The program dies with the thread that starts it.
func leadGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup kills a process and its group. Even if the process has ended, its number still names the group as long as
// the group has members. It returns [os.ErrProcessDone] for every failure: the usual one is that no member is left.
func killGroup(p *os.Process) error {
	if syscall.Kill(-p.Pid, syscall.SIGKILL) != nil {
		return os.ErrProcessDone
	}
	return nil
}
