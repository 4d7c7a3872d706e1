// Symbolic dimensions: the numbers that stand for them while a program is
// compiled, and the form in which files show them.
//
// A size that is known only when the program is called is, inside the compiler,
// a number like any other: a prime of 33 bits, its stand-in. So every shape
// rule, folder and cost works on it as it is. What is computed from it by sums
// and products is read back as `coefficient * symbol + constant`; what is not
// (a quotient, a rounded size) differs between the two sets of stand-ins, which
// is how code that is wrong for other sizes is found (see
// lowering/Kernels/Symbolic.h). Files show a stand-in as `?`.
#ifndef TESSERA_IR_SYMBOLS_H
#define TESSERA_IR_SYMBOLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tessera::ir {

/// Symbols that a program has at most.
constexpr unsigned kMaxSymbols = 4;

/// The attribute of an argument that names the symbols of its dimensions, and
/// that of the function that lists them in the order of `dims`.
constexpr llvm::StringLiteral kSymbols = "tessera.symbols";

/// coefficient * symbol + constant.
struct Extent {
  int64_t coefficient = 0, constant = 0;
  unsigned symbol = 0;

  bool isSymbolic() const { return coefficient != 0; }
  int64_t at(llvm::ArrayRef<int64_t> dims) const {
    return constant + (isSymbolic() ? coefficient * dims[symbol] : 0);
  }
};

/// While it lives, this thread reads numbers as made of the stand-ins of one
/// set for `symbols` symbols. Without one every number is just that.
class StandIns {
public:
  enum Set : unsigned { first, second };
  explicit StandIns(unsigned symbols, Set set = first);
  ~StandIns();
  StandIns(const StandIns &) = delete;
  StandIns &operator=(const StandIns &) = delete;

  /// Symbols that this thread's numbers are made of.
  static unsigned count();

private:
  unsigned outerCount;
  Set outerSet;
};

/// The stand-in of a symbol, and the number that stands for an extent.
int64_t standIn(unsigned symbol);
int64_t numberOf(Extent extent);
/// What a number stands for.
Extent extentOf(int64_t number);
inline bool isSymbolic(int64_t number) { return extentOf(number).isSymbolic(); }
bool isSymbolic(mlir::Type type);

/// A size to decide by what is fast: that of a symbol of middling size.
int64_t likely(int64_t number);

/// A size as users read it: `64`, `?`, `4 * ?`; `?1` for the second symbol.
std::string sizeText(int64_t number);

/// Whether the program has dimensions that are symbols: its files show `?`.
bool hasSymbols(mlir::ModuleOp module);

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
