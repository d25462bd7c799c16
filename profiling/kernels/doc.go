// Package kernels holds a small benchmark suite in CUDA C++, so that a GPU and nvcc
// are all it takes to profile: `make kernels` builds it, and the manifest miglab.yaml
// of package kernel runs it. README.md beside this file says what each kernel is like.
//
// The Go part is the test alone. It compiles the same sources with a C++17 compiler
// against host.h, which stands in for a GPU, and compares every kernel with its CPU
// reference. It shows that the results are right, and says nothing about times on a
// GPU.
package kernels
