//go:build !unix

package mps

import (
	"os"
	"os/exec"

	"miglab/profiling"
)

// lock refuses: MPS exists on Linux only.
func lock(*os.File) error { return profiling.ErrUnsupported }

// ownGroup does nothing where the system has no such groups.
func ownGroup(*exec.Cmd) {}
