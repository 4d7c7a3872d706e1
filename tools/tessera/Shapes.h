// The sizes of a program's symbolic dimensions, as the command line gives them.
#ifndef TESSERA_TOOLS_TESSERA_SHAPES_H
#define TESSERA_TOOLS_TESSERA_SHAPES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/tessera/Options.h"
#include "llvm/Support/Error.h"

namespace tessera::tool {

/// What a symbol may stay, or must have a size, after the flags.
enum class Symbols { mayStay, needSizes };

/// The size of each symbol of a program that is bound to stand-ins, or -1 for
/// one that stays: from --shape, else from the files of --input.
llvm::Expected<llvm::SmallVector<int64_t>>
symbolSizes(mlir::func::FuncOp main, const Arguments &arguments,
            Symbols symbols);

} // namespace tessera::tool

#endif
