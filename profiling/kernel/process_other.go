//go:build !unix

package kernel

import (
	"os"
	"syscall"
)

func inGroup() *syscall.SysProcAttr { return nil }

// killGroup kills the process alone: there are no groups.
func killGroup(p *os.Process) error { return p.Kill() }
