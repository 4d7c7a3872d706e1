// The first GPU as a device, where there is one or a driver that stands for it.
#include "lowering/CodeGen/GpuTarget.h"
#include "runtime/cuda/Device.h"
#include "test/Numerics/driver/Devices.h"

using namespace mlir;

namespace tessera::numerics {

bool hasCuda() {
  static const bool has = [] {
    try {
      return runtime::cuda::Gpu::count() > 0;
    } catch (const runtime::cuda::DeviceError &) {
      return false;
    }
  }();
  return has;
}

FailureOr<std::vector<Variant>> prepareCuda(func::FuncOp function) {
  try {
    auto target =
        lowering::gpuTargetRunningOn(runtime::cuda::Gpu::at(0).info().arch);
    if (!target)
      return function.emitError(llvm::toString(target.takeError()));
    std::vector<Variant> variants;
    for (const CpuSetting &like : {kFused, kDonated}) {
      auto executable =
          compileFor(function, {like.name, like.fuse, like.donate, *target});
      if (failed(executable))
        return failure();
      variants.push_back(compiledVariant(like.name, *executable, 1));
    }
    return variants;
  } catch (const runtime::cuda::DeviceError &error) {
    return function.emitError(error.what());
  }
}

} // namespace tessera::numerics
