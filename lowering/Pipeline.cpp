// The stages of a program as straight-line functions.
#include "lowering/Pipeline.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "dialects/Tessera/Transforms/Decompose.h"
#include "dialects/Tessera/Transforms/Fuse.h"
#include "dialects/Tessera/Transforms/LocateConstants.h"
#include "dialects/Tessera/Transforms/SimplifyProducts.h"
#include "dialects/Tessera/Transforms/WidenNarrow.h"
#include "lowering/CPU/Emit.h"
#include "lowering/CodeGen/Hash.h"
#include "lowering/GPU/Emit.h"
#include "lowering/Kernels/Symbolic.h"
#include "lowering/Plan/PlanMemory.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

static LogicalResult finish(ModuleOp module, Stage stage) {
  locateConstants(mainFunction(module));
  markStage(module, stage);
  return verifyStage(module, stage);
}

/// Folds, applies the canonical forms of the dialect's ops, and merges common
/// subexpressions.
static void simplify(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  BroadcastOp::getCanonicalizationPatterns(patterns, function.getContext());
  ReshapeOp::getCanonicalizationPatterns(patterns, function.getContext());
  TransposeOp::getCanonicalizationPatterns(patterns, function.getContext());
  (void)applyPatternsGreedily(function, std::move(patterns));
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
}

LogicalResult toTensorStage(ModuleOp module) {
  func::FuncOp function = mainFunction(module);
  decomposeComposites(function);
  simplify(function);
  widenNarrowFloats(function);
  simplifyProducts(function);
  simplify(function);
  return finish(module, Stage::tensor);
}

LogicalResult toKernelsStage(ModuleOp module, bool fuse) {
  formKernels(mainFunction(module), fuse);
  return finish(module, Stage::kernels);
}

LogicalResult toPlanStage(ModuleOp module) {
  planMemory(mainFunction(module));
  return finish(module, Stage::plan);
}

/// A module that holds a copy of the kernel in a function of the kernel's
/// inputs.
static OwningOpRef<ModuleOp> isolate(KernelOp kernel) {
  OpBuilder builder(kernel.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto type = builder.getFunctionType(kernel.getInputs().getTypes(),
                                      kernel.getOutputs().getTypes());
  auto function =
      func::FuncOp::create(builder, kernel.getLoc(), "kernel", type);
  builder.setInsertionPointToStart(function.addEntryBlock());
  auto copy = cast<KernelOp>(builder.clone(*kernel));
  copy->setOperands(function.getArguments());
  copy.removePlacesAttr();
  copy.removeReasonsAttr();
  func::ReturnOp::create(builder, kernel.getLoc(), copy.getOutputs());
  return module;
}

OwningOpRef<ModuleOp> programOf(KernelOp kernel) {
  OwningOpRef<ModuleOp> module = isolate(kernel);
  auto function = *module->getOps<func::FuncOp>().begin();
  function.setName("main");
  (*function.getOps<KernelOp>().begin()).removeInPlaceAttr();
  markStage(*module, Stage::kernels);
  return module;
}

/// A hash of the kernel without locations: equal kernels have equal keys
/// wherever they come from.
static std::string keyOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, OpPrintingFlags().enableDebugInfo(false).useLocalScope());
  return hashHex({text});
}

std::vector<KernelJob> kernelJobs(func::FuncOp function,
                                  const TargetInfo &target) {
  std::vector<KernelJob> jobs;
  unsigned symbols = StandIns::count();
  for (KernelOp kernel : function.getOps<KernelOp>()) {
    OwningOpRef<ModuleOp> isolated = isolate(kernel);
    KernelJob job;
    job.key = keyOf(*isolated);
    if (dependsOnSymbols(kernel))
      job.key = hashHex({job.key, std::to_string(symbols)});
    job.name =
        (stringifyKernelKind(kernel.getKind()) + "_" + Twine(jobs.size()))
            .str();
    auto bytes = std::make_shared<std::string>();
    llvm::raw_string_ostream out(*bytes);
    if (failed(writeBytecodeToFile(*isolated, out)))
      llvm_unreachable("bytecode of the current version can be written");
    job.build = [bytes, target, symbols](
                    MLIRContext &context) -> FailureOr<OwningOpRef<ModuleOp>> {
      context
          .loadDialect<TesseraDialect, arith::ArithDialect, func::FuncDialect,
                       math::MathDialect, memref::MemRefDialect,
                       scf::SCFDialect, vector::VectorDialect>();
      if (target.gpu)
        context.loadDialect<gpu::GPUDialect, NVVM::NVVMDialect>();
      else if (target.hasAVX512BF16)
        context.loadDialect<x86vector::X86VectorDialect>();
      Block parsed;
      if (failed(readBytecodeFile(llvm::MemoryBufferRef(*bytes, "kernel"),
                                  &parsed, ParserConfig(&context))))
        return failure();
      auto source = cast<ModuleOp>(parsed.front());
      auto kernels = *source.getOps<func::FuncOp>().begin();
      KernelOp kernel = *kernels.getOps<KernelOp>().begin();
      return emitSymbolic(
          kernel, symbols, [&](KernelOp kernel, ModuleOp module) {
            StringRef name = stringifyKernelKind(kernel.getKind());
            return target.gpu ? simt::emitKernel(kernel, name, target, module)
                              : cpu::emitKernel(kernel, name, target, module);
          });
    };
    jobs.push_back(std::move(job));
  }
  return jobs;
}

} // namespace tessera::lowering
