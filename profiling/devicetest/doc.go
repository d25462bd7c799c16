// Package devicetest provides a fake GPU for tests: a [profiling.Device] that refuses what hardware refuses -
// overlapping instances, wrong placements, too many instances of a profile, destroying an instance in use, a MIG mode
// that stays pending - and that fails on demand. [Launcher] runs kernels on it in virtual time. The tests of package
// nvml run the same conformance suite on it and on NVML.
//
// Operations take the times of the model (FAR Table 1) with [time.Sleep], which costs
// nothing under testing/synctest. A GPU must be made inside the bubble that uses it. The
// name and the driver of the GPU end in "(fake)", since nothing here was measured.
//
// Only tests import it.
package devicetest
