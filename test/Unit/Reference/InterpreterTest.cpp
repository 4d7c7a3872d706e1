// The interpreter's interface: results as bytes, and errors for what it cannot
// evaluate.
#include "lowering/Reference/Interpreter.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/Parser/Parser.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera::lowering;

namespace {
struct InterpreterTest : testing::Test {
  InterpreterTest() {
    context.loadDialect<tessera::ir::TesseraDialect, func::FuncDialect,
                        arith::ArithDialect>();
    context.getDiagEngine().registerHandler(
        [this](Diagnostic &diagnostic) { error += diagnostic.str(); });
  }
  func::FuncOp parse(const char *text) {
    module = parseSourceString<ModuleOp>(text, &context);
    return *module->getOps<func::FuncOp>().begin();
  }
  static TensorBytes floats(std::vector<float> values) {
    TensorBytes bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  std::string error;
};
} // namespace

TEST_F(InterpreterTest, EvaluatesAndLeavesTheProgramAlone) {
  auto function = parse(
      R"(func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %0 = tessera.softmax %x {dim = 0 : i64} : tensor<2xf32> -> tensor<2xf32>
    return %0, %x : tensor<2xf32>, tensor<2xf32>
  })");
  auto results = interpret(function, {floats({3, 3})});
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ((*results)[0], floats({0.5f, 0.5f}));
  EXPECT_EQ((*results)[1], floats({3, 3}));
  EXPECT_FALSE(function.getOps<tessera::ir::SoftmaxOp>().empty());
}

TEST_F(InterpreterTest, WrongInputs) {
  auto function = parse("func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { "
                        "return %x : tensor<2xf32> }");
  EXPECT_TRUE(failed(interpret(function, {})));
  EXPECT_EQ(error, "'func.func' op takes 1 inputs, but 0 are given");
  error.clear();
  EXPECT_TRUE(failed(interpret(function, {floats({1})})));
  EXPECT_EQ(error, "'func.func' op has an input of 4 bytes for f32[2]");
}

TEST_F(InterpreterTest, UnknownOp) {
  auto function = parse(R"(func.func @f() -> tensor<2xf32> {
    %0 = arith.constant dense<1.0> : tensor<2xf32>
    return %0 : tensor<2xf32>
  })");
  EXPECT_TRUE(failed(interpret(function, {})));
  EXPECT_EQ(error,
            "'arith.constant' op is unknown to the reference interpreter");
}
