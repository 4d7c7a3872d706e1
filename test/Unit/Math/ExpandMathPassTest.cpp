// The pass around the expansions: what it adds, what it leaves and what it
// refuses.
#include "lowering/CodeGen/LowerToLLVM.h"
#include "lowering/Math/ExpandMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tessera::lowering;

namespace {

class ExpandMathPass : public testing::Test {
protected:
  ExpandMathPass() {
    DialectRegistry registry;
    registerCodeGenDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, ParserConfig(&context));
  }

  LogicalResult run(ModuleOp module) {
    PassManager pm(&context);
    pm.addPass(createExpandMathPass());
    return pm.run(module);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
};

TEST_F(ExpandMathPass, LeavesInstructionsAlone) {
  auto module = parse(R"(
    func.func @f(%x: vector<8xf32>, %i: i32) -> (vector<8xf32>, i32) {
      %0 = math.sqrt %x : vector<8xf32>
      %1 = math.fma %0, %x, %x : vector<8xf32>
      %2 = math.floor %1 : vector<8xf32>
      %3 = math.absf %2 : vector<8xf32>
      %4 = math.copysign %3, %x : vector<8xf32>
      %5 = math.ctpop %i : i32
      return %4, %5 : vector<8xf32>, i32
    })");
  auto before = OwningOpRef<ModuleOp>(module->clone());
  ASSERT_TRUE(succeeded(run(*module)));
  EXPECT_TRUE(OperationEquivalence::isEquivalentTo(
      *module, *before, OperationEquivalence::Flags::None));
}

TEST_F(ExpandMathPass, ConstantsStandAtTheHeadOnce) {
  auto module = parse(R"(
    func.func @f(%x: f32, %n: index) -> f32 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> f32 {
        %0 = math.exp %a : f32
        %1 = math.exp %0 : f32
        scf.yield %1 : f32
      }
      return %r : f32
    })");
  ASSERT_TRUE(succeeded(run(*module)));
  auto func = *module->getOps<func::FuncOp>().begin();
  llvm::DenseSet<Attribute> seen;
  module->walk([&](arith::ConstantOp op) {
    EXPECT_EQ(op->getBlock(), &func.front());
    EXPECT_TRUE(seen.insert(op.getValue()).second) << "twice";
  });
}

TEST_F(ExpandMathPass, OneFunctionForHugeAnglesOfAType) {
  auto module = parse(R"(
    func.func @f(%x: vector<4xf64>) -> vector<4xf64> {
      %0 = math.sin %x : vector<4xf64>
      %1 = math.cos %0 : vector<4xf64>
      return %1 : vector<4xf64>
    }
    func.func @g(%x: vector<4xf64>) -> vector<4xf64> {
      %0 = math.cos %x : vector<4xf64>
      return %0 : vector<4xf64>
    })");
  ASSERT_TRUE(succeeded(run(*module)));
  EXPECT_TRUE(succeeded(verify(*module)));
  // One for vectors, which calls one for a lane.
  EXPECT_EQ(llvm::range_size(module->getOps<func::FuncOp>()), 4u);
  EXPECT_TRUE(module->lookupSymbol("tessera.angle.f64x4"));
  EXPECT_TRUE(module->lookupSymbol("tessera.angle.f64"));
}

TEST_F(ExpandMathPass, KeepsLocations) {
  auto module = parse(R"(
    func.func @f(%x: f32) -> f32 {
      %0 = math.tanh %x : f32 loc("a.cpp":3:5)
      return %0 : f32
    })");
  ASSERT_TRUE(succeeded(run(*module)));
  module->walk(
      [&](Operation *op) { EXPECT_FALSE(isa<UnknownLoc>(op->getLoc())); });
}

TEST_F(ExpandMathPass, RefusesWhatWouldBecomeACall) {
  for (StringRef op : {"math.atan %x : f32", "math.exp %h : f16",
                       "math.exp %m : vector<2x4xf32>"}) {
    auto module =
        parse(("func.func @f(%x: f32, %h: f16, %m: vector<2x4xf32>) {\n"
               "  %0 = " +
               op + "\n  return\n}")
                  .str());
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(run(*module)));
    EXPECT_NE(message.find("has no expansion"), std::string::npos) << message;
  }
}

} // namespace
