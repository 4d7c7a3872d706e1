// Finds out what the target CPU can do, from LLVM's tables and from the
// machine.
#include "lowering/CodeGen/Target.h"
#include "lowering/CodeGen/GpuTarget.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include <cstdlib>
#include <mutex>
#include <unistd.h>

using namespace llvm;

namespace tessera::lowering {

namespace {

using FeatureMap = StringMap<bool>;

Error userError(const Twine &text) {
  return createStringError(inconvertibleErrorCode(), text);
}

std::string featureString(const FeatureMap &features) {
  SmallVector<StringRef> names;
  for (const auto &entry : features)
    names.push_back(entry.getKey());
  llvm::sort(names);
  std::string text;
  for (StringRef name : names)
    text += (text.empty() ? "" : ",") +
            std::string(features.lookup(name) ? "+" : "-") + name.str();
  return text;
}

/// Features that change which instructions LLVM selects. A machine that lacks
/// another one (a virtual machine often hides mwaitx or clzero) runs the code
/// all the same.
bool selectsInstructions(StringRef feature) {
  static constexpr StringRef prefixes[] = {
      "sse",  "ssse3", "avx",        "amx-", "fma",   "f16c", "bmi",  "lzcnt",
      "xop",  "tbm",   "vpclmulqdq", "vaes", "movbe", "gfni", "adx",  "popcnt",
      "cx16", "sha",   "pclmul",     "aes",  "sm3",   "sm4",  "egpr", "ndd"};
  return llvm::any_of(
      prefixes, [&](StringRef prefix) { return feature.starts_with(prefix); });
}

FeatureMap featuresOfCPU(StringRef cpu) {
  SmallVector<StringRef> names;
  X86::getFeaturesForCPU(cpu, names);
  FeatureMap features;
  for (StringRef name : names) {
    features[name] = true;
    X86::updateImpliedFeatures(name, /*Enabled=*/true, features);
  }
  return features;
}

TargetInfo describe(StringRef cpu, const FeatureMap &features) {
  TargetInfo info;
  info.triple = sys::getDefaultTargetTriple();
  if (Triple(info.triple).getArch() != Triple::x86_64)
    info.triple = "x86_64-unknown-linux-gnu";
  info.cpu = cpu.str();
  info.features = featureString(features);
  auto has = [&](StringRef name) { return features.lookup(name); };
  info.hasRounding = has("sse4.1");
  info.hasAVX = has("avx");
  info.hasAVX2 = has("avx2");
  info.hasFMA = has("fma");
  info.hasHalfConversions = has("f16c");
  info.hasAVX512 = has("avx512f") && has("avx512bw") && has("avx512dq") &&
                   has("avx512vl") && has("avx512cd");
  info.hasAVX512VNNI = info.hasAVX512 && has("avx512vnni");
  info.hasAVX512BF16 = info.hasAVX512 && has("avx512bf16");
  info.hasAVX512FP16 = info.hasAVX512 && has("avx512fp16");
  info.hasAVXVNNI = has("avxvnni");
  info.hasAMXInt8 = has("amx-int8");
  info.hasAMXBF16 = has("amx-bf16");
  info.vectorBits = info.hasAVX512 ? 512 : info.hasAVX ? 256 : 128;
  return info;
}

/// Every AArch64 CPU has vectors of 128 bits, FMA, rounding and f16.
TargetInfo describeAArch64(StringRef cpu) {
  TargetInfo info;
  info.triple = "aarch64-unknown-linux-gnu";
  info.cpu = cpu.str();
  info.hasFMA = info.hasRounding = info.hasHalfConversions = true;
  return info;
}

void takeCachesOfHost(TargetInfo &info) {
  auto ask = [](int name, int64_t fallback) {
    long size = sysconf(name);
    return size > 0 ? static_cast<int64_t>(size) : fallback;
  };
  info.l1 = ask(_SC_LEVEL1_DCACHE_SIZE, info.l1);
  info.l2 = ask(_SC_LEVEL2_CACHE_SIZE, info.l2);
  info.l3 = ask(_SC_LEVEL3_CACHE_SIZE, info.l3);
}

const FeatureMap &hostFeatures() {
  static const FeatureMap *features = [] {
    auto *map = new FeatureMap;
    for (const auto &entry : sys::getHostCPUFeatures())
      (*map)[entry.getKey()] = entry.getValue();
    return map;
  }();
  return *features;
}

const TargetInfo &nativeTarget() {
  static const TargetInfo *info = [] {
    auto *native =
        new TargetInfo(describe(sys::getHostCPUName(), hostFeatures()));
    takeCachesOfHost(*native);
    return native;
  }();
  return *info;
}

} // namespace

bool TargetInfo::isX86() const { return StringRef(triple).starts_with("x86"); }

int TargetInfo::lanes(mlir::Type elem) const {
  unsigned bits = elem.isIndex() ? 64 : elem.getIntOrFloatBitWidth();
  return vectorBits / static_cast<int>(std::max(bits, 8u));
}

bool TargetInfo::isDevice() const {
  return gpu && StringRef(triple).starts_with("nvptx");
}

std::string TargetInfo::key() const {
  return join_items("|", triple, cpu, features, std::to_string(l1),
                    std::to_string(l2), std::to_string(l3),
                    gpu ? StringRef(gpu->name) : StringRef(),
                    hasChecks ? "checks" : "", hasCounters ? "counters" : "",
                    allowsTF32 ? "tf32" : "", spellsOutBF16Dot ? "dot" : "",
                    hasHalfConversions ? "" : "expands f16");
}

Expected<TargetInfo> targetFor(StringRef cpu) {
  if (cpu == "native")
    return nativeTarget();
  if (cpu == "aarch64-linux-gnu")
    return describeAArch64("generic");
  if (AArch64::parseCpu(cpu))
    return describeAArch64(cpu);
  if (isGpuName(cpu)) {
    Expected<TargetInfo> gpu = gpuTargetFor(cpu);
    return gpu ? userError("'" + cpu +
                           "' is a GPU, and this compiles for CPUs only")
               : std::move(gpu);
  }
  if (X86::parseArchX86(cpu, /*Only64Bit=*/true) == X86::CK_None)
    return userError("unknown CPU '" + cpu +
                     "': expected native, x86-64, x86-64-v2, x86-64-v3, "
                     "x86-64-v4, aarch64-linux-gnu, or a 64-bit CPU name as "
                     "LLVM spells it, such as znver4 or neoverse-n1");
  return describe(cpu, featuresOfCPU(cpu));
}

Expected<TargetInfo> hostTargetOrError() {
  const char *wanted = std::getenv("TESSERA_CPU");
  StringRef name = wanted ? StringRef(wanted).trim() : "";
  if (name.empty() || name == "native")
    return nativeTarget();
  Expected<TargetInfo> info = targetFor(name);
  if (!info)
    return userError("TESSERA_CPU: " + toString(info.takeError()));
  if (!info->isX86())
    return userError("TESSERA_CPU=" + name + ": this machine is no " +
                     info->triple);
  FeatureMap needed = featuresOfCPU(name);
  SmallVector<StringRef> missing; // Names that `needed` holds.
  for (const auto &entry : needed)
    if (selectsInstructions(entry.getKey()) &&
        !hostFeatures().lookup(entry.getKey()))
      missing.push_back(entry.getKey());
  llvm::sort(missing);
  if (!missing.empty())
    return userError("TESSERA_CPU=" + name + ": this machine (" +
                     nativeTarget().cpu + ") lacks " + join(missing, ", "));
  takeCachesOfHost(*info);
  return info;
}

TargetInfo hostTarget() {
  Expected<TargetInfo> info = hostTargetOrError();
  if (info)
    return *info;
  std::string text = toString(info.takeError());
  static std::once_flag once;
  std::call_once(once, [&] {
    errs() << "tessera: " << text << "; using the native CPU\n";
  });
  return nativeTarget();
}

} // namespace tessera::lowering
