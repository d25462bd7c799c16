//go:build !unix

package kernel

import (
	"os"
	"syscall"
)

func inGroup() *syscall.SysProcAttr { return nil }

// killGroup kills only the process, since this system has no groups.
func killGroup(p *os.Process) error { return p.Kill() }
