// Package kernels holds a small benchmark suite in CUDA C++, so that profiling needs only a
// GPU and nvcc. `make kernels` builds it, and the manifest miglab.yaml of package kernel
// describes it. README.md in this folder describes each kernel.
//
// The only Go code is a test. It compiles the same sources with a C++17 compiler against
// host.h, which emulates a GPU, and compares every kernel with its CPU reference. It shows
// that the results are right, but not how long a kernel takes on a GPU.
package kernels
