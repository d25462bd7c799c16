// The Needleman-Wunsch score of two sequences (J. Mol. Biol. 48, 1970): every cell waits
// for those left of it and above it, so that work moves over the table as a wave, one
// diagonal of tiles a launch, one block of one warp a tile. Few blocks, much waiting:
// scales badly.
//
// Default size (estimated, not measured): n = 16384, 1023 launches an iteration, each
// with 63 steps in shared memory of about 60 ns and tile borders from memory, 5 us
// or more; 1.1 GB written, 0.8 ms on an A100. 200 iterations: 1 to 1.5 s on an A100 or
// an H100, and little more on a small instance: 14 SMs hold 448 such blocks at once, the
// widest diagonal has 512.

#include "common.h"

constexpr int kTile = 32;
constexpr int kMatch = 5, kMismatch = -3, kGap = -4;
constexpr unsigned kLetters = 4;

// Letters of the first sequence are along the rows of the table, of the second along
// its columns.
__host__ __device__ inline uint8_t letter(uint64_t seed, size_t i) { return random_below(seed, i, kLetters); }

KERNEL fill(uint8_t *first, uint8_t *second, size_t n, uint64_t seed) {
  const size_t i = thread_number();
  if (i >= n) return;
  first[i] = letter(seed, i);
  second[i] = letter(~seed, i);
}

// The row and the column of the table that stand for nothing of a sequence.
KERNEL border(int *table, size_t n) {
  const size_t i = thread_number();
  if (i <= n) table[i] = table[i * (n + 1)] = static_cast<int>(i) * kGap;
}

KERNEL wave(int *table, const uint8_t *first, const uint8_t *second, size_t n, size_t first_row, size_t diagonal) {
  // An even number of columns puts the cells of a diagonal into different banks.
  __shared__ int cell[kTile + 1][kTile + 2];
  __shared__ uint8_t down[kTile];
  const size_t row = first_row + blockIdx.x, column = diagonal - row;  // of the tile
  int *corner = table + row * kTile * (n + 1) + column * kTile;
  const int t = threadIdx.x;
  cell[0][t + 1] = corner[t + 1];
  cell[t + 1][0] = corner[(t + 1) * (n + 1)];
  if (t == 0) cell[0][0] = corner[0];
  down[t] = first[row * kTile + t];
  const uint8_t across = second[column * kTile + t];
  // Thread t has column t, a row later than the thread left of it.
  for (int step = 0; step < 2 * kTile - 1; step++) {
    __syncthreads();
    const int r = step - t;
    if (r >= 0 && r < kTile) {
      int best = cell[r][t] + (down[r] == across ? kMatch : kMismatch);
      if (cell[r][t + 1] + kGap > best) best = cell[r][t + 1] + kGap;
      if (cell[r + 1][t] + kGap > best) best = cell[r + 1][t] + kGap;
      cell[r + 1][t + 1] = best;
    }
  }
  for (int r = 1; r <= kTile; r++) corner[r * (n + 1) + t + 1] = cell[r][t + 1];
}

class NeedlemanWunsch {
 public:
  static constexpr Info info = {"nw", "Needleman-Wunsch score of two sequences, as a wave: bound by latency.", "letters of a sequence",
                                16384, 200, 150, 1 << 17};

  static size_t bytes(size_t size) {
    const size_t n = round_up(size, kTile);
    return (n + 1) * (n + 1) * sizeof(int) + 2 * n;
  }

  // Sequences are padded to whole tiles: what comes after does not change a score.
  NeedlemanWunsch(size_t size, uint64_t seed)
      : size_(size), seed_(seed), padded_(round_up(size, kTile)), table_((padded_ + 1) * (padded_ + 1)), first_(padded_), second_(padded_) {
    LAUNCH(fill, blocks(padded_, 256), 256, first_.get(), second_.get(), padded_, seed);
    LAUNCH(border, blocks(padded_ + 1, 256), 256, table_.get(), padded_);
  }

  void iterate() {
    const size_t tiles = padded_ / kTile;
    for (size_t diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
      const size_t first_row = diagonal < tiles ? 0 : diagonal - tiles + 1;
      const size_t last_row = diagonal < tiles ? diagonal : tiles - 1;
      LAUNCH(wave, static_cast<unsigned>(last_row - first_row + 1), kTile, table_.get(), first_.get(), second_.get(), padded_, first_row,
             diagonal);
    }
  }

  // Exact.
  void verify() const {
    const std::vector<int> got = table_.read();
    std::vector<int> above(size_ + 1), row(size_ + 1);
    for (size_t j = 0; j <= size_; j++) row[j] = static_cast<int>(j) * kGap;
    for (size_t i = 1; i <= size_; i++) {
      above.swap(row);
      row[0] = static_cast<int>(i) * kGap;
      for (size_t j = 1; j <= size_; j++) {
        const int pair = letter(seed_, i - 1) == letter(~seed_, j - 1) ? kMatch : kMismatch;
        row[j] = std::max(above[j - 1] + pair, std::max(above[j], row[j - 1]) + kGap);
        compare(i * (padded_ + 1) + j, got[i * (padded_ + 1) + j], row[j]);
      }
    }
  }

 private:
  size_t size_;
  uint64_t seed_;
  size_t padded_;
  Buffer<int> table_;
  Buffer<uint8_t> first_, second_;
};

int main(int argc, char **argv) { return run<NeedlemanWunsch>(argc, argv); }
