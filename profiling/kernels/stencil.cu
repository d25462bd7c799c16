// Heat that spreads over a square plate with insulated edges: a stencil of five points,
// single precision, through tiles in shared memory. Bound by memory bandwidth.
//
// Default size (estimated, not measured): 8192 x 8192 points, read and written once a
// sweep, 0.54 GB; 300 iterations of 10 sweeps and of one filling, 1.7 TB, at 85 % of the
// peak bandwidth: 1.3 s on an A100, 0.6 s on an H100.

#include "common.h"

constexpr int kWidth = 32, kHeight = 8;  // of a tile, and of a block
constexpr int kSweeps = 10;              // even: the last one ends in the first grid
constexpr float kRate = 0.2f;

__host__ __device__ inline float initial(uint64_t seed, size_t i) { return 100 * uniform(seed, i); }

KERNEL fill(float *grid, size_t count, uint64_t seed) {
  const size_t i = thread_number();
  if (i < count) grid[i] = initial(seed, i);
}

__host__ __device__ inline int clamp(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }

KERNEL sweep(const float *from, float *to, int n) {
  constexpr int kRow = kWidth + 2, kCells = kRow * (kHeight + 2);
  __shared__ float tile[kHeight + 2][kRow];
  const int left = blockIdx.x * kWidth, top = blockIdx.y * kHeight;
  for (int cell = threadIdx.y * kWidth + threadIdx.x; cell < kCells; cell += kWidth * kHeight) {
    const size_t y = clamp(top + cell / kRow - 1, n);
    tile[cell / kRow][cell % kRow] = from[y * n + clamp(left + cell % kRow - 1, n)];
  }
  __syncthreads();
  const int x = left + threadIdx.x, y = top + threadIdx.y;
  if (x >= n || y >= n) return;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const float here = tile[ty][tx];
  const float around = tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1];
  to[static_cast<size_t>(y) * n + x] = here + kRate * (around - 4 * here);
}

class Stencil {
 public:
  static constexpr Info info = {"stencil", "Heat on a square plate, five points: bound by memory bandwidth.",
                                "points along an edge", 8192, 300, 70, 1 << 17};

  static size_t bytes(size_t size) { return 2 * size * size * sizeof(float); }

  Stencil(size_t size, uint64_t seed) : size_(size), seed_(seed), first_(size * size), second_(size * size) {}

  void iterate() {
    LAUNCH(fill, blocks(size_ * size_, 256), 256, first_.get(), size_ * size_, seed_);
    const dim3 grid(blocks(size_, kWidth), blocks(size_, kHeight)), block(kWidth, kHeight);
    for (int i = 0; i < kSweeps; i += 2) {
      LAUNCH(sweep, grid, block, first_.get(), second_.get(), static_cast<int>(size_));
      LAUNCH(sweep, grid, block, second_.get(), first_.get(), static_cast<int>(size_));
    }
  }

  // The reference is in double precision. No value leaves 0 to 100, and a sweep rounds
  // by a few units in the last place of 100, 4e-6 each.
  void verify() const {
    const int n = static_cast<int>(size_);
    std::vector<double> from(size_ * size_), to(size_ * size_);
    for (size_t i = 0; i < from.size(); i++) from[i] = initial(seed_, i);
    for (int i = 0; i < kSweeps; i++) {
      for (int y = 0; y < n; y++) {
        const double *above = &from[clamp(y - 1, n) * size_], *row = &from[y * size_], *below = &from[clamp(y + 1, n) * size_];
        for (int x = 0; x < n; x++) {
          const double around = above[x] + below[x] + row[clamp(x - 1, n)] + row[clamp(x + 1, n)];
          to[y * size_ + x] = row[x] + static_cast<double>(kRate) * (around - 4 * row[x]);
        }
      }
      from.swap(to);
    }
    const std::vector<float> got = first_.read();
    for (size_t i = 0; i < got.size(); i++) compare(i, got[i], from[i], 2e-4);
  }

 private:
  size_t size_;
  uint64_t seed_;
  Buffer<float> first_, second_;
};

int main(int argc, char **argv) { return run<Stencil>(argc, argv); }
