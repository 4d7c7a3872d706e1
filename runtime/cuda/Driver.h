// The CUDA driver API, loaded at run time: the types and functions that are
// used here, declared without a CUDA header.
#pragma once

#include "runtime/HostAbi.h"

#include <cstddef>
#include <cstdint>

// What the driver's handles point to, under the names of its own header.
struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUmod_st;
struct CUfunc_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;

namespace tessera::runtime::cuda {

// Handles of the driver.
using Context = CUctx_st *;
using StreamHandle = CUstream_st *;
using EventHandle = CUevent_st *;
using ModuleHandle = CUmod_st *;
using FunctionHandle = CUfunc_st *;
using GraphHandle = CUgraph_st *;
using GraphNode = CUgraphNode_st *;
using GraphExec = CUgraphExec_st *;
using DevicePointer = uint64_t; // CUdeviceptr

// CUresult: the codes that something is done about.
enum class Result : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  Deinitialized = 4,
  DeviceUnavailable = 46,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  EccUncorrectable = 214,
  InvalidPtx = 218,
  NvlinkUncorrectable = 220,
  JitCompilerNotFound = 221,
  UnsupportedPtxVersion = 222,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  ContextDestroyed = 709,
  Assert = 710,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidPc = 718,
  LaunchFailed = 719,
  SystemDriverMismatch = 803,
  Unknown = 999,
};

// CUdevice_attribute.
enum class Attribute : int {
  MaxThreadsPerBlock = 1,
  ClockRate = 13,
  Multiprocessors = 16,
  MaxSharedPerMultiprocessor = 81,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
  MaxSharedPerBlockOptin = 97,
};

// CUfunction_attribute.
enum class FunctionAttribute : int {
  SharedBytes = 1,
  Registers = 4,
  MaxDynamicShared = 8,
};

// CUjit_option.
enum class JitOption : int {
  InfoLog = 3,
  InfoLogBytes = 4,
  ErrorLog = 5,
  ErrorLogBytes = 6,
};

constexpr unsigned kStreamNonBlocking = 1;        // CU_STREAM_NON_BLOCKING
constexpr unsigned kEventDisableTiming = 2;       // CU_EVENT_DISABLE_TIMING
constexpr int kMemoryHost = 1, kMemoryDevice = 2; // CUmemorytype

// CUDA_KERNEL_NODE_PARAMS, the first version.
struct KernelNodeParams {
  FunctionHandle function;
  unsigned grid[3], block[3], sharedBytes;
  void **parameters;
  void **extra;
};

// CUDA_MEMCPY3D.
struct CopyParams {
  struct End {
    size_t x, y, z, level;
    int memoryType;
    void *host;
    DevicePointer device;
    void *array, *reserved;
    size_t pitch, height;
  } source, destination;
  size_t width, height, depth;
};

// CUDA_MEMSET_NODE_PARAMS.
struct FillParams {
  DevicePointer destination;
  size_t pitch;
  unsigned value, elementBytes;
  size_t width, height;
};

