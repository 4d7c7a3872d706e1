// One math operation compiled into a loop over arrays, at a chosen width and
// for a chosen CPU.
#pragma once
#include "lowering/CodeGen/Jit.h"
#include "lowering/CodeGen/Target.h"
#include <cstdint>
#include <memory>
#include <string>

namespace tessera::test {

/// Elements that one call of a kernel can take at most.
constexpr int64_t kMaxElements = 1 << 16;

/// out[i] = op(a[i]) or op(a[i], b[i]).
struct MathKernel {
  std::shared_ptr<lowering::LoadedObject> object;
  void (*entry)(void *const *buffers, int64_t begin, int64_t end) = nullptr;
  int64_t width = 1;

  /// `n` is a multiple of the width. Unary operations ignore `b`.
  void run(const void *a, const void *b, void *out, int64_t n) const;
};

struct MathKernelSpec {
  std::string op;      ///< without the dialect: "exp"
  std::string element; ///< "f32" or "f64"
  int64_t width = 8;   ///< 0: scalars; else 1-D vectors
  bool isBinary() const { return op == "powf"; }
};

/// Compiles and loads; any error fails the test.
MathKernel compileMath(const MathKernelSpec &spec,
                       const lowering::TargetInfo &target);
/// The assembly of the same kernel.
std::string mathAssembly(const MathKernelSpec &spec,
                         const lowering::TargetInfo &target);
/// Operations of the expanded kernel, constants left out.
int64_t countExpandedOps(const MathKernelSpec &spec,
                         const lowering::TargetInfo &target);

} // namespace tessera::test
