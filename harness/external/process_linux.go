package external

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A mark tells the processes of one program from all others, even if they have left their
// group, session and parent. It is a value of RLIMIT_LOCKS, which processes inherit and
// cannot raise without privileges. Since Linux 2.4.25 the limit has no other effect
// (getrlimit(2)). The mark is 0 if the limit of this process is too low to have marks below.
type mark uint64

func newMark() mark {
	var own unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_LOCKS, &own) != nil || own.Max < 1<<32 {
		return 0
	}
	return mark(1 + rand.Uint64N(own.Max-1))
}

// launch starts a command in a process group of its own. It limits what the process, and each
// process that it starts, may allocate, in bytes, and marks them. Address space that is only
// reserved does not count, since garbage collectors reserve much; so the limit is not
// RLIMIT_AS. The kernel kills the process when the thread that started it ends, which the Go
// runtime does not let happen while miglab runs.
//
// The limits are set before the process runs: the kernel stops a traced process at its first
// instruction. Where tracing is forbidden, the limits do not hold for processes that it
// starts at once.
func launch(command func() *exec.Cmd, memory uint64, m mark) (*exec.Cmd, error) {
	runtime.LockOSThread() // only the thread that traces a process can let it go
	defer runtime.UnlockOSThread()
	start := func(traced bool) (*exec.Cmd, error) {
		cmd := command()
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Ptrace: traced}
		return cmd, cmd.Start()
	}
	cmd, err := start(true)
	traced := err == nil
	if !traced {
		if cmd, err = start(false); err != nil {
			return nil, err
		}
	}
	pid := cmd.Process.Pid
	if traced {
		// It has stopped already, or is about to. Its state is left for Wait to see.
		err = unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
	}
	if err == nil && m != 0 {
		err = unix.Prlimit(pid, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: uint64(m), Max: uint64(m)}, nil)
	}
	if err == nil {
		err = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: memory, Max: memory}, nil)
	}
	if err == nil && traced {
		err = unix.PtraceDetach(pid)
	}
	if err != nil && !errors.Is(err, unix.ESRCH) { // or it has ended
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("its memory cannot be limited to %d bytes: %w", memory, err)
	}
	return cmd, nil
}

// maxScans is how often killAll looks for processes at most.
const maxScans = 100

// killAll kills a process, its group and all processes with its mark. After the process has
// ended, its number still names the group while the group has members. killAll looks for
// processes until it has found no new one and none has ended meanwhile, since a process that
// was not seen to be marked may have started another one.
func killAll(p *os.Process, m mark) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	killed := map[int]bool{}
	for scans, more := 0, m != 0; more && scans < maxScans; scans++ {
		more = false
		for _, pid := range processes() {
			if killed[pid] {
				continue
			}
			var locks unix.Rlimit
			err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &locks)
			if err == nil && mark(locks.Max) == m {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				killed[pid], more = true, true
			}
			more = more || errors.Is(err, unix.ESRCH)
		}
	}
}

// processes lists the numbers of all processes; none where /proc is not mounted.
func processes() (pids []int) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
