// The test driver's devices, contexts and memory.
#include "test/Cuda/World.h"

#include <algorithm>
#include <cstring>

using namespace tessera::test;

namespace {

bool isDevice(World &world, int device) {
  return device >= 0 && size_t(device) < world.devices.size();
}

// Bytes of no value that anybody would take for a result.
constexpr unsigned char kFresh = 0xa5, kFreed = 0xdd;

uintptr_t addBlock(World &world, size_t bytes, CUctx_st *context,
                   bool isPinned) {
  constexpr size_t kAlign = 512;
  Block block;
  block.bytes = bytes;
  block.context = context;
  block.isPinned = isPinned;
  block.storage = std::make_unique<unsigned char[]>(bytes + kAlign);
  auto address = reinterpret_cast<uintptr_t>(block.storage.get());
  address = (address + kAlign - 1) / kAlign * kAlign;
  std::memset(reinterpret_cast<void *>(address), kFresh, bytes);
  world.blocks[address] = std::move(block);
  return address;
}

// The block stays, so that its later use is found.
Result freeBlock(Call &call, World &world, uintptr_t address, bool isPinned) {
  auto found = world.blocks.find(address);
  if (found == world.blocks.end() || found->second.isPinned != isPinned)
    return call.misuse("it did not allocate this memory");
  Block &block = found->second;
  if (block.isFree)
    return call.misuse("memory that is free already");
  if (block.context != call.context())
    return call.misuse("memory of another context");
  if (!block.past.empty())
    return call.misuse("memory that the GPU may be using");
  block.isFree = true;
  std::memset(reinterpret_cast<void *>(address), kFreed, block.bytes);
  return Result::Success;
}

} // namespace

