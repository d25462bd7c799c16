// The triad of McCalpin's STREAM, a = b + s c in double precision: bound by memory
// bandwidth, hence by the memory slices of an instance rather than by its SMs.
//
// Default size (estimated, not measured): 2^26 elements, 24 B each moved once an
// iteration, 1.61 GB; 1000 iterations at 85 % of the peak bandwidth: 1.2 s on an A100,
// 0.6 s on an H100.

#include "common.h"

constexpr unsigned kBlock = 256;
constexpr double kScale = 3;

__host__ __device__ inline double value_b(uint64_t seed, size_t i) { return uniform(seed, 2 * i); }
__host__ __device__ inline double value_c(uint64_t seed, size_t i) { return uniform(seed, 2 * i + 1); }

KERNEL fill(double *b, double *c, size_t n, uint64_t seed) {
  const size_t i = thread_number();
  if (i >= n) return;
  b[i] = value_b(seed, i);
  c[i] = value_c(seed, i);
}

KERNEL triad(double *a, const double *b, const double *c, size_t n) {
  const size_t i = thread_number();
  if (i < n) a[i] = b[i] + kScale * c[i];
}

class Stream {
 public:
  static constexpr Info info = {"stream", "Triad a = b + s c: bound by memory bandwidth.", "elements of an array",
                                size_t{1} << 26, 1000, 10000, size_t{1} << 36};

  static size_t bytes(size_t size) { return 3 * size * sizeof(double); }

  Stream(size_t size, uint64_t seed) : size_(size), seed_(seed), a_(size), b_(size), c_(size) {
    LAUNCH(fill, blocks(size, kBlock), kBlock, b_.get(), c_.get(), size, seed);
  }

  void iterate() { LAUNCH(triad, blocks(size_, kBlock), kBlock, a_.get(), b_.get(), c_.get(), size_); }

  // Exact: the values have few enough bits that nothing is rounded.
  void verify() const {
    const std::vector<double> a = a_.read();
    for (size_t i = 0; i < size_; i++) compare(i, a[i], value_b(seed_, i) + kScale * value_c(seed_, i));
  }

 private:
  size_t size_;
  uint64_t seed_;
  Buffer<double> a_, b_, c_;
};

int main(int argc, char **argv) { return run<Stream>(argc, argv); }
