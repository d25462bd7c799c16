// Package system helps programs that launch kernels, with features of Linux: it keeps threads and processes on
// processors of their own, starts programs in process groups, and reads the clock that all processes share. No GPU can
// be opened on other systems; there it only kills a process, without its group.
package system

import (
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Processors are processors that were taken. The methods of an empty list have no effect.
type Processors []int

// all returns the processors that the program may use, in ascending order.
var all = sync.OnceValue(func() (list []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	for cpu := 0; len(list) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
})

var (
	mu    sync.Mutex
	taken []int
)

// Take takes n processors that are not taken, until Free. The first one that is not taken is left for the rest of the
// program; if fewer than n others are free, the list is empty. A thread that makes many short launches is not moved
// between processors while it is pinned to one.
func Take(n int) Processors {
	mu.Lock()
	defer mu.Unlock()
	free := slices.DeleteFunc(slices.Clone(all()), func(p int) bool { return slices.Contains(taken, p) })
	if n >= len(free) {
		return nil
	}
	taken = append(taken, free[1:n+1]...)
	return free[1 : n+1]
}

// Free gives the processors back.
func (s Processors) Free() {
	mu.Lock()
	defer mu.Unlock()
	taken = slices.DeleteFunc(taken, func(p int) bool { return slices.Contains(s, p) })
}

// Pin keeps the calling thread, and the processes that it starts, on the processor of a number from 0 until undo is
// called. The goroutine must be locked to its thread.
func (s Processors) Pin(number int) (undo func()) {
	if number >= len(s) {
		return func() {}
	}
	var one, every unix.CPUSet
	one.Set(s[number])
	for _, p := range all() {
		every.Set(p)
	}
	if unix.SchedSetaffinity(0, &one) != nil {
		return func() {}
	}
	return func() { _ = unix.SchedSetaffinity(0, &every) } // it was so before
}

// Lead makes a program the leader of a new process group: Ctrl-C in a terminal does not reach it, and its
// children can be killed with it. If mortal, the program dies with the thread that starts it.
func Lead(cmd *exec.Cmd, mortal bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if mortal {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
}

// Kill kills a process and its group. Even if the process has ended, its number still names the group as long as
// the group has members.
func Kill(p *os.Process) error {
	if syscall.Kill(-p.Pid, syscall.SIGKILL) != nil {
		return os.ErrProcessDone
	}
	return nil
}

// Monotonic reads the clock CLOCK_MONOTONIC.
func Monotonic() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // it cannot fail
	return time.Duration(t.Nano())
}
