// The transforms themselves: what is constant, what is zero, and programs of
// any depth.
#include "dialects/Tessera/Transforms/Autodiff.h"
#include "dialects/Tessera/IR/Expr.h"
#include "lowering/Reference/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "test/Unit/Gradient/Derivatives.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;
using namespace tessera::gradient;

namespace {
struct Autodiff : testing::Test {
  Autodiff() { context.loadDialect<ir::TesseraDialect, func::FuncDialect>(); }
  func::FuncOp parse(const char *text) {
    module = parseSourceString<ModuleOp>(text, &context);
    return *module->getOps<func::FuncOp>().begin();
  }
  Numbers evaluate(func::FuncOp f, std::vector<Numbers> arguments) {
    Tensors inputs;
    for (auto [type, numbers] :
         llvm::zip_equal(f.getArgumentTypes(), arguments))
      inputs.push_back(bytesOf(type, numbers));
    auto results = lowering::interpret(f, inputs);
    EXPECT_TRUE(succeeded(results));
    return numbersOf(f.getResultTypes()[0], (*results)[0]);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(Autodiff, StopGradientIsConstant) {
  auto f = parse(R"(func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> {
    %0 = tessera.stop_gradient %x : tensor<2xf64>
    %1 = tessera.mul %0, %x : tensor<2xf64>
    return %1 : tensor<2xf64>
  })");
  EXPECT_EQ(evaluate(forwardOf(f, {0}), {{3, 5}, {1, 2}}), (Numbers{3, 10}));
  EXPECT_EQ(evaluate(reverseOf(f, {0}), {{3, 5}, {1, 2}}), (Numbers{3, 10}));
}

TEST_F(Autodiff, TiesShareTheTangent) {
  auto f = parse(R"(func.func @f(%x: tensor<4xf64>) -> tensor<f64> {
    %0 = tessera.reduce max, %x {dims = array<i64: 0>} : tensor<4xf64> -> tensor<f64>
    return %0 : tensor<f64>
  })");
  EXPECT_EQ(evaluate(reverseOf(f, {0}), {{2, 7, 7, 1}, {1}}),
            (Numbers{0, 0.5, 0.5, 0}));
  auto g = parse(
      R"(func.func @g(%a: tensor<2xf64>, %b: tensor<2xf64>) -> tensor<2xf64> {
    %0 = tessera.max %a, %b : tensor<2xf64>
    return %0 : tensor<2xf64>
  })");
  EXPECT_EQ(evaluate(reverseOf(g, {1}), {{2, 3}, {2, 4}, {1, 1}}),
            (Numbers{0.5, 1}));
}

TEST_F(Autodiff, ZeroIsNoValue) {
  auto f = parse(
      R"(func.func @f(%x: tensor<2xf64>, %y: tensor<2xf64>) -> tensor<2xf64> {
    %0 = tessera.exp %y : tensor<2xf64>
    return %0 : tensor<2xf64>
  })");
  Block &body = f.getBody().front();
  OpBuilder builder(body.getTerminator());
  Value result = body.getTerminator()->getOperand(0);
  EXPECT_FALSE(ir::buildVjp(builder, result, body.getArgument(0), result)[0]);
  EXPECT_FALSE(ir::buildJvp(builder, result, body.getArgument(0), result)[0]);
  // Only the op of the program: nothing was built for a derivative that is
  // zero.
  EXPECT_EQ(body.getOperations().size(), 2u);
}

TEST_F(Autodiff, DeepPrograms) {
  auto f = parse("func.func @f(%x: tensor<1xf64>) -> tensor<1xf64> { return %x "
                 ": tensor<1xf64> }");
  Block &body = f.getBody().front();
  OpBuilder builder(body.getTerminator());
  Value x = body.getArgument(0);
  for (int i = 0; i < 20000; ++i)
    x = (-ir::Expr(builder, x.getLoc(), x)).value();
  body.getTerminator()->setOperand(0, x);
  EXPECT_EQ(evaluate(reverseOf(f, {0}), {{3}, {5}}), Numbers{5});
  EXPECT_EQ(evaluate(forwardOf(f, {0}), {{3}, {5}}), Numbers{5});
}
