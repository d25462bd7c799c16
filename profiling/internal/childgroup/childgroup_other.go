//go:build !linux

package childgroup

import (
	"os"
	"os/exec"
)

// Lead does nothing.
func Lead(cmd *exec.Cmd, mortal bool) {}

// Kill kills the process alone.
func Kill(p *os.Process) error { return p.Kill() }
