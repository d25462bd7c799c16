// LU factorisation of a dense matrix in place, without pivoting, by tiles: the diagonal
// tile (one block), the tiles right of it and below it (few blocks), then all others.
// Bound by arithmetic in the middle of the matrix, by latency where few tiles are left.
//
// Default size (estimated, not measured): n = 8192, 2/3 n^3 = 3.7e11 flop an iteration
// at 30 % of the peak 63 ms on an A100, 18 ms on an H100; the trailing matrix is read
// and written once a tile column, n^3/192 x 8 B = 23 GB, 18 and 8 ms; 128 steps of the
// three small kernels of about 10 us each, 4 ms. 25 iterations: 1.6 to 2.1 s on an A100,
// 0.5 to 0.8 s on an H100.

#include "common.h"

constexpr int kTile = 64;
constexpr int kSide = 16;             // threads along an edge of a tile in update
constexpr int kEach = kTile / kSide;  // rows and columns of a thread there

// The diagonal is larger than the rest of its row together. The matrix is padded to
// whole tiles by ones on the diagonal, which leaves the factors of the rest as they are.
__host__ __device__ inline float value(uint64_t seed, size_t n, size_t row, size_t column) {
  if (row >= n || column >= n) return row == column;
  return uniform(seed, row * n + column) + (row == column ? n : 0);
}

KERNEL fill(float *matrix, size_t padded, size_t n, uint64_t seed) {
  const size_t i = thread_number();
  if (i < padded * padded) matrix[i] = value(seed, n, i / padded, i % padded);
}

// Tiles have a column more than they need, so that a column lies in all banks.
using Tile = float[kTile][kTile + 1];

__device__ inline float *tile_at(float *matrix, size_t n, size_t row, size_t column) {
  return matrix + row * kTile * n + column * kTile;
}

// Both move a column a thread, by kTile threads.
__device__ inline void load(Tile &tile, const float *from, size_t n) {
  for (int row = 0; row < kTile; row++) tile[row][threadIdx.x] = from[row * n + threadIdx.x];
}
__device__ inline void store(float *to, size_t n, const Tile &tile) {
  for (int row = 0; row < kTile; row++) to[row * n + threadIdx.x] = tile[row][threadIdx.x];
}

// Factorises tile (k, k), a row a thread.
KERNEL diagonal(float *matrix, size_t n, size_t k) {
  __shared__ Tile tile;
  load(tile, tile_at(matrix, n, k, k), n);
  __syncthreads();
  const int row = threadIdx.x;
  for (int p = 0; p < kTile - 1; p++) {
    if (row > p) {
      const float factor = tile[row][p] /= tile[p][p];
      for (int column = p + 1; column < kTile; column++) tile[row][column] -= factor * tile[p][column];
    }
    __syncthreads();
  }
  store(tile_at(matrix, n, k, k), n, tile);
}

// Divides the tiles right of (k, k) by its lower factor, a column a thread.
KERNEL right(float *matrix, size_t n, size_t k) {
  __shared__ Tile lower, tile;
  float *here = tile_at(matrix, n, k, k + 1 + blockIdx.x);
  load(lower, tile_at(matrix, n, k, k), n);
  load(tile, here, n);
  __syncthreads();
  const int column = threadIdx.x;
  for (int row = 1; row < kTile; row++) {
    float x = tile[row][column];
    for (int p = 0; p < row; p++) x -= lower[row][p] * tile[p][column];
    tile[row][column] = x;
  }
  store(here, n, tile);
}

// Divides the tiles below (k, k) by its upper factor, a row a thread.
KERNEL below(float *matrix, size_t n, size_t k) {
  __shared__ Tile upper, tile;
  float *here = tile_at(matrix, n, k + 1 + blockIdx.x, k);
  load(upper, tile_at(matrix, n, k, k), n);
  load(tile, here, n);
  __syncthreads();
  const int row = threadIdx.x;
  for (int column = 0; column < kTile; column++) {
    float x = tile[row][column];
    for (int p = 0; p < column; p++) x -= tile[row][p] * upper[p][column];
    tile[row][column] = x / upper[column][column];
  }
  __syncthreads();
  store(here, n, tile);
}

