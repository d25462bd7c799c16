//go:build unix && !linux

package external

import "syscall"

// inGroup puts a process at the head of a group.
func inGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
