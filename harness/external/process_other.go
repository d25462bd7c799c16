//go:build !unix

package external

import (
	"os"
	"os/exec"
)

// newCommand returns a command. There are no process groups, and its memory cannot be limited.
func newCommand(path string, args []string, _ uint64) *exec.Cmd { return exec.Command(path, args...) }

// killAll kills the process alone.
func killAll(p *os.Process) { _ = p.Kill() }
