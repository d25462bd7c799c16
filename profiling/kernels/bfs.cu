// Breadth-first search of a random graph from vertex 0, level by level: a thread a
// vertex of the frontier, and the host asks after each level whether another one
// follows. Irregular: bound by the latency of memory and, in the first and last levels,
// of the host.
//
// Default size (estimated, not measured): 2^22 vertices, 7.5e7 edges. An iteration
// reads each edge and one random word of 4 B for it, 32 B of a sector, 2.7 GB, at half of
// the peak bandwidth 3.5 ms on an A100, 1.6 ms on an H100; about 7 levels of 20 us for
// launch, copy and answer. 300 iterations: 1.1 s on an A100, 0.5 s on an H100.

#include "common.h"

constexpr unsigned kBlock = 256;

// Few vertices have many edges: 4 for one half of them, 8 for a quarter and so on, up
// to 512. The seed has no say in it, so that it cannot change the memory needed.
size_t degree(size_t vertex) {
  size_t edges = 4;
  for (size_t v = vertex + 1; v % 2 == 0 && edges < 512; v /= 2) edges *= 2;
  return edges;
}

size_t edge_count(size_t vertices) {
  size_t edges = 0;
  for (size_t v = 0; v < vertices; v++) edges += degree(v);
  return edges;
}

// Where an edge leads.
__host__ __device__ inline unsigned target(uint64_t seed, size_t edge, size_t vertices) {
  return static_cast<unsigned>(random_below(seed, edge, vertices));
}

KERNEL fill(unsigned *targets, size_t edges, size_t vertices, uint64_t seed) {
  const size_t i = thread_number();
  if (i < edges) targets[i] = target(seed, i, vertices);
}

// Gives the neighbours of the frontier that have no level yet the next one, and puts
// them into the next frontier, in no order.
KERNEL expand(const unsigned *offsets, const unsigned *targets, int *levels, int level, const unsigned *frontier,
                       unsigned count, unsigned *next, unsigned *next_count) {
  const size_t i = thread_number();
  if (i >= count) return;
  const unsigned vertex = frontier[i];
  for (unsigned edge = offsets[vertex]; edge < offsets[vertex + 1]; edge++) {
    const unsigned to = targets[edge];
    if (levels[to] == -1 && atomicCAS(&levels[to], -1, level + 1) == -1) next[atomicAdd(next_count, 1u)] = to;
  }
}

class Bfs {
 public:
  static constexpr Info info = {"bfs", "Breadth-first search of a random graph: irregular, bound by latency.", "vertices",
                                size_t{1} << 22, 300, 5000, size_t{1} << 27};

  static size_t bytes(size_t size) { return ((size + 1) + edge_count(size) + size + 2 * size + 1) * sizeof(unsigned); }

  Bfs(size_t size, uint64_t seed)
      : size_(size),
        seed_(seed),
        edges_(edge_count(size)),
        offsets_(size + 1),
        targets_(edges_),
        levels_(size),
        frontier_(size),
        next_(size),
        next_count_(1) {
    std::vector<unsigned> offsets(size + 1);
    for (size_t v = 0; v < size; v++) offsets[v + 1] = offsets[v] + static_cast<unsigned>(degree(v));
    offsets_.write(offsets);
    LAUNCH(fill, blocks(edges_, kBlock), kBlock, targets_.get(), edges_, size_, seed_);
  }

  void iterate() {
    levels_.set_bytes(0xff);  // -1
    levels_.write({0});
    frontier_.write({0});
    unsigned *frontier = frontier_.get(), *next = next_.get();
    unsigned count = 1;
    for (int level = 0; count > 0; level++) {
      next_count_.write({0});
      LAUNCH(expand, blocks(count, kBlock), kBlock, offsets_.get(), targets_.get(), levels_.get(), level, frontier, count, next,
             next_count_.get());
      count = next_count_.read()[0];
      std::swap(frontier, next);
    }
  }

  // Exact.
  void verify() const {
    std::vector<size_t> first_edge(size_ + 1);
    for (size_t v = 0; v < size_; v++) first_edge[v + 1] = first_edge[v] + degree(v);
    std::vector<int> want(size_, -1);
    std::vector<size_t> queue = {0};
    want[0] = 0;
    for (size_t head = 0; head < queue.size(); head++) {
      const size_t vertex = queue[head];
      for (size_t edge = first_edge[vertex]; edge < first_edge[vertex + 1]; edge++) {
        const unsigned to = target(seed_, edge, size_);
        if (want[to] != -1) continue;
        want[to] = want[vertex] + 1;
        queue.push_back(to);
      }
    }
    const std::vector<int> got = levels_.read();
    for (size_t i = 0; i < size_; i++) compare(i, got[i], want[i]);
  }

 private:
  size_t size_;
  uint64_t seed_;
  size_t edges_;
  Buffer<unsigned> offsets_, targets_;
  Buffer<int> levels_;
  Buffer<unsigned> frontier_, next_, next_count_;
};

int main(int argc, char **argv) { return run<Bfs>(argc, argv); }
