//go:build !unix

package external

import (
	"os"
	"os/exec"
)

// newCommand returns a command. These systems have no process groups, and no limit on memory.
func newCommand(path string, args []string, _ uint64) *exec.Cmd { return exec.Command(path, args...) }

// killAll kills the process alone.
func killAll(p *os.Process) { _ = p.Kill() }
