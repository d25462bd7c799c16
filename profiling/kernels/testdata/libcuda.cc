// A libcuda.so.1 for tests: the driver's functions that package cuda calls, on the emulated
// GPU of host.h. Loading PTX looks for the kernels among those of the sources by the number
// of their entries and their names, so a kernel that is missing in either is an error.
//
//   MIGLAB_EMULATED_UUID=HEX   32 digits; if not given, those in CUDA_VISIBLE_DEVICES, or zeros
//   MIGLAB_EMULATED_NAME=NAME  name of the device; "emulated" follows it
//   MIGLAB_EMULATED_FAIL=NAME=CODE   function NAME of the driver returns an error
//   MIGLAB_EMULATED_CAPABILITY=90    ten times the compute capability
//   MIGLAB_EMULATED_SLOW=1     a context takes a millisecond to become current
//
// Multiprocessors are divided as on a GPU of compute capability 9: in groups of 8, or of 2 if
// clusters are ignored. With -DOLD_DRIVER the library has no green contexts, as before CUDA 12.4.
// Kernels run one after the other, also those of different threads.

#define KERNEL __global__ void
#include "../common.h"

#include <chrono>
#include <mutex>
#include <thread>
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
namespace nw {
#include "../nw.cu"
}
namespace randomaccess {
#include "../randomaccess.cu"
}
namespace reduction {
#include "../reduction.cu"
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
    {ENTRY(nw, fill), ENTRY(nw, border), ENTRY(nw, wave)},
    {ENTRY(randomaccess, fill), ENTRY(randomaccess, update)},
    {ENTRY(reduction, fill), ENTRY(reduction, sum)},
    {ENTRY(stream, fill), ENTRY(stream, triad)},
};

enum { kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 100, kInvalidImage = 200, kInvalidContext = 201, kInvalidHandle = 400, kNotFound = 500, kLaunchFailed = 719, kInvalidResourceType = 914, kInvalidResourceConfiguration = 915 };

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

struct Context {
  int sms = 0;
};
struct Stream {
  const Context *context;
};
struct Loaded {
  const Module *kernels;
  const Context *context;
};
struct Kernel {
  const Function *function;
  const Context *context;
};
struct Event {
  std::chrono::steady_clock::time_point at;
  bool recorded = false;
};

static Context primary;
static thread_local Context *current = nullptr;
static std::mutex one_at_a_time;  // the emulation has one set of threadIdx and so on

static int multiprocessors() { return std::stoi(emulation::setting("MIGLAB_EMULATED_SMS", "1")); }

