// The compiler as a device: compiled fused and unfused, run on several numbers
// of threads.
#include "lowering/Compiler.h"
#include "runtime/Executable.h"
#include "test/Numerics/driver/Devices.h"

using namespace mlir;

namespace tessera::numerics {

static constexpr int kThreads[] = {1, 2, 3, 8};

static FailureOr<Tensors> call(const runtime::Executable &executable,
                               const Tensors &tensors, int threads) {
  std::vector<runtime::Storage> inputs,
      outputs(executable.info().outputs.size());
  for (const lowering::TensorBytes &bytes : tensors) {
    inputs.push_back(runtime::Storage::allocate(bytes.size()));
    std::copy(bytes.begin(), bytes.end(),
              static_cast<uint8_t *>(inputs.back().data()));
  }
  if (!executable.run(inputs, outputs, threads).ok())
    return failure();
  Tensors results;
  for (auto [info, storage] :
       llvm::zip_equal(executable.info().outputs, outputs)) {
    auto *data = static_cast<const uint8_t *>(storage.data());
    results.emplace_back(data, data + info.bytes);
  }
  return results;
}

FailureOr<std::vector<Variant>> prepareCpu(func::FuncOp function) {
  std::vector<Variant> variants;
  for (bool fuse : {false, true}) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
    func::FuncOp main = function.clone();
    main.setName("main");
    module->push_back(main);
    lowering::ProgramOptions options;
    options.threads = 1;
    options.fuse = fuse;
    std::string error;
    auto executable = lowering::compile(*module, options, error);
    if (failed(executable))
      return function.emitError("does not compile")
             << (fuse ? " fused: " : ": ") << error;
    for (int threads : kThreads)
      variants.push_back(
          {(fuse ? "fused, " : "unfused, ") + std::to_string(threads) +
               " threads",
           [executable = *executable, threads](const Tensors &inputs) {
             return call(*executable, inputs, threads);
           }});
  }
  return variants;
}

} // namespace tessera::numerics
