// The table of devices, and the interpreter as one of them.
#include "test/Numerics/driver/Devices.h"
#include "dialects/Tessera/Transforms/Decompose.h"
#include "dialects/Tessera/Transforms/Fuse.h"
#include "dialects/Tessera/Transforms/SimplifyProducts.h"
#include "dialects/Tessera/Transforms/WidenNarrow.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tessera::numerics {

/// A copy of the function, changed and verified, and kept by the variant that
/// interprets it.
static FailureOr<Variant>
interpreted(std::string name, func::FuncOp function,
            llvm::function_ref<LogicalResult(ModuleOp, func::FuncOp)> change) {
  auto module = std::make_shared<OwningOpRef<ModuleOp>>(
      ModuleOp::create(function.getLoc()));
  func::FuncOp copy = function.clone();
  (*module)->push_back(copy);
  if (failed(change(**module, copy)) || failed(verify(**module)))
    return failure();
  return Variant{std::move(name), [module, copy](const Tensors &inputs) {
                   return lowering::interpret(copy, inputs);
                 }};
}

static LogicalResult canonicalize(ModuleOp module, func::FuncOp) {
  PassManager passes(module.getContext());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  return passes.run(module);
}

static LogicalResult toKernels(func::FuncOp function, bool fuse) {
  ir::decomposeComposites(function);
  ir::widenNarrowFloats(function);
  ir::simplifyProducts(function);
  ir::formKernels(function, fuse);
  return success();
}

/// The oracle itself on what the passes make of the program, so that each pass
/// is tested for keeping the bits.
static FailureOr<std::vector<Variant>> prepareReference(func::FuncOp function) {
  std::vector<Variant> variants;
  auto add = [&](const char *name, auto change) {
    FailureOr<Variant> variant = interpreted(name, function, change);
    if (succeeded(variant))
      variants.push_back(std::move(*variant));
    return LogicalResult(variant);
  };
  if (failed(add("after canonicalization", canonicalize)))
    return failure();
  // A file may hold a program of the kernels stage.
  if (!function.getOps<ir::KernelOp>().empty())
    return variants;
  if (failed(
          add("in kernels",
              [](ModuleOp, func::FuncOp f) { return toKernels(f, false); })) ||
      failed(add("in fused kernels",
                 [](ModuleOp, func::FuncOp f) { return toKernels(f, true); })))
    return failure();
  return variants;
}

ArrayRef<Device> devices() {
  static const Device table[] = {
      {"reference", true, false, false, prepareReference},
      {"cpu", false, false, false,
       [](func::FuncOp function) {
         return prepareCpu(function, cpuSettings(function));
       }},
      {"sim", false, true, true,
       [](func::FuncOp function) { return prepareSim(function); }},
      {"ptx", false, false, true, preparePtx},
      {"cuda", false, true, true, prepareCuda}, // the last one
  };
  return ArrayRef(table).drop_back(hasCuda() ? 0 : 1);
}

} // namespace tessera::numerics
