// The passes that lead a program from stage to stage, by name.
#ifndef TESSERA_LOWERING_PASSES_H
#define TESSERA_LOWERING_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera::lowering {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lowering/Passes.h.inc"

} // namespace tessera::lowering

#endif
