// What a caller may choose for the symbolic dimensions of a program.
#ifndef TESSERA_LOWERING_SYMBOLS_H
#define TESSERA_LOWERING_SYMBOLS_H

#include "lowering/CodeGen/PlanEntry.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera::lowering {

/// The symbols of a program that is bound to stand-ins, with the least size
/// that its shapes have room for. Emits an error, and fails, if none has.
mlir::FailureOr<std::vector<runtime::SymbolInfo>>
symbolsOf(mlir::ModuleOp module);

/// Lowers the greatest sizes to what the code of the program's sums covers.
void limitSums(mlir::ModuleOp module,
               std::vector<runtime::SymbolInfo> &symbols);

/// Lowers the greatest sizes so that the bytes of a plan's arena can be
/// counted.
void limitArena(const Plan &plan, std::vector<runtime::SymbolInfo> &symbols);

/// Lowers the greatest size of a symbol, each unit of which takes so many
/// bytes.
void limitBytes(runtime::SymbolInfo &symbol, int64_t bytes);

} // namespace tessera::lowering

#endif
