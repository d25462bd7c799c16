package measure

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Threads have processors of their own, if there are enough, and get the others back.
func TestPin(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, pinned, after unix.CPUSet
	get := func(set *unix.CPUSet) {
		if err := unix.SchedGetaffinity(0, set); err != nil {
			t.Fatal(err)
		}
	}
	get(&before)
	seen := map[unix.CPUSet]bool{}
	threads := before.Count() - 1
	for i := range threads {
		restore := pin(i, threads)
		get(&pinned)
		restore()
		if seen[pinned] || pinned.Count() != 1 {
			t.Errorf("thread %d of %d is on %d processors, or on those of another", i, threads, pinned.Count())
		}
		seen[pinned] = true
	}
	restore := pin(0, before.Count())
	get(&pinned)
	restore()
	if get(&after); pinned != before || after != before {
		t.Errorf("on %d processors with too few, on %d afterwards, want %d", pinned.Count(), after.Count(), before.Count())
	}
}