// X(member, the name that the driver exports, parameters)
#define TESSERA_CUDA_FUNCTIONS(X)                                              \
  X(init, cuInit, (unsigned))                                                  \
  X(driverGetVersion, cuDriverGetVersion, (int *))                             \
  X(getErrorName, cuGetErrorName, (Result, const char **))                     \
  X(getErrorString, cuGetErrorString, (Result, const char **))                 \
  X(deviceGetCount, cuDeviceGetCount, (int *))                                 \
  X(deviceGet, cuDeviceGet, (int *, int))                                      \
  X(deviceGetName, cuDeviceGetName, (char *, int, int))                        \
  X(deviceTotalMem, cuDeviceTotalMem_v2, (size_t *, int))                      \
  X(deviceGetAttribute, cuDeviceGetAttribute, (int *, Attribute, int))         \
  X(primaryContextRetain, cuDevicePrimaryCtxRetain, (Context *, int))          \
  X(primaryContextRelease, cuDevicePrimaryCtxRelease_v2, (int))                \
  X(contextPush, cuCtxPushCurrent_v2, (Context))                               \
  X(contextPop, cuCtxPopCurrent_v2, (Context *))                               \
  X(contextSynchronize, cuCtxSynchronize, ())                                  \
  X(memAlloc, cuMemAlloc_v2, (DevicePointer *, size_t))                        \
  X(memFree, cuMemFree_v2, (DevicePointer))                                    \
  X(memGetInfo, cuMemGetInfo_v2, (size_t *, size_t *))                         \
  X(memAllocHost, cuMemHostAlloc, (void **, size_t, unsigned))                 \
  X(memFreeHost, cuMemFreeHost, (void *))                                      \
  X(copyToDevice, cuMemcpyHtoDAsync_v2,                                        \
    (DevicePointer, const void *, size_t, StreamHandle))                       \
  X(copyToHost, cuMemcpyDtoHAsync_v2,                                          \
    (void *, DevicePointer, size_t, StreamHandle))                             \
  X(copyOnDevice, cuMemcpyDtoDAsync_v2,                                        \
    (DevicePointer, DevicePointer, size_t, StreamHandle))                      \
  X(copyPeer, cuMemcpyPeerAsync,                                               \
    (DevicePointer, Context, DevicePointer, Context, size_t, StreamHandle))    \
  X(fill, cuMemsetD8Async,                                                     \
    (DevicePointer, unsigned char, size_t, StreamHandle))                      \
  X(streamCreate, cuStreamCreate, (StreamHandle *, unsigned))                  \
  X(streamDestroy, cuStreamDestroy_v2, (StreamHandle))                         \
  X(streamSynchronize, cuStreamSynchronize, (StreamHandle))                    \
  X(streamQuery, cuStreamQuery, (StreamHandle))                                \
  X(streamWaitEvent, cuStreamWaitEvent, (StreamHandle, EventHandle, unsigned)) \
  X(eventCreate, cuEventCreate, (EventHandle *, unsigned))                     \
  X(eventDestroy, cuEventDestroy_v2, (EventHandle))                            \
  X(eventRecord, cuEventRecord, (EventHandle, StreamHandle))                   \
  X(eventQuery, cuEventQuery, (EventHandle))                                   \
  X(eventSynchronize, cuEventSynchronize, (EventHandle))                       \
  X(eventElapsed, cuEventElapsedTime, (float *, EventHandle, EventHandle))     \
  X(moduleLoad, cuModuleLoadDataEx,                                            \
    (ModuleHandle *, const void *, unsigned, JitOption *, void **))            \
  X(moduleUnload, cuModuleUnload, (ModuleHandle))                              \
  X(moduleGetFunction, cuModuleGetFunction,                                    \
    (FunctionHandle *, ModuleHandle, const char *))                            \
  X(functionGetAttribute, cuFuncGetAttribute,                                  \
    (int *, FunctionAttribute, FunctionHandle))                                \
  X(functionSetAttribute, cuFuncSetAttribute,                                  \
    (FunctionHandle, FunctionAttribute, int))                                  \
  X(launchKernel, cuLaunchKernel,                                              \
    (FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned,         \
     unsigned, unsigned, StreamHandle, void **, void **))                      \
  X(graphCreate, cuGraphCreate, (GraphHandle *, unsigned))                     \
  X(graphDestroy, cuGraphDestroy, (GraphHandle))                               \
  X(graphAddKernel, cuGraphAddKernelNode,                                      \
    (GraphNode *, GraphHandle, const GraphNode *, size_t,                      \
     const KernelNodeParams *))                                                \
  X(graphAddCopy, cuGraphAddMemcpyNode,                                        \
    (GraphNode *, GraphHandle, const GraphNode *, size_t, const CopyParams *,  \
     Context))                                                                 \
  X(graphAddFill, cuGraphAddMemsetNode,                                        \
    (GraphNode *, GraphHandle, const GraphNode *, size_t, const FillParams *,  \
     Context))                                                                 \
  X(graphInstantiate, cuGraphInstantiateWithFlags,                             \
    (GraphExec *, GraphHandle, unsigned long long))                            \
  X(graphExecDestroy, cuGraphExecDestroy, (GraphExec))                         \
  X(graphSetKernel, cuGraphExecKernelNodeSetParams,                            \
    (GraphExec, GraphNode, const KernelNodeParams *))                          \
  X(graphSetCopy, cuGraphExecMemcpyNodeSetParams,                              \
    (GraphExec, GraphNode, const CopyParams *, Context))                       \
  X(graphSetFill, cuGraphExecMemsetNodeSetParams,                              \
    (GraphExec, GraphNode, const FillParams *, Context))                       \
  X(graphLaunch, cuGraphLaunch, (GraphExec, StreamHandle))

// The functions of the driver of this process.
struct Driver {
#define X(member, name, parameters) Result(*member) parameters = nullptr;
  TESSERA_CUDA_FUNCTIONS(X)
#undef X
  int version = 0; // 12040 is CUDA 12.4

  // Of a library that stands for a driver where there is no GPU, under the name
  // tesseraAddKernel: it takes a kernel as a function that runs its blocks on
  // the emulator. Null in a driver.
  void (*addKernel)(const char *symbol, tessera_kernel_fn code) = nullptr;

  // Loads libcuda.so.1, or the library that TESSERA_CUDA_DRIVER names, once a
  // process. Throws DeviceError, each time, if there is none, if it is too old,
  // or if it does not start.
  static const Driver &instance();
};

// The oldest driver that takes our PTX (version 8.0): that of CUDA 12.0.
constexpr int kOldestDriver = 12000;

} // namespace tessera::runtime::cuda
