// Package nvmltest gives tests NVIDIA's management library without a GPU: a stub of
// libnvidia-ml.so.1, written in C (testdata/stub.c), which programs built with cgo
// load as they load the real one. It refuses what drivers refuse, and its state is a
// text file, so that several processes see the same GPUs, one after the other or at
// once: [Build] compiles it, [New] makes a state, [State.Env] shows it to a process.
//
// What can stand in a state is said at the top of testdata/stub.c.
//
// Only tests import it.
package nvmltest
