package external

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// newCommand returns a command whose process has a process group of its own. A shell limits what the
// process, and each process that it starts, may allocate, in bytes, and then becomes the program.
// Address space that is only reserved does not count, since garbage collectors reserve much; so the
// limit is not RLIMIT_AS. The kernel kills the process when the thread that started it ends, which
// the Go runtime does not let happen while miglab runs.
func newCommand(path string, args []string, memory uint64) *exec.Cmd {
	limited := []string{"-c", `ulimit -d "$0" && exec "$@"`, strconv.FormatUint(memory>>10, 10), path}
	cmd := exec.Command("/bin/sh", append(limited, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// killAll kills a process and its group. After the process has ended, its number still
// names the group while the group has members.
func killAll(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
