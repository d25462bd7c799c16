// Common to the kernels of this folder: options, errors, memory, inputs and the
// loop that is timed.
//
// A kernel is a class with
//
//   static constexpr Info info;           names and defaults
//   static size_t bytes(size_t size);     device memory at a size
//   Kernel(size_t size, uint64_t seed);   makes the input on the device
//   void iterate();                       one iteration, always from the same input
//   void verify() const;                  compares the result with a CPU reference
//
// and a program is `int main(int argc, char **argv) { return run<Kernel>(argc, argv); }`.
//
// Exit status: 0 done, 1 wrong result or CUDA error, 2 bad option, 3 out of memory.
//
// Every kernel states how long a run of the default size should take. These are
// estimates from data sheets, NOT measurements: A100 (40 GB) 19.5 TFLOP/s in single
// precision and 1.555 TB/s, H100 (SXM) 67 TFLOP/s and 3.35 TB/s, about 2.5 us for a
// launch that waits for the one before it, and the share of the peak that kernels of
// the kind usually reach.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#ifdef __CUDACC__
#include <cuda_runtime.h>
#define UNROLL _Pragma("unroll")
#define START(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)
constexpr bool kEmulated = false;
#else
#include "host.h"
#define START(kernel, grid, block, ...) \
  emulation::launch(#kernel, grid, block, [&] { kernel(__VA_ARGS__); })
#define UNROLL
constexpr bool kEmulated = true;
#endif

// A kernel's name is the same in C++ and in PTX.
#ifndef KERNEL
#define KERNEL extern "C" __global__ void
#endif

// A Failure ends the program.
struct Failure {
  int status;
  std::string message;
};

[[noreturn]] __attribute__((format(printf, 2, 3))) inline void fail(int status, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  throw Failure{status, text};
}

inline void check(cudaError_t error, const char *what, const char *file, int line) {
  if (error == cudaSuccess) return;
  fail(error == cudaErrorMemoryAllocation ? 3 : 1, "%s:%d: %s: %s", file, line, what, cudaGetErrorString(error));
}

#define CHECK(call) check((call), #call, __FILE__, __LINE__)

// LAUNCH(kernel, grid, block, arguments...) starts a kernel.
#define LAUNCH(kernel, ...)                           \
  do {                                                \
    START(kernel, __VA_ARGS__);                       \
    check(cudaGetLastError(), #kernel, __FILE__, __LINE__); \
  } while (0)

// The number of blocks of a size that cover so much work.
inline unsigned blocks(size_t work, unsigned block) { return static_cast<unsigned>((work + block - 1) / block); }

inline size_t round_up(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// The number of a thread in a grid of one dimension.
__device__ inline size_t thread_number() { return blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; }

// The bytes of all buffers made so far.
inline size_t allocated = 0;

// A Buffer is an array in device memory.
template <class T>
class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) {
    const size_t bytes = count * sizeof(T);
    const std::string what = "cudaMalloc of " + std::to_string(bytes) + " bytes";
    check(cudaMalloc(reinterpret_cast<void **>(&data_), bytes), what.c_str(), __FILE__, __LINE__);
    allocated += bytes;
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  T *get() const { return data_; }

  std::vector<T> read() const {
    std::vector<T> values(count_);
    CHECK(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  void write(const std::vector<T> &values) {
    CHECK(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  void set_bytes(int value) { CHECK(cudaMemset(data_, value, count_ * sizeof(T))); }

 private:
  T *data_ = nullptr;
  size_t count_;
};

// Bits that look random: a function of seed and index, so that the device makes its
// own input and the CPU reference the same one. This is output number `index` of the
// generator SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) begun at a mixed seed.
__host__ __device__ inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
__host__ __device__ inline uint64_t random_bits(uint64_t seed, uint64_t index) {
  return mix(mix(seed) + (index + 1) * 0x9e3779b97f4a7c15);
}

// A number from 0 to n-1, n at most 2^32.
__host__ __device__ inline uint64_t random_below(uint64_t seed, uint64_t index, uint64_t n) {
  return (random_bits(seed, index) >> 32) * n >> 32;
}

// A multiple of 2^-24 in [0, 1).
__host__ __device__ inline float uniform(uint64_t seed, uint64_t index) {
  return static_cast<float>(random_bits(seed, index) >> 40) * (1.0f / 16777216);
}

// Two values that should be equal, or no further apart than allowed; NaN never is.
template <class T>
void compare(size_t index, T got, T want) {
  if (got != want) fail(1, "wrong at %zu: got %s, want %s", index, std::to_string(got).c_str(), std::to_string(want).c_str());
}
inline void compare(size_t index, double got, double want, double allowed) {
  if (!(std::fabs(got - want) <= allowed)) fail(1, "wrong at %zu: got %.9g, want %.9g within %.2g", index, got, want, allowed);
}

struct Info {
  const char *name;
  const char *what;
  const char *size;  // what --size counts
  size_t default_size, default_iterations;
  size_t verify_size;
  size_t max_size;
};

struct Options {
  size_t size = 0, iterations = 0;  // 0: the default
  uint64_t seed = 1;
  bool verify = false, help = false;
};

// The number of an option, from low to high.
inline uint64_t parse_number(const char *option, const char *text, uint64_t low, uint64_t high) {
  uint64_t value = 0;
  bool good = text != nullptr && *text != '\0';
  for (const char *p = text; good && *p != '\0'; p++) {
    good = *p >= '0' && *p <= '9' && value <= (high - (*p - '0')) / 10;
    value = value * 10 + (*p - '0');
  }
  if (!good || value < low) {
    fail(2, "%s %s: want an integer from %llu to %llu", option, text == nullptr ? "without a number" : text,
         static_cast<unsigned long long>(low), static_cast<unsigned long long>(high));
  }
  return value;
}

inline Options parse_options(const Info &info, char **arguments) {
  Options options;
  while (const char *option = *arguments++) {
    const auto number = [&](uint64_t low, uint64_t high) {
      const char *text = *arguments;
      if (text != nullptr) arguments++;
      return parse_number(option, text, low, high);
    };
    if (std::strcmp(option, "--size") == 0) {
      options.size = number(1, info.max_size);
    } else if (std::strcmp(option, "--iterations") == 0) {
      options.iterations = number(1, 1000000000);
    } else if (std::strcmp(option, "--seed") == 0) {
      options.seed = number(0, UINT64_MAX);
    } else if (std::strcmp(option, "--verify") == 0) {
      options.verify = true;
    } else if (std::strcmp(option, "--help") == 0) {
      options.help = true;
    } else {
      fail(2, "unknown option %s: want --size, --iterations, --seed, --verify or --help", option);
    }
  }
  if (options.size == 0) options.size = options.verify ? info.verify_size : info.default_size;
  if (options.iterations == 0) options.iterations = options.verify ? 1 : info.default_iterations;
  return options;
}

inline void print_help(const Info &info) {
  std::printf(
      "usage: %s [--size N] [--iterations K] [--seed S] [--verify]\n"
      "%s\n"
      "  --size N        %s, 1 to %zu (default %zu, with --verify %zu)\n"
      "  --iterations K  timed, after a warm-up (default %zu, with --verify 1)\n"
      "  --seed S        of the input (default 1)\n"
      "  --verify        compare the result with a CPU reference instead of timing\n",
      info.name, info.what, info.size, info.max_size, info.default_size, info.verify_size, info.default_iterations);
}

// Says where the program runs, so that the caller can tell whether that is what it asked for.
inline void print_device() {
  int device = 0;
  cudaDeviceProp properties;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaGetDeviceProperties(&properties, device));
  std::printf("sms: %d\ndevice_mib: %zu\nl2_bytes: %d\nuuid: ", properties.multiProcessorCount, properties.totalGlobalMem >> 20,
              properties.l2CacheSize);
  for (int i = 0; i < 16; i++) {
    std::printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", static_cast<unsigned char>(properties.uuid.bytes[i]));
  }
  std::puts("");
}

inline double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Iterates for at least some seconds. The device never has more than about 10 ms of work that
// the host has not waited for.
template <class Kernel>
void iterate_for(Kernel &kernel, double seconds) {
  size_t batch = 1;
  for (double start = now(), last = start; last < start + seconds;) {
    for (size_t i = 0; i < batch; i++) kernel.iterate();
    CHECK(cudaDeviceSynchronize());
    const double end = now();
    if (end - last < 0.005) batch *= 2;
    last = end;
  }
}

template <class Kernel>
void run(const Options &options) {
  if (options.help) print_help(Kernel::info);
  const size_t bytes = Kernel::bytes(options.size);
  std::printf("memory_mb: %zu\n", (bytes + 999999) / 1000000);  // of 10^6 bytes, without CUDA's own
  if (options.help) return;
  if (kEmulated) std::puts("emulated");
  print_device();

  Kernel kernel(options.size, options.seed);
  if (allocated != bytes) fail(1, "allocated %zu bytes, announced %zu", allocated, bytes);
  kernel.iterate();
  CHECK(cudaDeviceSynchronize());
  // An idle GPU has low clocks.
  if (!options.verify) iterate_for(kernel, kEmulated ? 0 : 0.5);
  const double start = now();
  for (size_t i = 0; i < options.iterations; i++) kernel.iterate();
  CHECK(cudaDeviceSynchronize());
  const double seconds = now() - start;

  if (options.verify) {
    kernel.verify();
  } else if (!kEmulated) {
    std::printf("time_s: %.6f\n", seconds);
  }
  std::puts("ok");
}

template <class Kernel>
int run(int, char **argv) {
  try {
    run<Kernel>(parse_options(Kernel::info, argv + 1));
    return 0;
  } catch (const Failure &failure) {
    std::fprintf(stderr, "%s: %s\n", Kernel::info.name, failure.message.c_str());
    return failure.status;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", Kernel::info.name, error.what());
    return 1;
  }
}
