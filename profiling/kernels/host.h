// A processor in place of a GPU, to verify the kernels of this folder without one:
// as much of CUDA as they use, compiled by any C++17 compiler. It says nothing about
// speed.
//
// The threads of a block are fibers that run one after the other, each up to its next
// __syncthreads(); blocks run one after the other. A thread that needs what another
// one has not yet written, or a block that needs another one, therefore sees it
// missing in one of the two orders. Memory starts out as all ones (NaN in floating
// point), shared memory anew in each block.
//
// The environment changes the GPU that is imitated:
//
//   MIGLAB_EMULATED_ORDER=reverse   threads and blocks run from the last to the first
//   MIGLAB_EMULATED_MEMORY=BYTES    device memory; 1 GiB if not given
//   MIGLAB_EMULATED_SMS=N           multiprocessors that the device says it has; 1 if not given
//   MIGLAB_EMULATED_DROP=NAME       every launch of kernel NAME loses the block that
//                                   would run last
//   MIGLAB_EMULATED_DROP=LINE       the __syncthreads() of that line does nothing
//
// The last two are defects, to show that verification sees them.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#define __global__
#define __host__
#define __device__
#define __shared__ static __attribute__((section("miglab_shared")))
#define __syncthreads() emulation::barrier(__LINE__)

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;

enum cudaError_t {
  cudaSuccess,
  cudaErrorInvalidValue,
  cudaErrorMemoryAllocation,
  cudaErrorInvalidConfiguration,
  cudaErrorLaunchFailure,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };

// The bounds of all shared variables, from the linker.
extern char __start_miglab_shared[] __attribute__((weak));
extern char __stop_miglab_shared[] __attribute__((weak));

namespace emulation {

inline std::string setting(const char *name, const char *otherwise) {
  const char *value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}
inline const bool reverse = setting("MIGLAB_EMULATED_ORDER", "") == "reverse";
inline const size_t memory = std::stoull(setting("MIGLAB_EMULATED_MEMORY", "1073741824"));
inline const std::string drop = setting("MIGLAB_EMULATED_DROP", "");

inline cudaError_t last_error = cudaSuccess;

// Device memory, by address.
inline std::map<char *, size_t> arrays;

inline bool on_device(const void *pointer, size_t bytes) {
  char *p = static_cast<char *>(const_cast<void *>(pointer));
  auto next = arrays.upper_bound(p);
  if (next == arrays.begin()) return false;
  const auto [start, size] = *--next;
  return p + bytes <= start + size;
}

struct Fiber {
  static constexpr size_t kStack = 64 << 10;
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[kStack]};
  uint3 thread;
  int waits_at = 0;  // the line of a barrier
};

// The block that runs.
inline std::function<void()> body;
inline size_t started;
inline Fiber *current;
inline ucontext_t scheduler;
inline std::vector<std::unique_ptr<Fiber>> fibers;  // made once, used by every block

inline uint3 coordinates(size_t number, dim3 extent) {
  const size_t count = size_t{extent.x} * extent.y * extent.z;
  if (reverse) number = count - 1 - number;
  return {static_cast<unsigned>(number % extent.x), static_cast<unsigned>(number / extent.x % extent.y),
          static_cast<unsigned>(number / extent.x / extent.y)};
}

// A fiber runs whole threads until one has to wait. That one is alone on the fiber
// until it ends; the next threads start on others.
inline void work() {
  for (;;) {
    while (started < size_t{blockDim.x} * blockDim.y * blockDim.z) {
      current->thread = threadIdx = coordinates(started++, blockDim);
      body();
    }
    swapcontext(&current->context, &scheduler);
  }
}

inline void resume(Fiber *fiber) {
  current = fiber;
  threadIdx = fiber->thread;
  fiber->waits_at = 0;
  swapcontext(&scheduler, &fiber->context);
}

inline void barrier(int line) {
  if (drop == std::to_string(line)) return;
  current->waits_at = line;
  swapcontext(&current->context, &scheduler);
}

