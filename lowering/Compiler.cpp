// Runs the pipeline and makes an executable of its result.
#include "lowering/Compiler.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/Math/ExpandMath.h"
#include "lowering/Pipeline.h"
#include "lowering/Plan/PlanMemory.h"
#include "mlir/IR/Diagnostics.h"
#include "runtime/Executable.h"
#include <thread>

using namespace mlir;

namespace tessera::lowering {

static runtime::DType dtypeOf(Type element) {
  using runtime::DType;
  if (element.isF32())
    return DType::f32;
  if (element.isF64())
    return DType::f64;
  if (element.isF16())
    return DType::f16;
  if (element.isBF16())
    return DType::bf16;
  switch (element.getIntOrFloatBitWidth()) {
  case 1:
    return DType::boolean;
  case 8:
    return DType::i8;
  case 16:
    return DType::i16;
  case 32:
    return DType::i32;
  default:
    return DType::i64;
  }
}

static runtime::BufferInfo bufferOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto shape = tensor.getShape();
  return runtime::BufferInfo::make(dtypeOf(tensor.getElementType()), {shape.begin(), shape.end()});
}

namespace {
/// One compilation: stages, then code.
class Compilation {
public:
  Compilation(ModuleOp module, const ProgramOptions &options, std::string &error)
      : module(module), options(options), error(error) {}

  FailureOr<std::shared_ptr<runtime::Executable>> run() {
    if (failed(runStages()))
      return failure();
    auto target = hostTargetOrError();
    if (!target)
      return fail(target.takeError());
    func::FuncOp function = mainFunction(module);
    CompileOptions compile;
    compile.target = *target;
    compile.threads = options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
    compile.expandMath = expandKernelMath;
    auto kernels = compileKernels(kernelJobs(function, *target), compile);
    if (!kernels)
      return fail(kernels.takeError());
    Plan plan = makePlan(function, *kernels);
    auto code = loadPlan(plan, *kernels, *target);
    if (!code)
      return fail(code.takeError());
    return makeExecutable(function, plan, *code);
  }

private:
  LogicalResult runStages() {
    ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
      llvm::raw_string_ostream(error) << diagnostic << "\n";
      return success();
    });
    if (failed(toTensorStage(module)) || failed(toKernelsStage(module, options.fuse)))
      return failure();
    return toPlanStage(module);
  }

  LogicalResult fail(llvm::Error reason) {
    error += llvm::toString(std::move(reason));
    return failure();
  }

  std::shared_ptr<runtime::Executable> makeExecutable(func::FuncOp function, const Plan &plan,
                                                      const CompiledPlan &code) {
    runtime::ExecutableInfo info;
    info.name = "main";
    info.entry = reinterpret_cast<tessera_entry_fn>(code.entry);
    info.arenaBytes = plan.arenaBytes;
    info.keepAlive = code.code;
    for (Type type : function.getArgumentTypes())
      info.inputs.push_back(bufferOf(type));
    for (Type type : function.getResultTypes())
      info.outputs.push_back(bufferOf(type));
    return std::make_shared<runtime::Executable>(std::move(info));
  }

  ModuleOp module;
  const ProgramOptions &options;
  std::string &error;
};
} // namespace

FailureOr<std::shared_ptr<runtime::Executable>> compile(ModuleOp module, const ProgramOptions &options,
                                                        std::string &error) {
  return Compilation(module, options, error).run();
}

} // namespace tessera::lowering
