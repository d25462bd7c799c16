// The part of the CUDA driver's API that this package calls, without the CUDA toolkit's headers: load() finds the
// functions in libcuda.so.1. cgo includes this file once in each C file that it writes.

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgreenCtx_st *CUgreenCtx;
typedef struct CUdevResourceDesc_st *CUdevResourceDesc;

// A resource of a device: 144 bytes since CUDA 12.4, of which the driver owns most. The count
// is at offset 96. In later versions, other fields follow it within the same size.
typedef struct {
  int type;
  unsigned char driver_s_own[92];
  union {
    struct {
      unsigned count;
    } sms;
    unsigned char reserved[48];
  } u;
} __attribute__((aligned(8))) CUdevResource;

_Static_assert(sizeof(CUdevResource) == 144 && offsetof(CUdevResource, u) == 96, "the layout that the driver expects");

// The functions of the driver, by the names that libcuda.so.1 exports. Where it has a later
// version of a function, it is that.
#define FUNCTIONS(F)                                                      \
  F(cuInit, (unsigned flags), (flags))                                    \
  F(cuDeviceGet, (CUdevice *device, int ordinal), (device, ordinal))      \
  F(cuDriverGetVersion, (int *version), (version))                        \
  F(cuDeviceGetName, (char *name, int length, CUdevice device), (name, length, device)) \
  F(cuDeviceGetUuid_v2, (unsigned char *uuid, CUdevice device), (uuid, device)) \
  F(cuDeviceTotalMem_v2, (size_t *bytes, CUdevice device), (bytes, device)) \
  F(cuDeviceGetAttribute, (int *value, int attribute, CUdevice device), (value, attribute, device)) \
  F(cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice device), (context, device)) \
  F(cuDevicePrimaryCtxRelease_v2, (CUdevice device), (device))            \
  F(cuCtxSetCurrent, (CUcontext context), (context))                      \
  F(cuStreamSynchronize, (CUstream stream), (stream))                     \
  F(cuStreamCreate, (CUstream *stream, unsigned flags), (stream, flags))  \
  F(cuStreamDestroy_v2, (CUstream stream), (stream))                      \
  F(cuEventCreate, (CUevent *event, unsigned flags), (event, flags))      \
  F(cuEventRecord, (CUevent event, CUstream stream), (event, stream))     \
  F(cuEventSynchronize, (CUevent event), (event))                         \
  F(cuEventElapsedTime, (float *milliseconds, CUevent from, CUevent to), (milliseconds, from, to)) \
  F(cuEventDestroy_v2, (CUevent event), (event))                          \
  F(cuModuleLoadData, (CUmodule *module, const void *image), (module, image)) \
  F(cuModuleUnload, (CUmodule module), (module))                          \
  F(cuModuleGetFunction, (CUfunction *function, CUmodule module, const char *name), (function, module, name)) \
  F(cuMemAlloc_v2, (CUdeviceptr *pointer, size_t bytes), (pointer, bytes)) \
  F(cuMemFree_v2, (CUdeviceptr pointer), (pointer))                       \
  F(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t n, CUstream stream), (to, from, n, stream)) \
  F(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream), (to, from, bytes, stream)) \
  F(cuMemsetD8Async, (CUdeviceptr at, unsigned char value, size_t bytes, CUstream stream), (at, value, bytes, stream)) \
  F(cuLaunchKernel, (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
    unsigned shared, CUstream stream, void **arguments, void **extra), \
    (f, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra)) \
  F(cuGetErrorString, (CUresult error, const char **text), (error, text))

// Functions since CUDA 12.4, which only partitions need.
#define PARTITION_FUNCTIONS(F)                                            \
  F(cuDeviceGetDevResource, (CUdevice device, CUdevResource *resource, int type), (device, resource, type)) \
  F(cuDevSmResourceSplitByCount, (CUdevResource *groups, unsigned *count, const CUdevResource *of, \
    CUdevResource *rest, unsigned flags, unsigned least), (groups, count, of, rest, flags, least)) \
  F(cuDevResourceGenerateDesc, (CUdevResourceDesc *d, CUdevResource *resources, unsigned n), (d, resources, n)) \
  F(cuGreenCtxCreate, (CUgreenCtx *green, CUdevResourceDesc d, CUdevice device, unsigned flags), \
    (green, d, device, flags)) \
  F(cuGreenCtxDestroy, (CUgreenCtx green), (green))                       \
  F(cuGreenCtxGetDevResource, (CUgreenCtx green, CUdevResource *resource, int type), (green, resource, type)) \
  F(cuCtxFromGreenCtx, (CUcontext *context, CUgreenCtx green), (context, green))

#define DECLARE(name, parameters, arguments)              \
  static CUresult (*name##_at) parameters;                \
  static CUresult name parameters { return name##_at arguments; }
FUNCTIONS(DECLARE)
PARTITION_FUNCTIONS(DECLARE)

static const char *no_partitions; // the first function for partitions that is missing

// Loads the library and returns NULL, or the name of what is missing.
static const char *load(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return "libcuda.so.1";
#define FIND(name, parameters, arguments) \
  if ((*(void **)&name##_at = dlsym(library, #name)) == NULL) return #name;
  FUNCTIONS(FIND)
#define TRY(name, parameters, arguments) \
  if ((*(void **)&name##_at = dlsym(library, #name)) == NULL && no_partitions == NULL) no_partitions = #name;
  PARTITION_FUNCTIONS(TRY)
  return NULL;
}

static const char *missing_for_partitions(void) { return no_partitions; }

// Launches a kernel whose arguments stand in slots of 8 bytes.
static CUresult launch(CUstream stream, CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                       unsigned bz, uint64_t *slots, int n) {
  void *arguments[16];
  for (int i = 0; i < n; i++) arguments[i] = &slots[i];
  return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, 0, stream, arguments, NULL);
}