extern "C" {

Result cuInit(unsigned flags) {
  ENTER(cuInit, false);
  if (flags != 0)
    return call.misuse("flags");
  if (world.devices.empty())
    return Result::NoDevice;
  world.isInitialised = true;
  return Result::Success;
}

Result cuDriverGetVersion(int *version) {
  ENTER(cuDriverGetVersion, false);
  *version = world.version;
  return Result::Success;
}

Result cuGetErrorName(Result result, const char **name) {
  ENTER(cuGetErrorName, false);
  static const std::map<Result, const char *> names = {
      {Result::Success, "CUDA_SUCCESS"},
      {Result::InvalidValue, "CUDA_ERROR_INVALID_VALUE"},
      {Result::OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {Result::IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {Result::LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
      {Result::EccUncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE"}};
  auto found = names.find(result);
  *name = found == names.end() ? "CUDA_ERROR_OF_A_TEST" : found->second;
  return Result::Success;
}

Result cuGetErrorString(Result, const char **text) {
  ENTER(cuGetErrorString, false);
  *text = "as a test wants it";
  return Result::Success;
}

Result cuDeviceGetCount(int *count) {
  ENTER(cuDeviceGetCount, false);
  *count = int(world.devices.size());
  return Result::Success;
}

Result cuDeviceGet(int *device, int ordinal) {
  ENTER(cuDeviceGet, false);
  if (!isDevice(world, ordinal))
    return Result::InvalidDevice;
  *device = ordinal;
  return Result::Success;
}

Result cuDeviceGetName(char *name, int bytes, int device) {
  ENTER(cuDeviceGetName, false);
  if (!isDevice(world, device))
    return call.misuse("no such device");
  std::snprintf(name, size_t(bytes), "%s", world.devices[device].name.c_str());
  return Result::Success;
}

Result cuDeviceTotalMem_v2(size_t *bytes, int device) {
  ENTER(cuDeviceTotalMem_v2, false);
  if (!isDevice(world, device))
    return call.misuse("no such device");
  *bytes = world.devices[device].memoryBytes;
  return Result::Success;
}

Result cuDeviceGetAttribute(int *value, Attribute attribute, int device) {
  ENTER(cuDeviceGetAttribute, false);
  if (!isDevice(world, device))
    return call.misuse("no such device");
  const TestDevice &info = world.devices[device];
  switch (attribute) {
  case Attribute::MaxThreadsPerBlock:
    *value = 1024;
    break;
  case Attribute::ClockRate:
    *value = 1000000;
    break;
  case Attribute::Multiprocessors:
    *value = 4;
    break;
  case Attribute::MaxSharedPerMultiprocessor:
    *value = info.sharedPerBlock + 1024;
    break;
  case Attribute::CapabilityMajor:
    *value = info.major;
    break;
  case Attribute::CapabilityMinor:
    *value = info.minor;
    break;
  case Attribute::MaxSharedPerBlockOptin:
    *value = info.sharedPerBlock;
    break;
  }
  return Result::Success;
}

Result cuDevicePrimaryCtxRetain(Context *context, int device) {
  ENTER(cuDevicePrimaryCtxRetain, false);
  if (!isDevice(world, device))
    return call.misuse("no such device");
  *context = world.contexts[device].get();
  ++(*context)->references;
  return Result::Success;
}

Result cuDevicePrimaryCtxRelease_v2(int device) {
  ENTER(cuDevicePrimaryCtxRelease_v2, false);
  if (!isDevice(world, device) || world.contexts[device]->references == 0)
    return call.misuse("a context that is not retained");
  CUctx_st *context = world.contexts[device].get();
  if (std::ranges::count(contextStack(), context))
    return call.misuse("a context that is current");
  --context->references;
  return Result::Success;
}

Result cuCtxPushCurrent_v2(Context context) {
  ENTER(cuCtxPushCurrent_v2, false);
  bool isAlive = std::ranges::any_of(world.contexts, [&](const auto &known) {
    return known.get() == context && known->references > 0;
  });
  if (!isAlive)
    return call.misuse("a context that is not alive");
  contextStack().push_back(context);
  return Result::Success;
}

Result cuCtxPopCurrent_v2(Context *context) {
  ENTER(cuCtxPopCurrent_v2, false);
  if (contextStack().empty())
    return call.misuse("no context is current");
  *context = contextStack().back();
  contextStack().pop_back();
  return Result::Success;
}

Result cuCtxSynchronize() {
  ENTER(cuCtxSynchronize, true);
  for (CUstream_st *stream : world.streams)
    if (stream->context == call.context()) {
      world.runUntil(stream, stream->enqueued);
      world.hostKnows(stream, stream->enqueued, stream->clock);
    }
  return call.context()->sticky;
}

Result cuMemAlloc_v2(DevicePointer *data, size_t bytes) {
  ENTER(cuMemAlloc_v2, true);
  if (bytes == 0)
    return call.misuse("no bytes");
  int device = call.context()->device;
  size_t free = world.devices[device].memoryBytes - world.allocated[device];
  if (bytes > free)
    return Result::OutOfMemory;
  world.allocated[device] += bytes;
  *data = addBlock(world, bytes, call.context(), /*isPinned=*/false);
  return Result::Success;
}

Result cuMemFree_v2(DevicePointer data) {
  ENTER(cuMemFree_v2, true);
  Result result = freeBlock(call, world, data, /*isPinned=*/false);
  if (result == Result::Success)
    world.allocated[call.context()->device] -= world.blocks[data].bytes;
  return result;
}

Result cuMemGetInfo_v2(size_t *free, size_t *total) {
  ENTER(cuMemGetInfo_v2, true);
  int device = call.context()->device;
  *total = world.devices[device].memoryBytes;
  *free = *total - world.allocated[device];
  return Result::Success;
}

Result cuMemHostAlloc(void **data, size_t bytes, unsigned) {
  ENTER(cuMemHostAlloc, true);
  if (bytes == 0)
    return call.misuse("no bytes");
  *data = reinterpret_cast<void *>(
      addBlock(world, bytes, call.context(), /*isPinned=*/true));
  return Result::Success;
}

Result cuMemFreeHost(void *data) {
  ENTER(cuMemFreeHost, true);
  return freeBlock(call, world, reinterpret_cast<uintptr_t>(data),
                   /*isPinned=*/true);
}

} // extern "C"
