//go:build unix && !linux

package external

import (
	"os"
	"os/exec"
	"syscall"
)

// A mark is of no use here: no process can be asked for it.
type mark struct{}

func newMark() mark { return mark{} }

// launch starts a command in a process group of its own. These systems cannot limit the
// memory of another process.
func launch(command func() *exec.Cmd, _ uint64, _ mark) (*exec.Cmd, error) {
	cmd := command()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, cmd.Start()
}

// killAll kills a process and its group. After the process has ended, its number still
// names the group while the group has members.
func killAll(p *os.Process, _ mark) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
