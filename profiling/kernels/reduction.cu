// The sum of an array, over and over: a tree in shared memory in each block, then one
// block for the partial sums. The array fits into the L2 cache of a whole A100 or
// H100 but not into the eighth of it that the smallest instance has, so that small
// instances lose more than their share of SMs.
//
// Default size (estimated, not measured): 2^21 words, 16.8 MB; 100000 iterations of
// two launches, 2.5 us each, while the reading from L2 takes 4 us at 4 TB/s: 0.5 to
// 0.9 s on an A100 or an H100. From a 1g.5gb's memory at 0.19 TB/s it would be 9 s.

#include "common.h"

constexpr unsigned kBlock = 256;
constexpr unsigned kMaxBlocks = 256;

KERNEL fill(uint64_t *values, size_t n, uint64_t seed) {
  const size_t i = thread_number();
  if (i < n) values[i] = random_bits(seed, i);
}

// Each block writes the sum, modulo 2^64, of its share of the values.
KERNEL sum(const uint64_t *values, size_t n, uint64_t *sums) {
  __shared__ uint64_t part[kBlock];
  uint64_t mine = 0;
  const size_t threads = gridDim.x * static_cast<size_t>(kBlock);
  for (size_t i = thread_number(); i < n; i += threads) mine += values[i];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

class Reduction {
 public:
  static constexpr Info info = {"reduction", "Sum of an array that fits the L2 cache of a whole GPU: bound by cache and launches.",
                                "64-bit words of the array", size_t{1} << 21, 100000, 10000, size_t{1} << 36};

  static size_t bytes(size_t size) { return (size + partial(size) + 1) * sizeof(uint64_t); }

  Reduction(size_t size, uint64_t seed) : size_(size), seed_(seed), values_(size), partial_(partial(size)), total_(1) {
    LAUNCH(fill, blocks(size, kBlock), kBlock, values_.get(), size, seed);
  }

  void iterate() {
    const unsigned count = partial(size_);
    LAUNCH(sum, count, kBlock, values_.get(), size_, partial_.get());
    LAUNCH(sum, 1, kBlock, partial_.get(), count, total_.get());
  }

  // Exact.
  void verify() const {
    uint64_t want = 0;
    for (size_t i = 0; i < size_; i++) want += random_bits(seed_, i);
    compare(0, total_.read()[0], want);
  }

 private:
  // The number of blocks, and of their sums.
  static unsigned partial(size_t size) {
    const size_t count = (size + kBlock - 1) / kBlock;
    return count < kMaxBlocks ? static_cast<unsigned>(count) : kMaxBlocks;
  }

  size_t size_;
  uint64_t seed_;
  Buffer<uint64_t> values_, partial_, total_;
};

int main(int argc, char **argv) { return run<Reduction>(argc, argv); }
