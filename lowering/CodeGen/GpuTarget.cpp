// The table of GPU architectures, from the CUDA C++ Programming Guide's tables
// of compute capabilities.
#include "lowering/CodeGen/GpuTarget.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace llvm;

namespace tessera::lowering {

namespace {

constexpr int64_t operator""_KiB(unsigned long long n) { return n << 10; }

constexpr GpuTarget kTargets[] = {
    {.name = "sm_75",
     .major = 7,
     .minor = 5,
     .ptxVersion = 80,
     .sharedPerBlock = 64_KiB,
     .sharedPerMultiprocessor = 64_KiB,
     .sharedReserved = 0,
     .sharedUnit = 256,
     .warps = 32,
     .blocks = 16,
     .hasAsyncCopy = false,
     .hasBF16 = false,
     .hasTF32 = false,
     .hasClusters = false,
     .hasWgmma = false,
     .hasPackedF32 = false},
    {.name = "sm_80",
     .major = 8,
     .minor = 0,
     .ptxVersion = 80,
     .sharedPerBlock = 163_KiB,
     .sharedPerMultiprocessor = 164_KiB,
     .sharedReserved = 1_KiB,
     .sharedUnit = 128,
     .warps = 64,
     .blocks = 32,
     .hasAsyncCopy = true,
     .hasBF16 = true,
     .hasTF32 = true,
     .hasClusters = false,
     .hasWgmma = false,
     .hasPackedF32 = false},
    {.name = "sm_86",
     .major = 8,
     .minor = 6,
     .ptxVersion = 80,
     .sharedPerBlock = 99_KiB,
     .sharedPerMultiprocessor = 100_KiB,
     .sharedReserved = 1_KiB,
     .sharedUnit = 128,
     .warps = 48,
     .blocks = 16,
     .hasAsyncCopy = true,
     .hasBF16 = true,
     .hasTF32 = true,
     .hasClusters = false,
     .hasWgmma = false,
     .hasPackedF32 = false},
    {.name = "sm_89",
     .major = 8,
     .minor = 9,
     .ptxVersion = 80,
     .sharedPerBlock = 99_KiB,
     .sharedPerMultiprocessor = 100_KiB,
     .sharedReserved = 1_KiB,
     .sharedUnit = 128,
     .warps = 48,
     .blocks = 24,
     .hasAsyncCopy = true,
     .hasBF16 = true,
     .hasTF32 = true,
     .hasClusters = false,
     .hasWgmma = false,
     .hasPackedF32 = false},
    {.name = "sm_90",
     .major = 9,
     .minor = 0,
     .ptxVersion = 80,
     .sharedPerBlock = 227_KiB,
     .sharedPerMultiprocessor = 228_KiB,
     .sharedReserved = 1_KiB,
     .sharedUnit = 128,
     .warps = 64,
     .blocks = 32,
     .hasAsyncCopy = true,
     .hasBF16 = true,
     .hasTF32 = true,
     .hasClusters = true,
     .hasWgmma = false,
     .hasPackedF32 = false},
    {.name = "sm_90a",
     .major = 9,
     .minor = 0,
     .ptxVersion = 80,
     .sharedPerBlock = 227_KiB,
     .sharedPerMultiprocessor = 228_KiB,
     .sharedReserved = 1_KiB,
     .sharedUnit = 128,
     .warps = 64,
     .blocks = 32,
     .hasAsyncCopy = true,
     .hasBF16 = true,
     .hasTF32 = true,
     .hasClusters = true,
     .hasWgmma = true,
     .hasPackedF32 = false},
    {.name = "sm_100",
     .major = 10,
     .minor = 0,
     .ptxVersion = 86,
     .sharedPerBlock = 227_KiB,
     .sharedPerMultiprocessor = 228_KiB,
     .sharedReserved = 1_KiB,
     .sharedUnit = 128,
     .warps = 64,
     .blocks = 32,
     .hasAsyncCopy = true,
     .hasBF16 = true,
     .hasTF32 = true,
     .hasClusters = true,
     .hasWgmma = false,
     .hasPackedF32 = true},
    {.name = "sm_120",
     .major = 12,
     .minor = 0,
     .ptxVersion = 87,
     .sharedPerBlock = 99_KiB,
     .sharedPerMultiprocessor = 100_KiB,
     .sharedReserved = 1_KiB,
     .sharedUnit = 128,
     .warps = 48,
     .blocks = 24,
     .hasAsyncCopy = true,
     .hasBF16 = true,
     .hasTF32 = true,
     .hasClusters = true,
     .hasWgmma = false,
     .hasPackedF32 = true},
};

/// NN of sm_NN, without the letter that may follow; -1 for any other text.
int capabilityIn(StringRef name) {
  int number = -1;
  if (!name.consume_front("sm_") || name.consumeInteger(10, number))
    return -1;
  return name.empty() || name == "a" || name == "f" ? number : -1;
}

/// The newest architecture whose PTX a GPU of this capability runs.
const GpuTarget *nearestBelow(int capability) {
  const GpuTarget *nearest = nullptr;
  for (const GpuTarget &gpu : kTargets)
    if (gpu.major * 10 + gpu.minor <= capability && !gpu.name.ends_with("a"))
      nearest = &gpu;
  return nearest;
}

int64_t roundUp(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

} // namespace

ArrayRef<GpuTarget> gpuTargets() { return kTargets; }

bool isGpuName(StringRef name) { return name.starts_with("sm_"); }

Expected<TargetInfo> gpuTargetFor(StringRef name) {
  const GpuTarget *found =
      find_if(kTargets, [&](const GpuTarget &gpu) { return gpu.name == name; });
  if (found == std::end(kTargets)) {
    std::string text =
        ("unknown GPU architecture '" + name + "': expected ").str();
    for (const GpuTarget &gpu : kTargets)
      text += (&gpu == kTargets                 ? ""
               : &gpu + 1 == std::end(kTargets) ? " or "
                                                : ", ") +
              gpu.name.str();
    if (int capability = capabilityIn(name); capability >= 0) {
      const GpuTarget *nearest = nearestBelow(capability);
      text += nearest ? "; code for " + nearest->name.str() + " runs on it"
                      : std::string("; GPUs older than sm_75 cannot be used");
    }
    return createStringError(inconvertibleErrorCode(), text);
  }
  TargetInfo info;
  info.triple = "nvptx64-nvidia-cuda";
  info.cpu = found->name.str();
  info.features = "+ptx" + std::to_string(found->ptxVersion);
  info.hasFMA = info.hasRounding = info.hasHalfConversions = true;
  info.hasBF16Rounding = found->hasBF16;
  info.gpu = found;
  return info;
}

Expected<TargetInfo> gpuTargetRunningOn(StringRef arch) {
  const GpuTarget *nearest = nearestBelow(capabilityIn(arch));
  return gpuTargetFor(nearest ? StringRef(nearest->name) : arch);
}

void allowTF32(TargetInfo &target) {
  target.allowsTF32 = target.gpu && target.gpu->hasTF32;
}

Occupancy occupancyOf(const GpuTarget &gpu, int threadsPerBlock,
                      int registersPerThread, int64_t sharedPerBlock) {
  // Registers are given out to whole warps, 256 at a time; each quarter of the
  // multiprocessor has its own.
  constexpr int kUnit = 256, kQuarters = 4;
  int warpsPerBlock = static_cast<int>(
      roundUp(threadsPerBlock, GpuTarget::kWarp) / GpuTarget::kWarp);
  if (threadsPerBlock < 1 || threadsPerBlock > GpuTarget::kThreadsPerBlock)
    return {0, 0, 0, "threads"};
  if (sharedPerBlock > gpu.sharedPerBlock)
    return {0, 0, 0, "shared memory"};
  if (registersPerThread > GpuTarget::kRegistersPerThread)
    return {0, 0, 0, "registers"};
  int64_t perWarp =
      roundUp(std::max(registersPerThread, 1) * GpuTarget::kWarp, kUnit);
  int64_t registerWarps =
      GpuTarget::kRegisters / kQuarters / perWarp * kQuarters;
  int64_t shared = roundUp(sharedPerBlock + gpu.sharedReserved, gpu.sharedUnit);
  struct Limit {
    int64_t blocks;
    StringRef name;
  } limits[] = {
      {gpu.warps / warpsPerBlock, "warps"},
      {gpu.blocks, "blocks"},
      {registerWarps / warpsPerBlock, "registers"},
      {shared ? gpu.sharedPerMultiprocessor / shared : gpu.blocks,
       "shared memory"},
  };
  const Limit &least = *std::min_element(
      std::begin(limits), std::end(limits),
      [](const Limit &a, const Limit &b) { return a.blocks < b.blocks; });
  Occupancy result;
  result.blocks = static_cast<int>(least.blocks);
  result.warps = result.blocks * warpsPerBlock;
  result.fraction = double(result.warps) / gpu.warps;
  result.limitedBy = least.name;
  return result;
}

} // namespace tessera::lowering
