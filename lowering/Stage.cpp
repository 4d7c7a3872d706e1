// Recognises the stage of a module, and checks the contracts of stages.
#include "lowering/Stage.h"
#include "dialects/Tessera/IR/Symbols.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "dialects/Tessera/Transforms/WidenNarrow.h"
#include "lowering/Plan/PlanMemory.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

static constexpr StringRef kMark = "tessera.stage";
static constexpr StringRef kNames[] = {"trace", "tensor", "kernels", "plan",
                                       "loops", "llvm",   "code"};

StringRef nameOf(Stage stage) { return kNames[static_cast<int>(stage)]; }

std::optional<Stage> stageNamed(StringRef name) {
  auto it = llvm::find(kNames, name);
  if (it == std::end(kNames))
    return std::nullopt;
  return Stage(it - std::begin(kNames));
}

func::FuncOp mainFunction(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("main");
}

void markStage(ModuleOp module, Stage stage) {
  module->setAttr(kMark, StringAttr::get(module.getContext(), nameOf(stage)));
}

static bool isKernelOp(Operation *op) { return isa<KernelOp, YieldOp>(op); }

/// An op that computes a value, composites included.
static bool isValueOp(Operation *op) {
  return isa<TesseraDialect>(op->getDialect()) && !isKernelOp(op) &&
         !isa<InputOp>(op);
}

/// Sizes and positions are computed in 64 bits.
static bool isTooLarge(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return false;
  int64_t bytes = 8;
  bool overflows = false;
  for (int64_t size : tensor.getShape())
    overflows |= llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes);
  return overflows;
}

static LogicalResult verifyPrimitives(Block &block, Stage stage) {
  for (Operation &op : block.without_terminator()) {
    for (Type type : op.getResultTypes())
      if (isTooLarge(type))
        return op.emitOpError("gives a tensor that is too large: ") << type;
    if (!isValueOp(&op))
      return op.emitOpError("does not belong into the ")
             << nameOf(stage) << " stage, which holds "
             << (stage == Stage::trace ? "ops that compute tensors"
                                       : "primitives alone");
    if (stage != Stage::trace && isa<DecomposeOpInterface>(op))
      return op.emitOpError("is a composite, which the ")
             << nameOf(stage) << " stage does not hold any more";
    if (stage != Stage::trace && computesNarrowFloats(&op))
      return op.emitOpError("computes in a narrow float; the ")
             << nameOf(stage) << " stage does so in f32, and converts";
  }
  return success();
}

/// What the emitter of a kernel's kind is written for.
static LogicalResult verifyKind(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  bool isProduct = kernel.getKind() == KernelKind::gemm;
  auto products = body.getOps<DotGeneralOp>();
  if (std::distance(products.begin(), products.end()) != isProduct)
    return kernel.emitOpError(isProduct ? "of the kind gemm holds one product"
                                        : "holds a product, which only one of "
                                          "the kind gemm does");
  bool isReduction = kernel.getKind() == KernelKind::row_reduce ||
                     kernel.getKind() == KernelKind::col_reduce;
  if (isReduction && body.getOps<ReduceOp>().empty())
    return kernel.emitOpError("of the kind ")
           << stringifyKernelKind(kernel.getKind()) << " holds a reduction";
  return success();
}

static LogicalResult verifyKernels(func::FuncOp function) {
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (isa<ReshapeOp>(op))
      continue;
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel)
      return op.emitOpError("stands outside the kernels: the kernels stage "
                            "holds only kernels and reshapes there");
    if (failed(verifyPrimitives(kernel.getBody().front(), Stage::kernels)) ||
        failed(verifyKind(kernel)))
      return failure();
  }
  return success();
}

static bool isTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || isTooLarge(type))
    return false;
  Type element = tensor.getElementType();
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element) ||
         (element.isSignlessInteger() &&
          llvm::is_contained({1u, 8u, 16u, 32u, 64u},
                             element.getIntOrFloatBitWidth()));
}

/// Symbolic dimensions are bound to stand-ins by now.
static LogicalResult verifySizes(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type);
          tensor && !tensor.hasStaticShape()) {
        op->emitError() << typeText(type)
                        << " has a dimension that no argument's is";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult verifyStage(ModuleOp module, Stage stage) {
  if (failed(verify(module)))
    return failure();
  func::FuncOp function = mainFunction(module);
  if (!function || function.isExternal() || !function.getBody().hasOneBlock())
    return module.emitError("a program is a function named main of one block");
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(),
                                            function.getResultTypes()))
    if (!isTensor(type))
      return function.emitError("a program takes and gives tensors of static "
                                "shape, known dtype and at most 2^60 "
                                "elements, and not ")
             << type;
  if (failed(verifySizes(function)))
    return failure();
  switch (stage) {
  case Stage::trace:
  case Stage::tensor:
    return verifyPrimitives(function.getBody().front(), stage);
  case Stage::kernels:
    return verifyKernels(function);
  case Stage::plan:
    return failure(failed(verifyKernels(function)) ||
                   failed(verifyPlan(function)));
  default:
    return module.emitError("the ")
           << nameOf(stage) << " stage is one of a kernel, not of a program";
  }
}

/// What a module without a mark must be in, if it is in any.
static Stage stageOfContent(ModuleOp module) {
  func::FuncOp function = mainFunction(module);
  if (!function || function.isExternal())
    return Stage::trace;
  if (function->hasAttr("tessera.arena"))
    return Stage::plan;
  bool hasKernels = !function.getBody().front().getOps<KernelOp>().empty();
  return hasKernels ? Stage::kernels : Stage::trace;
}

FailureOr<Stage> stageOf(ModuleOp module) {
  if (StandIns::count() == 0 && hasSymbols(module)) {
    StandIns standIns(symbolCount(module));
    OwningOpRef<ModuleOp> bound = module.clone();
    if (failed(bindSymbols(*bound)))
      return failure();
    return stageOf(*bound);
  }
  Stage stage = stageOfContent(module);
  if (Attribute mark = module->getAttr(kMark)) {
    auto name = dyn_cast<StringAttr>(mark);
    std::optional<Stage> named =
        name ? stageNamed(name.getValue()) : std::nullopt;
    if (!named)
      return module.emitError("`tessera.stage` is ")
             << mark
             << ", and not \"trace\", \"tensor\", \"kernels\" or \"plan\"";
    stage = *named;
  }
  if (failed(verifyStage(module, stage)))
    return failure();
  return stage;
}

} // namespace tessera::lowering
