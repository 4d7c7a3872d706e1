// The compiler as a device: compiled unfused, fused, and with its inputs given
// away, run on several numbers of threads.
#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/Compiler.h"
#include "lowering/Plan/InPlace.h"
#include "runtime/Executable.h"
#include "runtime/cuda/Error.h"
#include "runtime/sim/Session.h"
#include "test/Numerics/driver/Devices.h"

using namespace mlir;

namespace tessera::numerics {

static FailureOr<Tensors> call(const runtime::Executable &executable,
                               const Tensors &tensors, int threads) {
  std::vector<runtime::Storage> inputs,
      outputs(executable.info().outputs.size());
  for (const lowering::TensorBytes &bytes : tensors) {
    inputs.push_back(runtime::Storage::allocate(bytes.size()));
    std::copy(bytes.begin(), bytes.end(),
              static_cast<uint8_t *>(inputs.back().data()));
  }
  try {
    if (!executable.run(inputs, outputs, threads).ok())
      return failure();
  } catch (const runtime::sim::Fault &fault) {
    llvm::errs() << fault.what() << "\n";
    return failure();
  } catch (const runtime::cuda::DeviceError &error) {
    llvm::errs() << error.what() << "\n";
    return failure();
  }
  Tensors results;
  for (auto [info, storage] :
       llvm::zip_equal(executable.info().outputs, outputs)) {
    runtime::Storage bytes = storage.onHost();
    auto *data = static_cast<const uint8_t *>(bytes.data());
    results.emplace_back(data, data + info.bytes);
  }
  return results;
}

Variant compiledVariant(std::string name,
                        std::shared_ptr<const runtime::Executable> executable,
                        int threads) {
  return {name + ", " + std::to_string(threads) + " threads",
          [executable = std::move(executable), threads](const Tensors &inputs) {
            return call(*executable, inputs, threads);
          }};
}

FailureOr<std::shared_ptr<runtime::Executable>>
compileFor(func::FuncOp function, const CpuSetting &setting) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  func::FuncOp main = function.clone();
  main.setName("main");
  module->push_back(main);
  if (setting.donate)
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      main.setArgAttr(i, lowering::kDonate,
                      UnitAttr::get(function.getContext()));
  lowering::ProgramOptions options;
  options.threads = 1;
  options.fuse = setting.fuse;
  options.target = setting.target;
  std::string error;
  auto executable = lowering::compile(*module, options, error);
  if (failed(executable))
    return function.emitError("does not compile ")
           << setting.name << ": " << error;
  return executable;
}

bool multiplies(func::FuncOp function,
                llvm::function_ref<bool(Type)> isOfType) {
  return function
      .walk([&](ir::DotGeneralOp dot) {
        return isOfType(dot.getA().getType().getElementType())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool touchesHalf(func::FuncOp function) {
  return llvm::any_of(
      llvm::concat<const Type>(function.getArgumentTypes(),
                               function.getResultTypes()),
      [](Type type) { return getElementTypeOrSelf(type).isF16(); });
}

std::vector<CpuSetting> cpuSettings(func::FuncOp function) {
  std::vector<CpuSetting> settings{kUnfused, kFused, kDonated};
  if (touchesHalf(function) ||
      multiplies(function, [](Type type) { return type.isBF16(); })) {
    lowering::TargetInfo target = lowering::hostTarget();
    target.spellsOutBF16Dot = true;
    target.hasHalfConversions = false;
    settings.push_back({"with instructions spelled out", true, false, target});
  }
  return settings;
}

FailureOr<std::vector<Variant>> prepareCpu(func::FuncOp function,
                                           ArrayRef<CpuSetting> settings) {
  std::vector<Variant> variants;
  for (const CpuSetting &setting : settings) {
    auto executable = compileFor(function, setting);
    if (failed(executable))
      return failure();
    for (int threads : kThreads)
      variants.push_back(compiledVariant(setting.name, *executable, threads));
  }
  return variants;
}

} // namespace tessera::numerics
