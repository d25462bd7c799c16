package kernel

import "syscall"

// inGroup puts a process at the head of a group, and lets it die with the thread
// that starts it.
func inGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
