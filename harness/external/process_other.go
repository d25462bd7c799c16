//go:build !unix

package external

import (
	"os"
	"syscall"
)

func inGroup() *syscall.SysProcAttr { return nil }

// killGroup kills the process alone: there are no groups.
func killGroup(p *os.Process) { _ = p.Kill() }