extern "C" {

int cuInit(unsigned) { return asked("cuInit"); }

int cuDeviceGet(int *device, int) {
  *device = 0;
  return asked("cuDeviceGet");
}

int cuDriverGetVersion(int *version) {
  *version = 12080;
  return kSuccess;
}

int cuDeviceGetName(char *name, int length, int) {
  const std::string given = emulation::setting("MIGLAB_EMULATED_NAME", "");
  std::snprintf(name, length, "%semulated", given.empty() ? "" : (given + " ").c_str());
  return kSuccess;
}

int cuDeviceGetUuid_v2(unsigned char *uuid, int) {
  std::string digits = emulation::setting("MIGLAB_EMULATED_UUID", "");
  if (digits.empty()) {
    std::string visible = emulation::setting("CUDA_VISIBLE_DEVICES", "");
    if (visible.rfind("GPU-", 0) == 0 || visible.rfind("MIG-", 0) == 0) {
      visible.erase(0, 4);
      visible.erase(std::remove(visible.begin(), visible.end(), '-'), visible.end());
      digits = visible;
    }
  }
  digits.resize(32, '0');
  for (int i = 0; i < 16; i++) uuid[i] = std::stoi(digits.substr(2 * i, 2), nullptr, 16);
  return kSuccess;
}

int cuDeviceTotalMem_v2(size_t *bytes, int) {
  *bytes = emulation::memory;
  return kSuccess;
}

int cuDeviceGetAttribute(int *value, int attribute, int) {
  const int capability = std::stoi(emulation::setting("MIGLAB_EMULATED_CAPABILITY", "90"));
  switch (attribute) {
    case 16: *value = multiprocessors(); break;
    case 75: *value = capability / 10; break;
    case 76: *value = capability % 10; break;
    default: *value = 0;
  }
  return kSuccess;
}

int cuDevicePrimaryCtxRetain(Context **context, int) {
  *context = &primary;
  return asked("cuDevicePrimaryCtxRetain");
}

int cuDevicePrimaryCtxRelease_v2(int) { return kSuccess; }

int cuCtxSetCurrent(Context *context) {
  current = context;
  if (!emulation::setting("MIGLAB_EMULATED_SLOW", "").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return kSuccess;
}

int cuStreamCreate(Stream **stream, unsigned) {
  if (current == nullptr) return kInvalidContext;
  *stream = new Stream{current};
  return asked("cuStreamCreate");
}

int cuStreamDestroy_v2(Stream *stream) {
  delete stream;
  return kSuccess;
}

int cuStreamSynchronize(const Stream *stream) {
  if (current == nullptr) return kInvalidContext;
  if (stream != nullptr && stream->context != current) return kInvalidHandle;
  return asked("cuStreamSynchronize");
}

int cuEventCreate(Event **event, unsigned) {
  *event = new Event;
  return kSuccess;
}

int cuEventRecord(Event *event, const Stream *stream) {
  if (stream != nullptr && stream->context != current) return kInvalidHandle;
  *event = {std::chrono::steady_clock::now(), true};
  return asked("cuEventRecord");
}

int cuEventSynchronize(Event *) { return kSuccess; }

int cuEventElapsedTime(float *milliseconds, const Event *from, const Event *to) {
  if (!from->recorded || !to->recorded) return kInvalidHandle;
  *milliseconds = std::chrono::duration<float, std::milli>(to->at - from->at).count();
  return kSuccess;
}

int cuEventDestroy_v2(Event *event) {
  delete event;
  return kSuccess;
}

int cuModuleLoadData(Loaded **module, const char *ptx) {
  if (current == nullptr) return kInvalidContext;
  const auto has = [ptx](const std::string &name) { return std::strstr(ptx, (".visible .entry " + name + "(\n").c_str()) != nullptr; };
  size_t entries = 0;
  for (const char *p = ptx; (p = std::strstr(p, ".visible .entry ")) != nullptr; p++) entries++;
  for (const Module &candidate : modules) {
    if (candidate.size() != entries || !std::all_of(candidate.begin(), candidate.end(), [&](auto &entry) { return has(entry.first); })) continue;
    *module = new Loaded{&candidate, current};
    return asked("cuModuleLoadData");
  }
  return kInvalidImage;
}

int cuModuleUnload(Loaded *module) {
  delete module;
  return kSuccess;
}

int cuModuleGetFunction(const Kernel **kernel, const Loaded *module, const char *name) {
  const auto found = module->kernels->find(name);
  if (found == module->kernels->end()) return kNotFound;
  *kernel = new Kernel{&found->second, module->context};
  return kSuccess;
}

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  void *p = nullptr;
  const int code = result("cuMemAlloc", cudaMalloc(&p, bytes));
  *pointer = reinterpret_cast<uint64_t>(p);
  return code;
}

int cuMemFree_v2(uint64_t pointer) {
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  return result("cuMemFree", cudaFree(reinterpret_cast<void *>(pointer)));
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, const Stream *) {
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  return result("cuMemcpyHtoD", cudaMemcpy(reinterpret_cast<void *>(to), from, bytes, cudaMemcpyHostToDevice));
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, const Stream *) {
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  return result("cuMemcpyDtoH", cudaMemcpy(to, reinterpret_cast<void *>(from), bytes, cudaMemcpyDeviceToHost));
}

int cuMemsetD8Async(uint64_t at, unsigned char value, size_t bytes, const Stream *) {
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  return result("cuMemsetD8", cudaMemset(reinterpret_cast<void *>(at), value, bytes));
}

// A kernel runs in the context that it was loaded into, and in a stream of that context.
int cuLaunchKernel(const Kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned, const Stream *stream,
                   void **arguments, void **) {
  if (current == nullptr) return kInvalidContext;
  if (kernel->context != current || (stream != nullptr && stream->context != current)) return kInvalidHandle;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  (*kernel->function)(dim3(gx, gy, gz), dim3(bx, by, bz), arguments);
  return result("cuLaunchKernel", cudaGetLastError());
}

#ifndef OLD_DRIVER

// A resource, in the driver's layout. What it is made of is the driver's business, in the bytes
// before the count.
struct Resource {
  int type;
  int from;       // 1: the device, 2: a green context, 3: a group of a split, 4: the rest of a split
  uint64_t split; // the number of the split
  int first;      // the first multiprocessor
  unsigned char padding[76];
  unsigned count;
  unsigned char reserved[44];
};
static_assert(sizeof(Resource) == 144 && offsetof(Resource, count) == 96, "the driver's layout");

struct Description {
  std::vector<Resource> resources;
};
struct Green {
  Context context;
  std::vector<Resource> resources;
};

static uint64_t splits = 0;

static Resource resource(int from, uint64_t split, int first, int count) {
  Resource r{};
  r.type = 1, r.from = from, r.split = split, r.first = first, r.count = count;
  std::memset(r.reserved, 0x5a, sizeof r.reserved);  // later versions have more fields
  return r;
}

int cuDeviceGetDevResource(int, Resource *out, int type) {
  if (type != 1) return kInvalidResourceType;
  *out = resource(1, 0, 0, multiprocessors());
  return asked("cuDeviceGetDevResource");
}

int cuDevSmResourceSplitByCount(Resource *groups, unsigned *number, const Resource *of, Resource *rest, unsigned flags, unsigned least) {
  if (number == nullptr || of == nullptr || (flags & ~3u) != 0 || least > of->count) return kInvalidValue;
  if (of->type != 1) return kInvalidResourceType;
  if (of->from > 2) return kInvalidResourceConfiguration;  // what a split gave cannot be split again
  const unsigned grain = flags & 1 ? 2 : 8;
  const unsigned size = std::max(grain, (least + grain - 1) / grain * grain);
  const unsigned possible = of->count / size;
  *number = groups == nullptr ? possible : std::min(*number, possible);
  splits++;
  for (unsigned i = 0; groups != nullptr && i < *number; i++) groups[i] = resource(3, splits, of->first + i * size, size);
  if (rest != nullptr) *rest = resource(4, splits, of->first + *number * size, of->count - *number * size);
  return asked("cuDevSmResourceSplitByCount");
}

int cuDevResourceGenerateDesc(Description **description, const Resource *resources, unsigned count) {
  if (count == 0 || resources == nullptr) return kInvalidValue;
  for (unsigned i = 0; i < count; i++) {
    if (resources[i].type != 1) return kInvalidResourceType;
    if (count > 1 && (resources[i].from != 3 || resources[i].split != resources[0].split)) return kInvalidResourceConfiguration;
  }
  *description = new Description{{resources, resources + count}};
  return asked("cuDevResourceGenerateDesc");
}

int cuGreenCtxCreate(Green **green, Description *description, int, unsigned flags) {
  if (flags != 1) return kInvalidValue;
  int sms = 0;
  for (const Resource &r : description->resources) sms += r.count;
  *green = new Green{{sms}, description->resources};
  return asked("cuGreenCtxCreate");
}

int cuGreenCtxDestroy(Green *green) {
  delete green;
  return asked("cuGreenCtxDestroy");
}

int cuGreenCtxGetDevResource(const Green *green, Resource *out, int type) {
  if (type != 1) return kInvalidResourceType;
  *out = resource(2, 0, green->resources[0].first, green->context.sms);
  return asked("cuGreenCtxGetDevResource");
}

int cuCtxFromGreenCtx(Context **context, Green *green) {
  *context = &green->context;
  return asked("cuCtxFromGreenCtx");
}

#endif

int cuGetErrorString(int code, const char **text) {
  *text = code == kOutOfMemory ? "out of memory" : code == kNoDevice ? "no CUDA-capable device is detected" : "an error of the emulation";
  return kSuccess;
}
}
