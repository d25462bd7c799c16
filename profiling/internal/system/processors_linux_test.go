package system

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func current(t *testing.T) (set unix.CPUSet) {
	t.Helper()
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	return set
}

// Threads have processors of their own, if there are enough, and get the others back.
func TestPin(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := current(t)
	threads := before.Count() - 1
	cpus := Take(threads)
	if len(cpus) != threads {
		t.Fatalf("%d processors, want %d", len(cpus), threads)
	}
	seen := map[unix.CPUSet]bool{}
	for i := range threads {
		undo := cpus.Pin(i)
		pinned := current(t)
		undo()
		if seen[pinned] || pinned.Count() != 1 {
			t.Errorf("thread %d of %d is on %d processors, or on those of another", i, threads, pinned.Count())
		}
		seen[pinned] = true
	}
	if more := Take(1); len(more) != 0 {
		t.Error("a processor was taken twice, or the program has none left")
	}
	undo := cpus.Pin(threads) // there is none of that number
	pinned := current(t)
	undo()
	if after := current(t); pinned != before || after != before {
		t.Errorf("on %d processors with too few, on %d afterwards, want %d", pinned.Count(), after.Count(), before.Count())
	}
	cpus.Free()
	if again := Take(threads); len(again) != threads {
		t.Errorf("%d processors of those that were given back, want %d", len(again), threads)
	} else {
		again.Free()
	}
}

// A process that a pinned thread starts is on the thread's processor.
func TestProcessesInheritTheProcessor(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cpus := Take(1)
	defer cpus.Free()
	if len(cpus) == 0 {
		t.Skip("there is one processor")
	}
	undo := cpus.Pin(0)
	out, err := exec.CommandContext(t.Context(), "grep", "Cpus_allowed_list", "/proc/self/status").Output()
	undo()
	if fields := strings.Fields(string(out)); err != nil || len(fields) != 2 || strings.ContainsAny(fields[1], ",-") {
		t.Errorf("it may run on %q, %v; want one processor", out, err)
	}
}
