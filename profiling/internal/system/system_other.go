//go:build !linux

package system

import (
	"os"
	"os/exec"
	"time"
)

// Processors is always empty.
type Processors []int

// Take returns an empty list: only Linux can keep a thread on a processor.
func Take(int) Processors { return nil }

// Free has no effect.
func (Processors) Free() {}

// Pin has no effect.
func (Processors) Pin(int) (undo func()) { return func() {} }

// Lead has no effect.
func Lead(cmd *exec.Cmd, mortal bool) {}

// Kill kills the process alone.
func Kill(p *os.Process) error { return p.Kill() }

// Monotonic returns 0.
func Monotonic() time.Duration { return 0 }
