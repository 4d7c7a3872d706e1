// A random program under construction: its values, what they are worth, and how
// further ones are chosen.
#ifndef TESSERA_TEST_FUZZ_PROGRAM_H
#define TESSERA_TEST_FUZZ_PROGRAM_H

#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/Reference/Interpreter.h"
#include "test/Numerics/driver/Random.h"

namespace tessera::fuzz {

using Shape = llvm::SmallVector<int64_t>;

/// The result of one op for its operands' values, by the interpreter.
mlir::FailureOr<lowering::TensorBytes>
evaluateOp(mlir::Operation *op,
           const std::vector<lowering::TensorBytes> &operands);

class Program {
public:
  Program(mlir::MLIRContext &context, uint64_t seed);

  numerics::Random random;
  mlir::OpBuilder &at() { return builder; }
  mlir::Location loc() { return main.getLoc(); }

  // Choices

  bool chance(double probability) { return random.unit() < probability; }
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + int64_t(random.below(uint64_t(high - low + 1)));
  }
  template <typename Range> auto choose(const Range &range) {
    return *std::next(std::begin(range),
                      ptrdiff_t(random.below(llvm::range_size(range))));
  }
  /// One of the few sizes of this program, so that shapes meet again.
  int64_t size() { return choose(sizes); }
  Shape shape(int64_t rank);
  /// f32 or f64, the same through most of a program.
  mlir::Type real();
  /// Any element type.
  mlir::Type element();
  /// Whether a tensor of this shape is small enough for this program.
  bool fits(llvm::ArrayRef<int64_t> shape) const;
  /// How many products all elements of a product may take.
  int64_t mostProducts() const { return most * 64; }

  // Values

  /// A value, later ones more often; null if none meets the condition.
  mlir::Value any(llvm::function_ref<bool(mlir::RankedTensorType)> condition =
                      [](mlir::RankedTensorType) { return true; });
  mlir::Value anyReal();
  /// A value of a type: one that is there, or a new one.
  mlir::Value ofType(mlir::RankedTensorType type);
  /// A new argument; with a range, of numbers from there.
  mlir::Value argument(mlir::RankedTensorType type,
                       std::optional<std::pair<int64_t, int64_t>> range = {});
  /// Adds an op unless it is invalid, or worth nothing (NaN nearly everywhere);
  /// null then.
  mlir::Value add(mlir::OperationName name, mlir::Type type,
                  mlir::ValueRange operands,
                  llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  /// The same with the arguments of the op's builder.
  template <typename Op, typename... Args> mlir::Value add(Args &&...args) {
    return keep(Op::create(builder, loc(), std::forward<Args>(args)...));
  }

  int64_t opCount();
  /// Chooses the results, and ends the program.
  mlir::OwningOpRef<mlir::ModuleOp> finish();

private:
  mlir::Value keep(mlir::Operation *op);
  bool isWorthless(mlir::Value value);
  mlir::Value remember(mlir::Value value, lowering::TensorBytes bytes);
  mlir::Value makeOfType(mlir::RankedTensorType type);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
  mlir::OpBuilder builder;
  uint64_t seed;
  int64_t most;
  llvm::SmallVector<int64_t> sizes;
  mlir::Type mainReal;
  std::vector<mlir::Value> values;
  llvm::DenseMap<mlir::Value, lowering::TensorBytes> known;
};

} // namespace tessera::fuzz

#endif