inline Fiber *new_fiber() {
  fibers.push_back(std::make_unique<Fiber>());
  Fiber *fiber = fibers.back().get();
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack.get();
  fiber->context.uc_stack.ss_size = Fiber::kStack;
  makecontext(&fiber->context, work, 0);
  return fiber;
}

// Runs one block; false if its threads do not meet at the same barrier.
inline bool run_block() {
  const size_t threads = size_t{blockDim.x} * blockDim.y * blockDim.z;
  std::fill(__start_miglab_shared, __stop_miglab_shared, '\xff');
  started = 0;
  std::vector<Fiber *> waiting;
  while (started < threads) {
    Fiber *fiber = waiting.size() < fibers.size() ? fibers[waiting.size()].get() : new_fiber();
    resume(fiber);
    if (fiber->waits_at != 0) waiting.push_back(fiber);
  }
  while (!waiting.empty()) {
    const int line = waiting[0]->waits_at;
    for (const Fiber *fiber : waiting) {
      if (fiber->waits_at != line || waiting.size() != threads) {
        std::fprintf(stderr, "line %d: not every thread of the block comes to this barrier\n", line);
        return false;
      }
    }
    std::vector<Fiber *> still;
    for (Fiber *fiber : waiting) {
      resume(fiber);
      if (fiber->waits_at != 0) still.push_back(fiber);
    }
    waiting = still;
  }
  return true;
}

inline void launch(const char *name, dim3 grid, dim3 block, std::function<void()> kernel) {
  const size_t threads = size_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > 1024 || block.z > 64 || grid.x == 0 || grid.x > INT32_MAX || grid.y == 0 ||
      grid.y > UINT16_MAX || grid.z == 0 || grid.z > UINT16_MAX) {
    last_error = cudaErrorInvalidConfiguration;
    return;
  }
  body = std::move(kernel);
  blockDim = block;
  gridDim = grid;
  const size_t count = size_t{grid.x} * grid.y * grid.z;
  for (size_t b = 0; b < count; b++) {
    if (b == count - 1 && drop == name) continue;
    blockIdx = coordinates(b, grid);
    if (!run_block()) {
      last_error = cudaErrorLaunchFailure;
      return;
    }
  }
}

}  // namespace emulation

inline cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  size_t used = 0;
  for (const auto &[start, size] : emulation::arrays) used += size;
  if (bytes > emulation::memory - used) return cudaErrorMemoryAllocation;
  char *p = static_cast<char *>(std::malloc(bytes));
  if (p == nullptr) return cudaErrorMemoryAllocation;
  std::memset(p, 0xff, bytes);
  emulation::arrays[p] = bytes;
  *pointer = p;
  return cudaSuccess;
}

inline cudaError_t cudaFree(void *pointer) {
  emulation::arrays.erase(static_cast<char *>(pointer));
  std::free(pointer);
  return cudaSuccess;
}

inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  if (!emulation::on_device(kind == cudaMemcpyHostToDevice ? to : from, bytes)) return cudaErrorInvalidValue;
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

inline cudaError_t cudaMemset(void *pointer, int value, size_t bytes) {
  if (!emulation::on_device(pointer, bytes)) return cudaErrorInvalidValue;
  std::memset(pointer, value, bytes);
  return cudaSuccess;
}

inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

inline cudaError_t cudaGetLastError() {
  const cudaError_t error = emulation::last_error;
  emulation::last_error = cudaSuccess;
  return error;
}

struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  int multiProcessorCount, l2CacheSize;
  size_t totalGlobalMem;
  cudaUUID_t uuid;
};

inline cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
  *properties = {std::stoi(emulation::setting("MIGLAB_EMULATED_SMS", "1")), 0, emulation::memory, {"emulated"}};
  return cudaSuccess;
}

inline const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
  }
  return "unknown error";
}

template <class T>
T atomicAdd(T *address, T value) {
  const T old = *address;
  *address += value;
  return old;
}
template <class T>
T atomicXor(T *address, T value) {
  const T old = *address;
  *address ^= value;
  return old;
}
template <class T>
T atomicCAS(T *address, T compare, T value) {
  const T old = *address;
  if (old == compare) *address = value;
  return old;
}
