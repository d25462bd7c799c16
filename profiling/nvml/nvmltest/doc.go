// Package nvmltest replaces NVIDIA's management library in tests, without a GPU. It is a stub of libnvidia-ml.so.1 in C
// (testdata/stub.c), which programs built with cgo load like the real one. The stub refuses what drivers refuse. Its
// state is a text file, so that several processes can use the same GPUs. [Build] compiles the stub, [New] makes a
// state, [State.Env] gives it to a process. The top of testdata/stub.c describes a state.
//
// Only tests import it.
package nvmltest
