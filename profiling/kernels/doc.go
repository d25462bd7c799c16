// Package kernels is a small benchmark suite for GPUs. It consists of eight kernels in CUDA C++ (README.md describes
// each) with two ways to run them:
//
//   - `make kernels` builds a program of each with nvcc.
//   - `miglab kernel NAME` runs the same device code, which clang has translated to PTX and
//     which this package embeds. Its host side is in Go ([Program]) and needs only a driver.
//
// The tests compile the sources with a C++17 compiler against host.h, which emulates a GPU. They compare the results of
// both host sides with references. They show that the results are right, but not how long a kernel takes on a GPU.
package kernels
