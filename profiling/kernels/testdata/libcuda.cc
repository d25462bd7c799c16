// A libcuda.so.1 for tests: the driver's functions that package cuda calls, on the emulated
// GPU of host.h. Loading PTX looks for the kernels among those of the sources by the number
// of their entries and their names, so a kernel that is missing in either is an error.
//
//   MIGLAB_EMULATED_UUID=HEX   32 digits; zeros if not given
//   MIGLAB_EMULATED_FAIL=NAME=CODE   function NAME of the driver returns an error

#define KERNEL __global__ void
#include "../common.h"

#include <utility>

#define main in_a_namespace
namespace bfs {
#include "../bfs.cu"
}
namespace gaussian {
#include "../gaussian.cu"
}
namespace gemm {
#include "../gemm.cu"
}
namespace lu {
#include "../lu.cu"
}
namespace nbody {
#include "../nbody.cu"
}
namespace nw {
#include "../nw.cu"
}
namespace randomaccess {
#include "../randomaccess.cu"
}
namespace reduction {
#include "../reduction.cu"
}
namespace stencil {
#include "../stencil.cu"
}
namespace stream {
#include "../stream.cu"
}

using Arguments = void **;
using Function = std::function<void(dim3, dim3, Arguments)>;

template <class... A, size_t... I>
Function wrap(const char *name, void (*kernel)(A...), std::index_sequence<I...>) {
  return [=](dim3 grid, dim3 block, Arguments arguments) {
    // As the driver does, at the launch.
    const std::tuple<A...> values{*static_cast<A *>(arguments[I])...};
    emulation::launch(name, grid, block, [&] { std::apply(kernel, values); });
  };
}

template <class... A>
Function wrap(const char *name, void (*kernel)(A...)) {
  return wrap(name, kernel, std::index_sequence_for<A...>{});
}

using Module = std::map<std::string, Function>;

#define ENTRY(program, kernel) {#kernel, wrap(#kernel, program::kernel)}
static const std::vector<Module> modules = {
    {ENTRY(bfs, fill), ENTRY(bfs, expand)},
    {ENTRY(gaussian, fill), ENTRY(gaussian, multipliers), ENTRY(gaussian, eliminate)},
    {ENTRY(gemm, fill), ENTRY(gemm, multiply)},
    {ENTRY(lu, fill), ENTRY(lu, diagonal), ENTRY(lu, right), ENTRY(lu, below), ENTRY(lu, update)},
    {ENTRY(nbody, fill), ENTRY(nbody, forces)},
    {ENTRY(nw, fill), ENTRY(nw, border), ENTRY(nw, wave)},
    {ENTRY(randomaccess, fill), ENTRY(randomaccess, update)},
    {ENTRY(reduction, fill), ENTRY(reduction, sum)},
    {ENTRY(stencil, fill), ENTRY(stencil, sweep)},
    {ENTRY(stream, fill), ENTRY(stream, triad)},
};

enum { kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 100, kInvalidImage = 200, kNotFound = 500, kLaunchFailed = 719 };

// The error that the test asks of a function.
static int asked(const char *name) {
  const std::string fail = emulation::setting("MIGLAB_EMULATED_FAIL", "");
  const size_t equals = fail.find('=');
  return equals != std::string::npos && fail.substr(0, equals) == name ? std::stoi(fail.substr(equals + 1)) : kSuccess;
}

static int result(const char *name, cudaError_t error) {
  switch (error) {
    case cudaSuccess: return asked(name);
    case cudaErrorMemoryAllocation: return kOutOfMemory;
    case cudaErrorLaunchFailure: return kLaunchFailed;
    default: return kInvalidValue;
  }
}

extern "C" {

int cuInit(unsigned) { return asked("cuInit"); }

int cuDeviceGet(int *device, int) {
  *device = 0;
  return asked("cuDeviceGet");
}

int cuDeviceGetName(char *name, int length, int) {
  std::snprintf(name, length, "emulated");
  return kSuccess;
}

int cuDeviceGetUuid_v2(unsigned char *uuid, int) {
  const std::string digits = emulation::setting("MIGLAB_EMULATED_UUID", "00000000000000000000000000000000");
  for (int i = 0; i < 16; i++) uuid[i] = std::stoi(digits.substr(2 * i, 2), nullptr, 16);
  return kSuccess;
}

int cuDeviceTotalMem_v2(size_t *bytes, int) {
  *bytes = emulation::memory;
  return kSuccess;
}

int cuDeviceGetAttribute(int *value, int attribute, int) {
  *value = attribute == 16 ? std::stoi(emulation::setting("MIGLAB_EMULATED_SMS", "1")) : 0;
  return kSuccess;
}

int cuDevicePrimaryCtxRetain(void **context, int) {
  *context = reinterpret_cast<void *>(&asked);
  return asked("cuDevicePrimaryCtxRetain");
}

int cuDevicePrimaryCtxRelease_v2(int) { return kSuccess; }
int cuCtxSetCurrent(void *) { return kSuccess; }
int cuCtxSynchronize() { return asked("cuCtxSynchronize"); }

int cuModuleLoadData(const Module **module, const char *ptx) {
  const auto has = [ptx](const std::string &name) { return std::strstr(ptx, (".visible .entry " + name + "(\n").c_str()) != nullptr; };
  size_t entries = 0;
  for (const char *p = ptx; (p = std::strstr(p, ".visible .entry ")) != nullptr; p++) entries++;
  for (const Module &candidate : modules) {
    if (candidate.size() != entries || !std::all_of(candidate.begin(), candidate.end(), [&](auto &entry) { return has(entry.first); })) continue;
    *module = &candidate;
    return asked("cuModuleLoadData");
  }
  return kInvalidImage;
}

int cuModuleGetFunction(const Function **function, const Module *module, const char *name) {
  const auto found = module->find(name);
  if (found == module->end()) return kNotFound;
  *function = &found->second;
  return kSuccess;
}

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
  void *p = nullptr;
  const int code = result("cuMemAlloc", cudaMalloc(&p, bytes));
  *pointer = reinterpret_cast<uint64_t>(p);
  return code;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  return result("cuMemcpyHtoD", cudaMemcpy(reinterpret_cast<void *>(to), from, bytes, cudaMemcpyHostToDevice));
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  return result("cuMemcpyDtoH", cudaMemcpy(to, reinterpret_cast<void *>(from), bytes, cudaMemcpyDeviceToHost));
}

int cuMemsetD8_v2(uint64_t at, unsigned char value, size_t bytes) {
  return result("cuMemsetD8", cudaMemset(reinterpret_cast<void *>(at), value, bytes));
}

int cuLaunchKernel(const Function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned, void *,
                   void **arguments, void **) {
  (*function)(dim3(gx, gy, gz), dim3(bx, by, bz), arguments);
  return result("cuLaunchKernel", cudaGetLastError());
}

int cuGetErrorString(int code, const char **text) {
  *text = code == kOutOfMemory ? "out of memory" : code == kNoDevice ? "no CUDA-capable device is detected" : "an error of the emulation";
  return kSuccess;
}
}
