// Errors that the emulation has to see, one a name.

#include "../common.h"

KERNEL nothing() {}

KERNEL half_at_barrier() {
  if (threadIdx.x % 2 == 0) __syncthreads();
}

KERNEL two_barriers() {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

KERNEL write(int *array, size_t i) { array[i] = 1; }

KERNEL write_shared(int *array, size_t i) {
  __shared__ int shared[8];
  shared[i] = 1;
  array[0] = shared[0];
}

KERNEL read_shared(int *array) {
  __shared__ int shared;
  if (blockIdx.x == 0) shared = 1;
  array[blockIdx.x] = shared;
}

int main(int, char **argv) {
  const std::string name = argv[1];
  try {
    Buffer<int> array(8);
    if (name == "block") LAUNCH(nothing, 1, 1025);
    if (name == "grid") LAUNCH(nothing, dim3(1, 65536), 1);
    if (name == "left") LAUNCH(half_at_barrier, 1, 4);
    if (name == "divergent") LAUNCH(two_barriers, 1, 4);
    if (name == "bounds") LAUNCH(write, 1, 1, array.get(), 8);
    if (name == "shared-bounds") LAUNCH(write_shared, 1, 1, array.get(), 8);
    if (name == "stale-shared") {
      LAUNCH(read_shared, 2, 1, array.get());
      compare<int>(1, array.read()[1], 1);
    }
    if (name == "uninitialised") compare<int>(0, array.read()[0], 0);
    if (name == "host") {
      int there = 0, here = 0;
      CHECK(cudaMemcpy(&here, &there, sizeof here, cudaMemcpyDeviceToHost));
    }
    if (name == "too-far") array.write(std::vector<int>(9));
    return 0;
  } catch (const Failure &failure) {
    std::fprintf(stderr, "%s\n", failure.message.c_str());
    return failure.status;
  }
}
