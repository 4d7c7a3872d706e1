// Every op of every stage has a place: in programs that users write, and in the
// files of the numeric tests.
#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/Compiler.h"
#include "lowering/Pipeline.h"
#include "mlir/Parser/Parser.h"
#include "test/Unit/Lowering/Programs.h"
#include "gtest/gtest.h"
#include <filesystem>

using namespace mlir;
using namespace tessera::lowering;

namespace {

struct Locations : testing::Test {
  Locations() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<tessera::ir::TesseraDialect, func::FuncDialect>();
  }

  static void expectPlaces(Operation *root, Stage stage) {
    root->walk([&](Operation *op) {
      bool isUnknown = isa<UnknownLoc>(op->getLoc());
      EXPECT_FALSE(isUnknown)
          << op->getName().getStringRef().str() << " in the "
          << nameOf(stage).str() << " stage has no place";
    });
  }

  void expectPlacesInEachStage(ModuleOp module, bool fuse) {
    auto stage = stageOf(module);
    ASSERT_TRUE(succeeded(stage));
    expectPlaces(module, *stage);
    if (*stage < Stage::tensor) {
      ASSERT_TRUE(succeeded(toTensorStage(module)));
      expectPlaces(module, Stage::tensor);
    }
    if (*stage < Stage::kernels) {
      ASSERT_TRUE(succeeded(toKernelsStage(module, fuse)));
      expectPlaces(module, Stage::kernels);
    }
    ASSERT_TRUE(succeeded(toPlanStage(module)));
    expectPlaces(module, Stage::plan);
    for (KernelJob &job : kernelJobs(mainFunction(module), hostTarget())) {
      auto loops = job.build(context);
      // The emitters leave some dtypes to the interpreter.
      if (succeeded(loops))
        expectPlaces(**loops, Stage::loops);
    }
  }

  MLIRContext context;
};

TEST_F(Locations, inPrograms) {
  for (const tessera::test::Program &program : tessera::test::programs())
    for (bool fuse : {true, false}) {
      SCOPED_TRACE(program.name);
      auto module =
          parseSourceString<ModuleOp>(program.trace, ParserConfig(&context));
      ASSERT_TRUE(module);
      expectPlacesInEachStage(*module, fuse);
    }
}

TEST_F(Locations, inNumericTests) {
  int functions = 0;
  for (auto &entry : std::filesystem::directory_iterator(NUMERICS_FOLDER)) {
    if (entry.path().extension() != ".mlir")
      continue;
    SCOPED_TRACE(entry.path().filename().string());
    auto file = parseSourceFile<ModuleOp>(entry.path().string(),
                                          ParserConfig(&context));
    ASSERT_TRUE(file);
    for (auto function : file->getOps<func::FuncOp>()) {
      OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
      func::FuncOp main = function.clone();
      main.setName("main");
      module->push_back(main);
      expectPlacesInEachStage(*module, /*fuse=*/true);
      ++functions;
    }
  }
  EXPECT_GT(functions, 100);
}

} // namespace
