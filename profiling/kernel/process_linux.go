package kernel

import "syscall"

// inGroup makes a process the leader of a new group, and lets it die with the thread that
// starts it.
func inGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
