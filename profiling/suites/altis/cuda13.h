// Calls that CUDA 13 changed, as Altis makes them. build.sh has every CUDA source include it. They are templates, so that
// a function of the toolkit with the same parameters is preferred.
#include <cuda_runtime_api.h>

#if defined(__cplusplus) && CUDART_VERSION >= 13000
static inline cudaMemLocation miglab_location(int device) {
  cudaMemLocation at{};
  at.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  at.id = device == cudaCpuDeviceId ? 0 : device;
  return at;
}

template <class T>
static inline cudaError_t cudaMemPrefetchAsync(const T *at, size_t bytes, int device, cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(static_cast<const void *>(at), bytes, miglab_location(device), 0u, stream);
}

template <class T>
static inline cudaError_t cudaMemAdvise(const T *at, size_t bytes, cudaMemoryAdvise advice, int device) {
  return cudaMemAdvise(static_cast<const void *>(at), bytes, advice, miglab_location(device));
}

template <class Node>
static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const Node *from, const Node *to, size_t n) {
  return cudaGraphAddDependencies(graph, from, to, static_cast<const cudaGraphEdgeData *>(nullptr), n);
}

template <class Graph>
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, Graph graph, cudaGraphNode_t *, char *, size_t) {
  return cudaGraphInstantiate(out, graph, 0ull);
}
#endif
