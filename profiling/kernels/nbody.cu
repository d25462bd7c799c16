// Particles in a cube of cells, each of which acts on those of its own cell and of the
// 26 around it by a potential q exp(-r^2): bound by arithmetic and by the exponential. A
// block is a cell, a thread a particle of it.
//
// Default size (estimated, not measured): 32 cells along an edge, 128 particles each,
// 94^3 pairs of cells, 1.36e10 pairs of particles of about 16 instructions each, on a
// GPU that starts 9.7e12 (A100) or 3.3e13 (H100) a second: 22 and 6.5 ms; at half of
// that 60 iterations take 2.7 s on an A100, 0.8 s on an H100.

#include "common.h"

constexpr int kParticles = 128;

// A particle is x, y, z and q; its cell's number is z first.
__host__ __device__ inline float4 particle(uint64_t seed, int size, size_t i) {
  const size_t cell = i / kParticles;
  const int x = static_cast<int>(cell % size), y = static_cast<int>(cell / size % size), z = static_cast<int>(cell / size / size);
  return {x + uniform(seed, 4 * i), y + uniform(seed, 4 * i + 1), z + uniform(seed, 4 * i + 2), uniform(seed, 4 * i + 3)};
}

KERNEL fill(float4 *particles, int size, uint64_t seed) {
  const size_t i = thread_number();
  particles[i] = particle(seed, size, i);
}

// The force on each particle, and its potential in w.
KERNEL forces(const float4 *particles, float4 *results, int size) {
  __shared__ float4 others[kParticles];
  const int x = blockIdx.x % size, y = blockIdx.x / size % size, z = blockIdx.x / size / size;
  const float4 me = particles[thread_number()];
  float4 sum = {0, 0, 0, 0};
  for (int neighbour = 0; neighbour < 27; neighbour++) {
    const int nx = x + neighbour % 3 - 1, ny = y + neighbour / 3 % 3 - 1, nz = z + neighbour / 9 - 1;
    if (nx < 0 || nx >= size || ny < 0 || ny >= size || nz < 0 || nz >= size) continue;
    const size_t cell = (static_cast<size_t>(nz) * size + ny) * size + nx;
    others[threadIdx.x] = particles[cell * kParticles + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < kParticles; i++) {
      const float dx = me.x - others[i].x, dy = me.y - others[i].y, dz = me.z - others[i].z;
      const float v = others[i].w * expf(-(dx * dx + dy * dy + dz * dz));
      sum.x += v * dx;
      sum.y += v * dy;
      sum.z += v * dz;
      sum.w += v;
    }
    __syncthreads();
  }
  results[thread_number()] = sum;
}

class NBody {
 public:
  static constexpr Info info = {"nbody", "Particles that act on those of the cells around: bound by arithmetic.", "cells along an edge",
                                32, 60, 2, 1024};

  static size_t bytes(size_t size) { return 2 * size * size * size * kParticles * sizeof(float4); }

  NBody(size_t size, uint64_t seed)
      : size_(static_cast<int>(size)), cells_(static_cast<unsigned>(size * size * size)), seed_(seed),
        particles_(size_t{cells_} * kParticles), results_(size_t{cells_} * kParticles) {
    LAUNCH(fill, cells_, kParticles, particles_.get(), size_, seed_);
  }

  void iterate() { LAUNCH(forces, cells_, kParticles, particles_.get(), results_.get(), size_); }

  // The reference is in double precision, and sums over all particles of cells around. No
  // term is larger than its share of the potential.
  void verify() const {
    const std::vector<float4> got = results_.read();
    std::vector<float4> particles(got.size());
    for (size_t i = 0; i < particles.size(); i++) particles[i] = particle(seed_, size_, i);
    for (size_t i = 0; i < got.size(); i++) {
      const float4 me = particles[i];
      double x = 0, y = 0, z = 0, w = 0;
      for (size_t cell = 0; cell < cells_; cell++) {
        if (!adjacent(i / kParticles, cell)) continue;
        for (size_t j = cell * kParticles; j < (cell + 1) * kParticles; j++) {
          const double dx = double{me.x} - particles[j].x, dy = double{me.y} - particles[j].y, dz = double{me.z} - particles[j].z;
          const double v = particles[j].w * std::exp(-(dx * dx + dy * dy + dz * dz));
          x += v * dx;
          y += v * dy;
          z += v * dz;
          w += v;
        }
      }
      const double allowed = 3e-5 * w;
      compare(4 * i, got[i].x, x, allowed);
      compare(4 * i + 1, got[i].y, y, allowed);
      compare(4 * i + 2, got[i].z, z, allowed);
      compare(4 * i + 3, got[i].w, w, allowed);
    }
  }

 private:
  bool adjacent(size_t a, size_t b) const {
    for (int axis = 0; axis < 3; axis++) {
      if (std::abs(static_cast<int>(a % size_) - static_cast<int>(b % size_)) > 1) return false;
      a /= size_;
      b /= size_;
    }
    return true;
  }

  int size_;
  unsigned cells_;
  uint64_t seed_;
  Buffer<float4> particles_, results_;
};

int main(int argc, char **argv) { return run<NBody>(argc, argv); }
