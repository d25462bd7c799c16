package external

import (
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// inGroup makes a process the leader of a new process group. The kernel kills the process
// when the thread that started it ends. The Go runtime ends a thread only if a goroutine
// that is locked to it ends, and no goroutine here is.
func inGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// A mark is a value of RLIMIT_LOCKS that tells the processes of one program from all
// others. The kernel has not enforced this limit since Linux 2.4.25 (getrlimit(2)), but
// every process still inherits it. Unlike the process group, the session, the parent and
// the environment, it survives setsid, a double fork and exec, and a process without
// privileges cannot raise it.
type mark uint64

// limit limits what a process, and each process that it starts, may allocate, in bytes, and
// marks it. Address space that is only reserved does not count, since garbage collectors
// reserve much; so the limit is not RLIMIT_AS. A process that the program starts before this
// call, which follows the start at once, is not marked; killAll finds it only by its group.
// The mark is 0 if there is no room for one below the present limit.
func limit(pid int, memory uint64) (mark, error) {
	var locks unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &locks)
	if locks.Max < 1<<32 {
		locks.Max = 0
	} else {
		locks.Max = 1 + rand.Uint64N(locks.Max-1)
		locks.Cur = locks.Max
		err = unix.Prlimit(pid, unix.RLIMIT_LOCKS, &locks, nil)
	}
	if err == nil {
		err = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: memory, Max: memory}, nil)
	}
	if errors.Is(err, unix.ESRCH) {
		err = nil // the process has ended
	}
	return mark(locks.Max), err
}

// killAll kills a process, its group and all marked processes. After the process has ended,
// its number still names the group while the group has members. It looks for marked
// processes until it finds no new one, since they may be starting others.
func killAll(p *os.Process, m mark) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	killed := map[int]bool{}
	for more := m != 0; more; {
		more = false
		for _, pid := range processes() {
			var locks unix.Rlimit
			if killed[pid] || unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &locks) != nil || mark(locks.Max) != m {
				continue
			}
			_ = syscall.Kill(pid, syscall.SIGKILL)
			killed[pid], more = true, true
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
