// The passes that stay inside the dialect, as classes and by name.
#ifndef TESSERA_TRANSFORMS_PASSES_H
#define TESSERA_TRANSFORMS_PASSES_H

#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera::ir {

enum class AutodiffMode { grad, jvp };

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dialects/Tessera/Transforms/Passes.h.inc"

/// Makes all of them known by name, for tools.
inline void registerPasses() { registerTesseraPasses(); }

} // namespace tessera::ir

#endif
