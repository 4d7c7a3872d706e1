// What the two forms of the ColReduce emitter for CPUs share: tiles of units.
#ifndef TESSERA_LOWERING_CPU_COLREDUCE_H
#define TESSERA_LOWERING_CPU_COLREDUCE_H

#include "lowering/CodeGen/Target.h"
#include "lowering/Kernels/ColReduce.h"

namespace tessera::lowering::cpu {

/// Lanes of vectors for all that the kernel accumulates, at most `most`.
int64_t lanesOf(const ColKernel &kernel, const TargetInfo &target,
                int64_t most);

/// Launches whose tiles are some units of work.
class TiledColLaunches : public ColLaunches {
public:
  using ColLaunches::ColLaunches;

protected:
  /// The units of work of a level, each a piece of one chunk, and about how
  /// many elements one has.
  virtual int64_t units(const Level &level) const = 0;
  virtual int64_t unitElements(const Level &level) const = 0;
  virtual void emitUnit(const Level &level, mlir::Value unit) = 0;

private:
  void emitLevel(const Level &level, llvm::StringRef name) override;
};

/// The form for a kept innermost dimension: vectors along it.
void emitColumns(const ColKernel &kernel, llvm::StringRef name,
                 const TargetInfo &target, mlir::ModuleOp module);

} // namespace tessera::lowering::cpu

#endif
