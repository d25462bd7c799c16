// Package devicetest is a GPU for tests: a [profiling.Device] that refuses what
// hardware refuses - instances that overlap, wrong placements, too many of a
// profile, a destroy while something still runs, a MIG mode that stays pending -
// and that fails when told to. It also runs kernels in virtual time ([Launcher]),
// and has the tests that every implementation of the interface must pass ([Conform],
// and [ConformHalfway] where faults can be made).
//
// Times are those of the model (FAR Table 1), slept with [time.Sleep]: under
// testing/synctest they cost nothing. A GPU has to be made inside the bubble that
// uses it. Nothing here was measured, and [profiling.Identity] says so: the name
// and the driver of the GPU end in "(fake)".
//
// Only tests import it.
package devicetest
