// Programs with symbolic dimensions: the form in which files show them, with
// `?`, and the form with stand-ins in which they are compiled.
#ifndef TESSERA_IR_SYMBOLS_H
#define TESSERA_IR_SYMBOLS_H

#include "dialects/Tessera/IR/StandIns.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tessera::ir {

/// The attribute of an argument that names the symbols of its dimensions, and
/// that of the function that lists them in the order of `dims`.
constexpr llvm::StringLiteral kSymbols = "tessera.symbols";

/// Whether a type has a dimension that is made of a stand-in.
bool isSymbolic(mlir::Type type);

/// A size as users read it: `64`, `?`, `4 * ?`; `?1` for the second symbol.
std::string sizeText(int64_t number);

/// What a dimension of a type is, in either form.
Extent extentOf(mlir::RankedTensorType type, unsigned dim);

/// Whether the program has dimensions that are symbols: its files show `?`.
bool hasSymbols(mlir::ModuleOp module);

/// How many symbols the program has, kMaxSymbols at most: bindSymbols() says
/// what is wrong with more.
unsigned symbolCount(mlir::ModuleOp module);

/// The symbols of a program in the order of an entry's `dims`: by the names
/// that the arguments give them, else s0, s1, ...
llvm::SmallVector<std::string> symbolNames(mlir::func::FuncOp function);

/// Puts stand-ins in the place of `?`. Emits an error, and fails, on a type
/// with two of them, on more than kMaxSymbols symbols, and on names that do not
/// fit the types. A StandIns is to live.
llvm::LogicalResult bindSymbols(mlir::ModuleOp module);
/// The inverse, for files.
void writeSymbols(mlir::ModuleOp module);

/// Emits an error on a value of more than one symbolic dimension, or of one
/// that shrinks as its symbol grows.
llvm::LogicalResult verifySymbols(mlir::func::FuncOp function);

/// The static program for these sizes.
void instantiate(mlir::ModuleOp module, llvm::ArrayRef<int64_t> dims);

/// Replaces every size in the types of an op and of what it holds.
void replaceSizes(mlir::Operation *root,
                  llvm::function_ref<int64_t(int64_t)> replace);

/// Restates sizes that are read by `from`'s stand-ins in the second set's.
void restate(mlir::Operation *root, unsigned symbols);

/// What a symbol may be.
struct SymbolRange {
  std::string name;
  int64_t least = 0;
  std::string why; ///< What is wrong with a size below `least`.
};

/// The least size of each symbol for which the program's shapes are right.
/// Fails where none below 65,536 is.
llvm::FailureOr<llvm::SmallVector<SymbolRange>>
symbolRanges(mlir::ModuleOp module);

} // namespace tessera::ir

#endif
