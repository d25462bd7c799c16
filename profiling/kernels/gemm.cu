// The product of two square matrices in single precision: bound by arithmetic. A block
// makes a tile of 128 x 128 with 256 threads, each 8 x 8 of it in registers, from
// slices of both matrices in shared memory.
//
// Default size (estimated, not measured): n = 8192, 2 n^3 = 1.1e12 flop an iteration;
// 20 iterations at 60 % of the peak: 1.9 s on an A100, 0.6 s on an H100.

#include "common.h"

constexpr int kTile = 128, kDepth = 8;
constexpr int kSide = 16;             // threads along an edge of a tile
constexpr int kEach = kTile / kSide;  // rows and columns of a thread

// Matrices are padded with zeros to whole tiles.
__host__ __device__ inline float value(uint64_t seed, size_t n, size_t row, size_t column) {
  return row < n && column < n ? uniform(seed, row * n + column) - 0.5f : 0;
}

KERNEL fill(float *matrix, size_t padded, size_t n, uint64_t seed) {
  const size_t i = thread_number();
  if (i < padded * padded) matrix[i] = value(seed, n, i / padded, i % padded);
}

KERNEL multiply(const float *a, const float *b, float *c, size_t n) {
  // The slice of a lies on its side. Four more columns spread its stores over the banks.
  __shared__ float left[kDepth][kTile + 4], right[kDepth][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * kSide + tx;
  a += blockIdx.y * kTile * n;
  b += blockIdx.x * kTile;
  float sum[kEach][kEach] = {};
  for (size_t k = 0; k < n; k += kDepth) {
    for (int e = thread; e < kTile * kDepth; e += kSide * kSide) {
      left[e % kDepth][e / kDepth] = a[e / kDepth * n + k + e % kDepth];
      right[e / kTile][e % kTile] = b[(k + e / kTile) * n + e % kTile];
    }
    __syncthreads();
    UNROLL
    for (int p = 0; p < kDepth; p++) {
      float rows[kEach], columns[kEach];
      UNROLL
      for (int i = 0; i < kEach; i++) rows[i] = left[p][ty * kEach + i];
      UNROLL
      for (int j = 0; j < kEach; j++) columns[j] = right[p][tx + j * kSide];
      UNROLL
      for (int i = 0; i < kEach; i++) {
        UNROLL
        for (int j = 0; j < kEach; j++) sum[i][j] += rows[i] * columns[j];
      }
    }
    __syncthreads();
  }
  c += blockIdx.y * kTile * n + blockIdx.x * kTile;
  UNROLL
  for (int i = 0; i < kEach; i++) {
    UNROLL
    for (int j = 0; j < kEach; j++) c[(ty * kEach + i) * n + tx + j * kSide] = sum[i][j];
  }
}

class Gemm {
 public:
  static constexpr Info info = {"gemm", "Product of two matrices: bound by arithmetic.", "rows of a matrix", 8192, 20, 150, 1 << 17};

  static size_t bytes(size_t size) { return 3 * round_up(size, kTile) * round_up(size, kTile) * sizeof(float); }

  Gemm(size_t size, uint64_t seed)
      : size_(size), seed_(seed), padded_(round_up(size, kTile)), a_(padded_ * padded_), b_(padded_ * padded_), c_(padded_ * padded_) {
    LAUNCH(fill, blocks(padded_ * padded_, 256), 256, a_.get(), padded_, size_, seed);
    LAUNCH(fill, blocks(padded_ * padded_, 256), 256, b_.get(), padded_, size_, ~seed);
  }

  void iterate() {
    const unsigned tiles = static_cast<unsigned>(padded_ / kTile);
    LAUNCH(multiply, dim3(tiles, tiles), dim3(kSide, kSide), a_.get(), b_.get(), c_.get(), padded_);
  }

  // The reference is in double precision. n products of at most 1/4 each; a sum rounds by
  // at most half a unit in the last place (6e-8 of it) at each step.
  void verify() const {
    const std::vector<float> got = c_.read();
    std::vector<double> want(size_);
    for (size_t i = 0; i < size_; i++) {
      want.assign(size_, 0);
      for (size_t k = 0; k < size_; k++) {
        const double a = value(seed_, size_, i, k);
        for (size_t j = 0; j < size_; j++) want[j] += a * value(~seed_, size_, k, j);
      }
      for (size_t j = 0; j < size_; j++) compare(i * padded_ + j, got[i * padded_ + j], want[j], 1e-6 * size_);
    }
  }

 private:
  size_t size_;
  uint64_t seed_;
  size_t padded_;
  Buffer<float> a_, b_, c_;
};

int main(int argc, char **argv) { return run<Gemm>(argc, argv); }
