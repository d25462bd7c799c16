//go:build !unix

package mps

import "os/exec"

// ownGroup does nothing where the system has no such groups.
func ownGroup(*exec.Cmd) {}
