// The reducer on planted faults, and the reach of the generator.
#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "test/Fuzz/Generate.h"
#include "tools/tessera-reduce/ReduceProgram.h"
#include "llvm/ADT/StringSet.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;
using namespace tessera::fuzz;

namespace {

struct Fuzz : ::testing::Test {
  Fuzz() { context.loadDialect<ir::TesseraDialect, func::FuncDialect>(); }
  MLIRContext context{MLIRContext::Threading::DISABLED};
};

int64_t opsOf(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  return llvm::range_size(main.getBody().front().without_terminator());
}

/// Reduces those of the first programs for which `fails` holds; none may keep
/// more than `most` ops. The number of programs.
int reduceAll(MLIRContext &context, int64_t most,
              llvm::function_ref<bool(ModuleOp)> fails) {
  int count = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    auto module = generate(context, seed);
    if (!fails(*module))
      continue;
    ++count;
    auto smallest = tessera::reduceProgram(*module, fails);
    EXPECT_TRUE(succeeded(verify(*smallest)));
    EXPECT_TRUE(fails(*smallest));
    EXPECT_LE(opsOf(*smallest), most) << seed;
  }
  return count;
}

template <typename Op> bool contains(ModuleOp module) {
  return module.walk([](Op) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

TEST_F(Fuzz, ReducesAFaultOfOneOp) {
  EXPECT_GT(reduceAll(context, 1, contains<ir::TanhOp>), 5);
}

TEST_F(Fuzz, ReducesAFaultOfTwoOps) {
  // A reduction of what another op makes.
  auto fails = [](ModuleOp module) {
    return module
        .walk([](ir::ReduceOp reduce) {
          return reduce.getX().getDefiningOp() ? WalkResult::interrupt()
                                               : WalkResult::advance();
        })
        .wasInterrupted();
  };
  EXPECT_GT(reduceAll(context, 2, fails), 20);
}

TEST_F(Fuzz, MakesSizesSmall) {
  auto fails = [](ModuleOp module) {
    return module
        .walk([](ir::ExpOp op) {
          auto type = ir::tensorType(op.getX());
          return type.getNumElements() >= 3 ? WalkResult::interrupt()
                                            : WalkResult::advance();
        })
        .wasInterrupted();
  };
  int count = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    auto module = generate(context, seed);
    if (!fails(*module))
      continue;
    ++count;
    auto smallest = tessera::reduceProgram(*module, fails);
    auto main = smallest->lookupSymbol<func::FuncOp>("main");
    EXPECT_LE(cast<RankedTensorType>(main.getResultTypes()[0]).getNumElements(),
              16);
  }
  EXPECT_GT(count, 3);
}

TEST_F(Fuzz, ProgramsHoldEveryOp) {
  llvm::StringSet<> found;
  for (uint64_t seed = 1; seed <= 300; ++seed)
    generate(context, seed)->walk([&](Operation *op) {
      found.insert(op->getName().getStringRef());
    });
  for (RegisteredOperationName op : traceOps(context))
    EXPECT_TRUE(found.contains(op.getStringRef()))
        << op.getStringRef().str()
        << " is in none of 300 programs: an op with attributes needs an entry "
           "in Makers.cpp";
}

TEST_F(Fuzz, ASeedGivesOneProgram) {
  auto text = [&](uint64_t seed) {
    std::string result;
    llvm::raw_string_ostream(result) << *generate(context, seed);
    return result;
  };
  EXPECT_EQ(text(7), text(7));
  EXPECT_NE(text(7), text(8));
}

} // namespace
