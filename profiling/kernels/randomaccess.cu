// Updates of random words of a table, as in the HPC Challenge's RandomAccess: bound by
// the latency of memory and by how many accesses it can have under way. Four updates a
// word and iteration, as there; ours are atomic, so that none is lost.
//
// Default size (estimated, not measured): 2^26 words, 0.54 GB; 2.7e8 updates an
// iteration, each a sector of 32 B read and written, 17 GB; 40 iterations at a third
// of the peak bandwidth: 1.3 s on an A100, 0.6 s on an H100.

#include "common.h"

using Word = unsigned long long;  // what atomicXor takes

constexpr unsigned kBlock = 256;
constexpr size_t kUpdates = 4;

KERNEL fill(Word *table, size_t n) {
  const size_t i = thread_number();
  if (i < n) table[i] = i;
}

// The place of an update among n words.
__host__ __device__ inline size_t place(uint64_t bits, size_t n) { return (bits >> 32) * n >> 32; }

KERNEL update(Word *table, size_t n, uint64_t seed) {
  const size_t i = thread_number();
  if (i >= kUpdates * n) return;
  const uint64_t bits = random_bits(seed, i);
  atomicXor(&table[place(bits, n)], static_cast<Word>(bits));
}

class RandomAccess {
 public:
  static constexpr Info info = {"randomaccess", "Random updates of a table: bound by memory latency.", "64-bit words of the table",
                                size_t{1} << 26, 40, 10000, size_t{1} << 32};

  static size_t bytes(size_t size) { return size * sizeof(Word); }

  RandomAccess(size_t size, uint64_t seed) : size_(size), seed_(seed), table_(size) {}

  void iterate() {
    LAUNCH(fill, blocks(size_, kBlock), kBlock, table_.get(), size_);
    LAUNCH(update, blocks(kUpdates * size_, kBlock), kBlock, table_.get(), size_, seed_);
  }

  // Exact: the order of the updates does not matter.
  void verify() const {
    std::vector<Word> want(size_);
    for (size_t i = 0; i < size_; i++) want[i] = i;
    for (size_t i = 0; i < kUpdates * size_; i++) {
      const uint64_t bits = random_bits(seed_, i);
      want[place(bits, size_)] ^= bits;
    }
    const std::vector<Word> got = table_.read();
    for (size_t i = 0; i < size_; i++) compare(i, got[i], want[i]);
  }

 private:
  size_t size_;
  uint64_t seed_;
  Buffer<Word> table_;
};

int main(int argc, char **argv) { return run<RandomAccess>(argc, argv); }
