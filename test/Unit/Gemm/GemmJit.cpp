// Emission, lowering and linking of one Gemm module, each timed.
#include "GemmJit.h"
#include "lowering/CodeGen/Optimize.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/ErrorHandling.h"
#include <ctime>

using namespace mlir;
using namespace tessera::lowering;
namespace tessera::test {

double threadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

namespace {

TargetInfo targetNamed(StringRef cpu) {
  return cpu.empty() ? hostTarget() : llvm::cantFail(targetFor(cpu));
}

/// The optimised code of what `emit` makes; fills the rest of `result`.
IRModule compileToIR(const TargetInfo &target, const std::string &suffix,
                     EmitFn emit, CompiledGemm &result,
                     std::vector<LaunchInfo> &launches) {
  DialectRegistry registry;
  registerCodeGenDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  double start = threadSeconds();
  result.workspaceBytes = emit(*module, target);
  double emitted = threadSeconds();
  if (failed(verify(*module)) ||
      failed(lowerKernelModule(*module, target, {nullptr, suffix}, &launches)))
    llvm::report_fatal_error("the kernel does not lower");
  IRModule ir = llvm::cantFail(translateToIR(*module));
  double lowered = threadSeconds();
  llvm::cantFail(optimize(ir, target));
  result.times.emit = 1e3 * (emitted - start);
  result.times.lower = 1e3 * (lowered - emitted);
  result.times.optimize = 1e3 * (threadSeconds() - lowered);
  return ir;
}

} // namespace

CompiledGemm compileGemm(StringRef cpu, EmitFn emit) {
  static int count = 0;
  std::string suffix = "_gemm" + std::to_string(count++);
  TargetInfo target = targetNamed(cpu);
  CompiledGemm result;
  std::vector<LaunchInfo> launches;
  IRModule ir = compileToIR(target, suffix, emit, result, launches);
  double start = threadSeconds();
  std::string object = llvm::cantFail(emitObject(std::move(ir), target));
  result.object = llvm::cantFail(loadObject(object, suffix));
  result.times.codegen = 1e3 * (threadSeconds() - start);
  for (const LaunchInfo &launch : launches)
    result.launches.push_back(
        {reinterpret_cast<LaunchFn>(result.object->lookup(launch.symbol)),
         launch.tiles});
  return result;
}

std::string assembleGemm(StringRef cpu, EmitFn emit) {
  TargetInfo target = targetNamed(cpu);
  CompiledGemm result;
  std::vector<LaunchInfo> launches;
  return llvm::cantFail(
      emitAssembly(compileToIR(target, "", emit, result, launches), target));
}

} // namespace tessera::test
