// What a compiled program takes and gives, by name, as its header, its object
// and the command line know it.
#ifndef TESSERA_LOWERING_AOT_INTERFACE_H
#define TESSERA_LOWERING_AOT_INTERFACE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/DType.h"
#include "runtime/SizeFormula.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace tessera::lowering {

/// Attributes of `main`'s arguments and results, which stay from the trace to
/// the plan.
constexpr llvm::StringLiteral kName = "tessera.name";
/// An argument whose value is in the program's weights file at first.
constexpr llvm::StringLiteral kWeight = "tessera.weight";
/// A result that is the new value of the argument of this number.
constexpr llvm::StringLiteral kUpdates = "tessera.updates";
/// Attributes of the module: the version of the format, and the weights file in
/// the same folder, or the weights (see InsideWeights.h).
constexpr llvm::StringLiteral kVersion = "tessera.version";
constexpr llvm::StringLiteral kWeightsFile = "tessera.weights";
constexpr int64_t kProgramVersion = 1;

constexpr size_t kMostNameBytes = 256;
/// What can be the name of an argument or a result: it begins with a letter or
/// `_` and has letters, digits, `_` and `.` alone, and not too many. And the
/// same rule in words.
bool isProgramName(llvm::StringRef name);
constexpr llvm::StringLiteral kNameRule =
    "letters, digits, '_' and '.', beginning with a letter or '_', and at most "
    "256 of them";
/// Whether it names a file in the folder of the program, as the weights file
/// must: a program may come from anywhere, and reaches no other folder.
bool isNameBeside(llvm::StringRef file);

/// An argument or a result.
struct Port {
  std::string name;            ///< as the program says, or "x0", "y"
  std::string cName;           ///< the same as a C identifier
  mlir::RankedTensorType type; ///< a symbolic dimension is `?`
  bool isWeight = false;
  /// Of a result: the argument that it is the new value of, or -1. Of an
  /// argument: the result that is its new value, or -1.
  int64_t partner = -1;
  /// The dimension that is symbolic, if there is one.
  std::optional<runtime::SymbolicDim> symbolic = {};

  /// With a symbolic dimension, those of one index of it.
  int64_t elements() const;
  int64_t elementBytes() const;
  int64_t bytes() const { return elements() * elementBytes(); }
};

struct Interface {
  std::vector<Port> arguments, results;
  /// The symbolic dimensions' names, and C names, in the order of `dims`.
  std::vector<std::string> symbols, cSymbols;
};

/// Reads the interface of a program, bound to stand-ins or not. Names that are
/// missing are made up, names that are no C identifiers or meet another are
/// changed. An update that names no argument, or one of another type, and a
/// name twice are errors.
llvm::Expected<Interface> interfaceOf(mlir::func::FuncOp main);

/// The dtype of tensors whose elements are of this type.
runtime::DType dtypeOf(mlir::Type element);
/// "f32", "i64", "bool", and so on.
std::string dtypeName(mlir::Type element);
/// "f32[2,3]", with `?` for a symbolic dimension.
std::string typeName(mlir::RankedTensorType type);
/// A size as an expression: "batch", "2 * batch + 1".
std::string sizeName(const runtime::SymbolicDim &dim,
                     llvm::StringRef symbolName);

} // namespace tessera::lowering

#endif
