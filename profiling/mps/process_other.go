//go:build !unix

package mps

import "os/exec"

// ownGroup does nothing, since this system has no process groups.
func ownGroup(*exec.Cmd) {}
