// Each op of a program against the interpreter.
#include "dialects/Tessera/Transforms/Decompose.h"
#include "lowering/Compiler.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "test/Fuzz/Program.h"
#include "test/Fuzz/Ways.h"
#include "test/Numerics/driver/Compare.h"

using namespace mlir;

namespace tessera::fuzz {
using numerics::Tensors;

/// Whether the contract leaves the last bits open: the scalar body calls a
/// function other than those that IEEE 754 rounds.
static bool isApproximate(Operation *op) {
  auto scalar = dyn_cast<ir::ScalarOpInterface>(op);
  if (!scalar)
    return false;
  MLIRContext *context = op->getContext();
  context->loadDialect<arith::ArithDialect, math::MathDialect>();
  Block scratch;
  for (Value operand : op->getOperands())
    scratch.addArgument(ir::tensorType(operand).getElementType(), op->getLoc());
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&scratch);
  scalar.buildScalar(builder, op->getLoc(), scratch.getArguments());
  return llvm::any_of(scratch, [](Operation &part) {
    return isa<math::MathDialect>(part.getDialect()) &&
           !isa<math::SqrtOp, math::AbsFOp>(part);
  });
}

/// Returns every value of the program, its results first.
static void returnEverything(func::FuncOp function) {
  Block &body = function.getBody().front();
  SmallVector<Value> results(body.getTerminator()->getOperands());
  for (Operation &op : body.without_terminator())
    results.push_back(op.getResult(0));
  body.getTerminator()->setOperands(results);
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(),
                                     ValueRange(results).getTypes()));
  function.removeResAttrsAttr();
}

static std::string compareOps(func::FuncOp function, const Tensors &inputs,
                              const Tensors &results) {
  llvm::DenseMap<Value, const lowering::TensorBytes *> bytes;
  for (auto [value, input] : llvm::zip_equal(function.getArguments(), inputs))
    bytes[value] = &input;
  Operation *end = function.getBody().front().getTerminator();
  for (auto [value, result] : llvm::zip_equal(end->getOperands(), results))
    bytes[value] = &result;
  for (Operation &op : function.getBody().front().without_terminator()) {
    Tensors operands;
    for (Value operand : op.getOperands())
      operands.push_back(*bytes.at(operand));
    auto expected = evaluateOp(&op, operands);
    if (failed(expected))
      return "the interpreter does not know an op";
    auto difference = numerics::firstDifference(
        op.getResult(0).getType(), *expected, *bytes.at(op.getResult(0)),
        {.ulp = isApproximate(&op) ? 2 : 0});
    if (difference) {
      std::string text;
      llvm::raw_string_ostream(text)
          << "unlike the interpreter: " << op << " " << *difference;
      return text;
    }
  }
  return "";
}

std::string compareStepwise(func::FuncOp program,
                            const std::vector<Tensors> &inputs,
                            const std::vector<Tensors> &expected) {
  auto module = copyProgram(program, false);
  func::FuncOp function = *(*module)->getOps<func::FuncOp>().begin();
  ir::decomposeComposites(function);
  size_t count = function.getNumResults();
  returnEverything(function);
  auto compiled = copyProgram(function, false);
  lowering::ProgramOptions options;
  options.threads = 1;
  options.fuse = false;
  std::string error;
  auto executable = lowering::compile(**compiled, options, error);
  if (failed(executable))
    return "does not compile with all values returned: " + error;
  for (int threads : numerics::kThreads) {
    auto variant = numerics::compiledVariant("", *executable, threads);
    for (auto [round, given] : llvm::enumerate(inputs)) {
      auto results = variant.run(given);
      if (failed(results))
        return "does not run with all values returned";
      for (size_t i = 0; i < count; ++i)
        if (auto difference = numerics::firstDifference(
                function.getResultTypes()[i], expected[round][i], (*results)[i],
                {}))
          return "unfused with all values returned, " +
                 std::to_string(threads) + " threads: result " +
                 std::to_string(i) + " " + *difference;
      if (threads > 1)
        continue;
      if (std::string text = compareOps(function, given, *results);
          !text.empty())
        return text;
    }
  }
  return "";
}

} // namespace tessera::fuzz
