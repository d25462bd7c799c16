package affinity

import (
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// all are the processors that the program may use, in ascending order.
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

// Take takes n processors that nobody else in this program has, until Free. If there are fewer,
// the set is empty. The first processor is left for the rest of the program.
func Take(n int) *Set {
	mu.Lock()
	defer mu.Unlock()
	free := slices.DeleteFunc(slices.Clone(all()), func(p int) bool { return slices.Contains(taken, p) })
	if n >= len(free) {
		return &Set{}
	}
	taken = append(taken, free[1:n+1]...)
	return &Set{free[1 : n+1]}
}

// Free gives the processors back.
func (s *Set) Free() {
	mu.Lock()
	defer mu.Unlock()
	taken = slices.DeleteFunc(taken, func(p int) bool { return slices.Contains(s.processors, p) })
	s.processors = nil
}

// Pin keeps the calling thread, and the processes that it starts, on the processor of a number from
// 0 until undo is called. The goroutine must be locked to its thread.
func (s *Set) Pin(number int) (undo func()) {
	if number >= len(s.processors) {
		return func() {}
	}
	var one, every unix.CPUSet
	one.Set(s.processors[number])
	for _, p := range all() {
		every.Set(p)
	}
	if unix.SchedSetaffinity(0, &one) != nil {
		return func() {}
	}
	return func() { _ = unix.SchedSetaffinity(0, &every) } // it was so before
}
