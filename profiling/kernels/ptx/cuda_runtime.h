// As much of CUDA's cuda_runtime.h as the kernels use, so that clang compiles their device
// code to PTX without the CUDA toolkit. The host code is parsed but not compiled, so its
// functions need no definitions.
#pragma once

#include <cstddef>
#include <cstdlib>

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  __host__ __device__ operator uint3() const { return {x, y, z}; }
};

#include "__clang_cuda_builtin_vars.h"

__device__ inline int atomicCAS(int *address, int compare, int value) { return __nvvm_atom_cas_gen_i(address, compare, value); }
__device__ inline unsigned atomicAdd(unsigned *address, unsigned value) {
  return __nvvm_atom_add_gen_i(reinterpret_cast<int *>(address), static_cast<int>(value));
}
__device__ inline unsigned long long atomicXor(unsigned long long *address, unsigned long long value) {
  return __nvvm_atom_xor_gen_ll(reinterpret_cast<long long *>(address), static_cast<long long>(value));
}

// For the host code.
enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
struct cudaDeviceProp {
  int multiProcessorCount, l2CacheSize;
  size_t totalGlobalMem;
  struct {
    char bytes[16];
  } uuid;
};
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaFree(void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);
cudaError_t cudaMemset(void *, int, size_t);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetDevice(int *);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int);
cudaError_t cudaGetLastError();
const char *cudaGetErrorString(cudaError_t);
cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, void * = nullptr);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void * = nullptr);
