package measure

import "golang.org/x/sys/unix"

// pin keeps the calling thread on a processor of its own, the one after the first i that the
// process may use, so that the host of a launch-bound kernel is not moved about. It does
// nothing if there are not more processors than threads. restore undoes it.
func pin(i, threads int) (restore func()) {
	var all, one unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil || all.Count() <= threads {
		return func() {}
	}
	for cpu, left := 0, i+1; ; cpu++ { // the first is for the rest of the program
		if !all.IsSet(cpu) {
			continue
		}
		if left == 0 {
			one.Set(cpu)
			break
		}
		left--
	}
	if unix.SchedSetaffinity(0, &one) != nil {
		return func() {}
	}
	return func() { _ = unix.SchedSetaffinity(0, &all) } // it was so before
}
