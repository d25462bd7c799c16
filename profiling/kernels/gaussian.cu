// Gaussian elimination of a linear system, without pivoting, column by column: two
// short launches a column, each of which waits for the one before. Bound by launches on
// a whole GPU; on a small instance, whose L2 cache does not hold the matrix, by memory.
//
// Default size (estimated, not measured): n = 2048, 4094 launches an iteration of
// 2.5 us, 10 ms; n^3/3 values read and written, 23 GB, 8 ms from L2 at 3 TB/s. 80
// iterations: 0.8 to 1.5 s on an A100 or an H100. From a 1g.5gb's memory at 0.19 TB/s it
// would be 10 s.

#include "common.h"

constexpr unsigned kWidth = 32, kHeight = 8;

// A row of the system is a row of the matrix, then its right-hand side. The diagonal is
// larger than the rest of its row together.
__host__ __device__ inline float value(uint64_t seed, size_t n, size_t i) {
  const size_t row = i / (n + 1), column = i % (n + 1);
  return uniform(seed, i) + (row == column ? n : 0);
}

KERNEL fill(float *system, size_t n, uint64_t seed) {
  const size_t i = thread_number();
  if (i < n * (n + 1)) system[i] = value(seed, n, i);
}

// The factor of row k to be subtracted from each row below it.
KERNEL multipliers(const float *system, float *factors, size_t n, size_t k) {
  const size_t row = k + 1 + thread_number();
  if (row < n) factors[row] = system[row * (n + 1) + k] / system[k * (n + 1) + k];
}

KERNEL eliminate(float *system, const float *factors, size_t n, size_t k) {
  const size_t row = k + 1 + blockIdx.y * kHeight + threadIdx.y;
  const size_t column = k + blockIdx.x * kWidth + threadIdx.x;
  if (row < n && column <= n) system[row * (n + 1) + column] -= factors[row] * system[k * (n + 1) + column];
}

class Gaussian {
 public:
  static constexpr Info info = {"gaussian", "Gaussian elimination, column by column: bound by launches.", "unknowns", 2048, 80, 70, 1 << 17};

  static size_t bytes(size_t size) { return (size * (size + 1) + size) * sizeof(float); }

  Gaussian(size_t size, uint64_t seed) : size_(size), seed_(seed), system_(size * (size + 1)), factors_(size) {}

  void iterate() {
    LAUNCH(fill, blocks(size_ * (size_ + 1), 256), 256, system_.get(), size_, seed_);
    for (size_t k = 0; k + 1 < size_; k++) {
      const size_t rows = size_ - k - 1;
      LAUNCH(multipliers, blocks(rows, 256), 256, system_.get(), factors_.get(), size_, k);
      const dim3 grid(blocks(rows + 2, kWidth), blocks(rows, kHeight));
      LAUNCH(eliminate, grid, dim3(kWidth, kHeight), system_.get(), factors_.get(), size_, k);
    }
  }

  // The triangle that is left, and its right-hand side; the reference is in double
  // precision. Values on the diagonal are of the order of n, others of 1, each rounded
  // up to n times.
  void verify() const {
    const size_t width = size_ + 1;
    std::vector<double> want(size_ * width);
    for (size_t i = 0; i < want.size(); i++) want[i] = value(seed_, size_, i);
    for (size_t i = 1; i < size_; i++) {
      for (size_t k = 0; k < i; k++) {
        const double factor = want[i * width + k] / want[k * width + k];
        for (size_t j = k; j < width; j++) want[i * width + j] -= factor * want[k * width + j];
      }
    }
    const std::vector<float> got = system_.read();
    for (size_t i = 0; i < size_; i++) {
      for (size_t j = i; j < width; j++) {
        compare(i * width + j, got[i * width + j], want[i * width + j], 1e-6 * std::sqrt(size_) * (i == j ? size_ : 1.0));
      }
    }
  }

 private:
  size_t size_;
  uint64_t seed_;
  Buffer<float> system_, factors_;
};

int main(int argc, char **argv) { return run<Gaussian>(argc, argv); }
