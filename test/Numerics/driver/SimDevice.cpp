// The emulator as a device: the kernels of a GPU, checked while they run.
#include "lowering/GPU/Sim/Launches.h"
#include "test/Numerics/driver/Devices.h"
#include <cstdlib>

using namespace mlir;

namespace tessera::numerics {

llvm::Expected<lowering::TargetInfo> simTarget() {
  setenv("TESSERA_SIM_CHECK", "all", /*overwrite=*/0);
  return lowering::emulatedTargetFor("sm_90");
}

FailureOr<std::vector<Variant>> prepareSim(func::FuncOp function,
                                           ArrayRef<CpuSetting> settings) {
  auto target = simTarget();
  if (!target)
    return function.emitError(llvm::toString(target.takeError()));
  auto cpu = compileFor(function, kFused);
  if (failed(cpu))
    return failure();
  std::vector<Variant> variants{compiledVariant("on the CPU", *cpu, 1)};
  for (const CpuSetting &like : settings) {
    auto executable =
        compileFor(function, {like.name, like.fuse, like.donate, *target});
    if (failed(executable))
      return failure();
    variants.push_back(
        compiledVariant(std::string("emulated, ") + like.name, *executable, 3));
  }
  return variants;
}

} // namespace tessera::numerics
