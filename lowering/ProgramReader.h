// Reads program files, which may come from anywhere.
#ifndef TESSERA_LOWERING_PROGRAMREADER_H
#define TESSERA_LOWERING_PROGRAMREADER_H

#include "lowering/Stage.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tessera::lowering {

/// Why a program could not be read.
struct ReadFailure {
  /// Lines of the form "FILE:LINE:COLUMN: error: ...", with a line break after
  /// each.
  std::string text;
  /// The text is well-formed but holds ops that there are not: all are listed.
  bool isUnsupported = false;
};

/// What MLIR's parser, which recurses and copies, may be given at most.
constexpr size_t kMostProgramBytes = size_t(256) << 20;
constexpr size_t kMostLineBytes = size_t(1) << 20;
constexpr int kMostNesting = 200;

/// An error, as a diagnostic on `name`, unless the text is within the bounds
/// above: it looks at brackets, strings, comments and aliases alone. What an
/// alias stands for counts as if it were written out, since attributes, types
/// and locations are walked and printed as trees.
bool isWithinBounds(llvm::StringRef text, llvm::StringRef name,
                    std::string &error);

/// The size of each symbolic dimension of a program, in the order of
/// ir::symbolNames(), or -1 for one that stays symbolic; or an error about what
/// is wrong with what it was asked for.
using SymbolSizes =
    llvm::function_ref<llvm::Expected<llvm::SmallVector<int64_t>>(
        mlir::func::FuncOp main)>;

/// Parses and checks a program of one of the first four stages, for a context
/// into which it loads the dialects: bounds, syntax, ops, the version of the
/// dialect, the name of the weights file, the stage's contract, and the names.
/// Symbolic dimensions get the sizes that `sizes` gives; without it they stay.
/// Null with `failure` filled in on what does not fit.
mlir::OwningOpRef<mlir::ModuleOp> readProgram(llvm::MemoryBufferRef text,
                                              mlir::MLIRContext &context,
                                              ReadFailure &failure,
                                              SymbolSizes sizes = nullptr);

} // namespace tessera::lowering

#endif
