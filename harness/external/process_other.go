//go:build !unix

package external

import (
	"os"
	"syscall"
)

// inGroup does nothing: there are no process groups.
func inGroup() *syscall.SysProcAttr { return nil }

type mark struct{}

// limit does nothing: these systems cannot limit or mark another process.
func limit(int, uint64) (mark, error) { return mark{}, nil }

// killAll kills the process alone.
func killAll(p *os.Process, _ mark) { _ = p.Kill() }
