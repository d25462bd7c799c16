//go:build unix

package mps

import (
	"os/exec"
	"syscall"
)

// ownGroup starts a program in a process group of its own.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
