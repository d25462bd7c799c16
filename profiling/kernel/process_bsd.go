//go:build unix && !linux

package kernel

import "syscall"

// inGroup makes a process the leader of a new group.
func inGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
