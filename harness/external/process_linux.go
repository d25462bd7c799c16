package external

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// newCommand returns a command whose process has its own process group. A shell limits the memory, in bytes, that the
// process and each process that it starts may allocate, and then becomes the program. The limit is not RLIMIT_AS,
// because that would count reserved address space, of which garbage collectors take much. The kernel kills the
// process when the thread that started it ends, which the Go runtime does not let happen while miglab runs.
func newCommand(path string, args []string, memory uint64) *exec.Cmd {
	limited := []string{"-c", `ulimit -d "$1" && shift && exec "$0" "$@"`, path, strconv.FormatUint(memory>>10, 10)}
	cmd := exec.Command("/bin/sh", append(limited, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if isPlainText(path) {
		cmd.Err = &os.PathError{Op: "exec", Path: path, Err: syscall.ENOEXEC}
	}
	return cmd
}

// isPlainText reports whether a file is a text that does not name its interpreter. The kernel refuses to
// run it, but a shell would run it as its own script.
func isPlainText(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head)
	return !bytes.HasPrefix(head, []byte("#!")) && !bytes.Contains(head[:n], []byte{0})
}

// killAll kills a process and its group. After the process has ended, its number still
// names the group while the group has members.
func killAll(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
