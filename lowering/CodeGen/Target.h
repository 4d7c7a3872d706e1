// The processor that code is made for: its LLVM names, what it can do, and its
// cache sizes.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace mlir {
class Type;
}

namespace tessera::lowering {

struct GpuTarget;

/// Facts about one target. Emitters choose by these facts and never by the name
/// of the CPU.
struct TargetInfo {
  std::string
      triple;      ///< As LLVM spells it, for example x86_64-unknown-linux-gnu.
  std::string cpu; ///< An LLVM CPU name, for example znver3 or x86-64-v3.
  std::string
      features; ///< LLVM's feature string: "+avx2,+fma,-avx512f,...", sorted.
  int vectorBits = 128; ///< Width of the widest vector register.
  bool hasFMA = false;
  /// Floats are rounded to whole ones by an instruction (SSE4.1 and later).
  bool hasRounding = false;
  /// f16 to f32 and back by an instruction (F16C).
  bool hasHalfConversions = false;
  /// f32 to bf16, denormals included: GPUs from sm_80 on.
  bool hasBF16Rounding = false;
  bool hasAVX = false, hasAVX2 = false;
  bool hasAVX512 = false; ///< F, BW, DQ, VL and CD together (x86-64-v4).
  bool hasAVX512VNNI = false, hasAVX512BF16 = false, hasAVX512FP16 = false,
       hasAVXVNNI = false;
  bool hasAMXInt8 = false, hasAMXBF16 = false;
  int64_t l1 = 32 << 10, l2 = 1 << 20,
          l3 = 16 << 20; ///< Data cache sizes in bytes; l3 is the whole shared
                         ///< cache.
  /// Products of bf16 are as with AVX512-BF16, its instruction spelled out in
  /// others, so that they can be tested on any CPU.
  bool spellsOutBF16Dot = false;
  /// What there is to know of a GPU; null for a CPU. See gpuTargetFor(). With
  /// the triple of a CPU, its kernels are run on that CPU by the emulator.
  const GpuTarget *gpu = nullptr;
  /// Of an emulated GPU: the code reports its accesses, so that they can be
  /// checked, and what it executes, so that it can be counted.
  bool hasChecks = false, hasCounters = false;
  /// Of a GPU with tf32: products of f32 may round their operands to it, so
  /// that tensor cores compute them. See allowTF32().
  bool allowsTF32 = false;

  bool isX86() const;
  /// Code for a GPU itself, and not for its emulator.
  bool isDevice() const;
  /// Number of vector registers.
  int registers() const { return hasAVX512 || !isX86() ? 32 : 16; }
  /// Elements of type `elem` in one full vector register; an i1 counts as one
  /// byte, as it does in memory.
  int lanes(mlir::Type elem) const;
  /// All of the above as bytes for a cache key.
  std::string key() const;
};

/// The target with this CPU name, whether or not this machine can run it, with
/// cache sizes that depend on nothing but the name: an x86-64 CPU, or
/// "aarch64-linux-gnu" or an AArch64 CPU. An unknown name, or a CPU without
/// 64-bit mode, is an error that lists the names that there are. "native" is
/// this machine.
llvm::Expected<TargetInfo> targetFor(llvm::StringRef cpu);

/// The CPU of this machine, or the one that the environment variable
/// TESSERA_CPU asks for (x86-64, x86-64-v2, x86-64-v3, x86-64-v4, a CPU name,
/// or native). An unknown name, or a CPU that this machine cannot run the code
/// of, is an error.
llvm::Expected<TargetInfo> hostTargetOrError();

/// hostTargetOrError(), for callers that have checked it: on an error, the
/// native CPU and one note on stderr.
TargetInfo hostTarget();

} // namespace tessera::lowering