// Subtracts from each tile right of and below (k, k) the product of the one at its left
// in column k and the one above it in row k.
KERNEL update(float *matrix, size_t n, size_t k) {
  __shared__ Tile left, above;
  const size_t row = k + 1 + blockIdx.y, column = k + 1 + blockIdx.x;
  const float *from_left = tile_at(matrix, n, row, k), *from_above = tile_at(matrix, n, k, column);
  const int tx = threadIdx.x, ty = threadIdx.y;
  for (int e = ty * kSide + tx; e < kTile * kTile; e += kSide * kSide) {
    left[e / kTile][e % kTile] = from_left[e / kTile * n + e % kTile];
    above[e / kTile][e % kTile] = from_above[e / kTile * n + e % kTile];
  }
  __syncthreads();
  float sum[kEach][kEach] = {};
  for (int p = 0; p < kTile; p++) {
    for (int i = 0; i < kEach; i++) {
      for (int j = 0; j < kEach; j++) sum[i][j] += left[ty + i * kSide][p] * above[p][tx + j * kSide];
    }
  }
  float *here = tile_at(matrix, n, row, column);
  for (int i = 0; i < kEach; i++) {
    for (int j = 0; j < kEach; j++) here[(ty + i * kSide) * n + tx + j * kSide] -= sum[i][j];
  }
}

class Lu {
 public:
  static constexpr Info info = {"lu", "LU factorisation by tiles: bound by arithmetic, then by latency.", "rows of the matrix",
                                8192, 25, 150, 1 << 17};

  static size_t bytes(size_t size) { return round_up(size, kTile) * round_up(size, kTile) * sizeof(float); }

  Lu(size_t size, uint64_t seed) : size_(size), seed_(seed), padded_(round_up(size, kTile)), matrix_(padded_ * padded_) {}

  void iterate() {
    LAUNCH(fill, blocks(padded_ * padded_, 256), 256, matrix_.get(), padded_, size_, seed_);
    const unsigned tiles = static_cast<unsigned>(padded_ / kTile);
    for (unsigned k = 0; k < tiles; k++) {
      LAUNCH(diagonal, 1, kTile, matrix_.get(), padded_, k);
      const unsigned rest = tiles - k - 1;
      if (rest == 0) break;
      LAUNCH(right, rest, kTile, matrix_.get(), padded_, k);
      LAUNCH(below, rest, kTile, matrix_.get(), padded_, k);
      LAUNCH(update, dim3(rest, rest), dim3(kSide, kSide), matrix_.get(), padded_, k);
    }
  }

  // The reference is in double precision. Above the diagonal values are of the order of
  // 1, on it of n, below it of 1/n, each rounded up to n times.
  void verify() const {
    std::vector<double> want(size_ * size_);
    for (size_t i = 0; i < size_; i++) {
      double *row = &want[i * size_];
      for (size_t j = 0; j < size_; j++) row[j] = value(seed_, size_, i, j);
      for (size_t p = 0; p < i; p++) {
        row[p] /= want[p * size_ + p];
        for (size_t j = p + 1; j < size_; j++) row[j] -= row[p] * want[p * size_ + j];
      }
    }
    const std::vector<float> got = matrix_.read();
    for (size_t i = 0; i < size_; i++) {
      for (size_t j = 0; j < size_; j++) {
        const double scale = i > j ? 1.0 / size_ : i == j ? size_ : 1.0;
        compare(i * padded_ + j, got[i * padded_ + j], want[i * size_ + j], 1e-6 * std::sqrt(size_) * scale);
      }
    }
  }

 private:
  size_t size_;
  uint64_t seed_;
  size_t padded_;
  Buffer<float> matrix_;
};

int main(int argc, char **argv) { return run<Lu>(argc, argv); }
