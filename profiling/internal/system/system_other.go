//go:build !linux

package system

import (
	"os"
	"os/exec"
	"time"
)

// Processors are always none.
type Processors []int

// Take takes nothing: only Linux can keep a thread on a processor.
func Take(int) Processors { return nil }

// Free does nothing.
func (Processors) Free() {}

// Pin does nothing.
func (Processors) Pin(int) (undo func()) { return func() {} }

// Lead does nothing.
func Lead(cmd *exec.Cmd, mortal bool) {}

// Kill kills the process alone.
func Kill(p *os.Process) error { return p.Kill() }

// Monotonic returns 0.
func Monotonic() time.Duration { return 0 }
