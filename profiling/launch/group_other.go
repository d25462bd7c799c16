//go:build !linux

package launch

import (
	"os"
	"os/exec"
)

// leadGroup has no effect.
func leadGroup(*exec.Cmd) {}

// killGroup kills the process alone.
func killGroup(p *os.Process) error { return p.Kill() }
