// The kernels of a program as PTX, for one architecture after the other.
#include "lowering/CodeGen/GpuTarget.h"
#include "lowering/GPU/Compile.h"
#include "lowering/Math/ExpandMath.h"
#include "lowering/Pipeline.h"
#include "lowering/Stage.h"
#include "test/Gpu/driver/PtxCheck.h"
#include "test/Numerics/driver/Devices.h"

using namespace mlir;

namespace tessera::numerics {

namespace {

/// What any kernel may use: with 128 registers a block of 256 threads leaves
/// room for a second one. Products choose their own.
constexpr int kMostRegisters = 128;

const DialectRegistry &gpuDialects() {
  static const DialectRegistry *registry = [] {
    auto *all = new DialectRegistry;
    lowering::registerGpuDialects(*all);
    return all;
  }();
  return *registry;
}

llvm::Error check(const lowering::KernelJob &job,
                  const lowering::TargetInfo &target) {
  MLIRContext context(gpuDialects(), MLIRContext::Threading::DISABLED);
  auto module = job.build(context);
  if (failed(module))
    return llvm::createStringError(job.name + ": the emitter failed");
  lowering::GpuCompileOptions options;
  options.target = target;
  options.lower.expandMath = lowering::expandKernelMath;
  options.cubin = false;
  auto code = lowering::compileGpuKernel(**module, options);
  if (!code)
    return code.takeError();
  test::PtxBudget budget;
  if (!StringRef(job.name).starts_with("gemm"))
    budget.maxRegisters = kMostRegisters;
  test::PtxReport report =
      test::checkPtx(code->ptx, target, code->launches, budget);
  if (report.faults.empty())
    return llvm::Error::success();
  return llvm::createStringError(job.name + ": " +
                                 llvm::join(report.faults, "; "));
}

} // namespace

FailureOr<std::vector<Variant>> preparePtx(func::FuncOp function) {
  // A file may hold a program of a later stage.
  if (!function.getOps<ir::KernelOp>().empty())
    return std::vector<Variant>();
  static size_t turn = 0;
  ArrayRef<lowering::GpuTarget> gpus = lowering::gpuTargets();
  auto target = lowering::gpuTargetFor(gpus[turn++ % gpus.size()].name);
  if (!target)
    return function.emitError(llvm::toString(target.takeError()));
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  func::FuncOp main = function.clone();
  main.setName("main");
  module->push_back(main);
  if (failed(lowering::toTensorStage(*module)) ||
      failed(lowering::toKernelsStage(*module, /*fuse=*/true)) ||
      failed(lowering::toPlanStage(*module)))
    return failure();
  for (const lowering::KernelJob &job : lowering::kernelJobs(main, *target))
    if (llvm::Error fault = check(job, *target))
      return function.emitError("for ")
             << target->cpu << ": " << llvm::toString(std::move(fault));
  return std::vector<Variant>();
}

} // namespace tessera::numerics
