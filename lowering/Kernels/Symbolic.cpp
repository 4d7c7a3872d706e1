// Turns the code that emitters make of stand-ins into code for every size.
#include "lowering/Kernels/Symbolic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

bool dependsOnSymbols(KernelOp kernel) {
  auto any = [](TypeRange types) {
    return llvm::any_of(types, [](Type type) { return ir::isSymbolic(type); });
  };
  if (any(kernel.getOperandTypes()) || any(kernel.getResultTypes()))
    return true;
  return llvm::any_of(kernel.getBody().front(), [&](Operation &op) {
    return isa<ExtentOp>(op) || any(op.getResultTypes());
  });
}

namespace {
/// Rewrites one emitted module.
class Generaliser {
public:
  Generaliser(ModuleOp module, unsigned symbols)
      : module(module), builder(module.getContext()),
        dimsType(MemRefType::get({symbols}, builder.getI64Type())) {}

  LogicalResult run() {
    if (module
            .walk([](memref::AllocaOp op) {
              return isSymbolic(op.getType().getNumElements())
                         ? WalkResult::interrupt()
                         : WalkResult::advance();
            })
            .wasInterrupted())
      return failure();
    SmallVector<FunctionOpInterface> functions;
    module.walk([&](FunctionOpInterface op) { functions.push_back(op); });
    for (FunctionOpInterface function : functions)
      addDims(function);
    module.walk([&](func::CallOp call) {
      auto caller = call->getParentOfType<FunctionOpInterface>();
      call->insertOperands(call->getNumOperands(), dimsOf(caller));
    });
    for (FunctionOpInterface function : functions)
      replaceConstants(function);
    hideSizes();
    return success();
  }

private:
  static bool isLaunch(FunctionOpInterface function) {
    return function->hasAttr("tessera.launch");
  }

  /// The arguments after the dimensions: a launch on the CPU has its range of
  /// tiles there.
  static unsigned numAfter(FunctionOpInterface function) {
    return isLaunch(function) && isa<func::FuncOp>(function) ? 2 : 0;
  }

  void addDims(FunctionOpInterface function) {
    DictionaryAttr attributes = builder.getDictionaryAttr(
        builder.getNamedAttr("llvm.noalias", builder.getUnitAttr()));
    (void)function.insertArgument(function.getNumArguments() -
                                      numAfter(function),
                                  dimsType, attributes, function.getLoc());
    if (isLaunch(function))
      function->setAttr("tessera.dims", builder.getUnitAttr());
  }

  Value dimsOf(FunctionOpInterface function) {
    return function.getArgument(function.getNumArguments() - 1 -
                                numAfter(function));
  }

  void replaceConstants(FunctionOpInterface function) {
    SmallVector<arith::ConstantOp> constants;
    function.walk([&](arith::ConstantOp op) {
      if (auto value = dyn_cast<IntegerAttr>(op.getValue());
          value && op.getType().isIndex() && isSymbolic(value.getInt()))
        constants.push_back(op);
    });
    llvm::MapVector<int64_t, Value> known;
    Block &entry = function.getFunctionBody().front();
    OpBuilder top(&entry, entry.begin());
    Location loc = function.getLoc();
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(top, loc, value);
    };
    SmallVector<Value> symbols(kMaxSymbols);
    for (arith::ConstantOp op : constants) {
      int64_t value = cast<IntegerAttr>(op.getValue()).getInt();
      Value &computed = known[value];
      if (!computed) {
        Extent extent = extentOf(value);
        Value &symbol = symbols[extent.symbol];
        if (!symbol)
          symbol = arith::IndexCastOp::create(
              top, loc, top.getIndexType(),
              memref::LoadOp::create(top, loc, dimsOf(function),
                                     number(extent.symbol)));
        computed = symbol;
        if (extent.coefficient != 1)
          computed = arith::MulIOp::create(top, loc, computed,
                                           number(extent.coefficient));
        if (extent.constant != 0)
          computed = arith::AddIOp::create(top, loc, computed,
                                           number(extent.constant));
      }
      op.replaceAllUsesWith(computed);
    }
    // Not before: `top` may stand before one of them.
    for (arith::ConstantOp op : constants)
      op.erase();
  }

  /// Buffers whose size depends on a symbol are of unknown size.
  void hideSizes() {
    auto hidden = [](int64_t size) {
      return isSymbolic(size) ? kUnknownElements : size;
    };
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](MemRefType type) -> std::optional<Type> {
      auto shape = llvm::map_to_vector(type.getShape(), hidden);
      return MemRefType::get(shape, type.getElementType(), type.getLayout(),
                             type.getMemorySpace());
    });
    replacer.addReplacement(
        [&](DenseI64ArrayAttr attribute) -> std::optional<Attribute> {
          return DenseI64ArrayAttr::get(
              attribute.getContext(),
              llvm::map_to_vector(attribute.asArrayRef(), hidden));
        });
    replacer.recursivelyReplaceElementsIn(module, true, false, true);
  }

  ModuleOp module;
  Builder builder;
  MemRefType dimsType;
};

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, OpPrintingFlags().useLocalScope());
  return text;
}
} // namespace

static FailureOr<OwningOpRef<ModuleOp>>
emitOnce(KernelOp kernel, unsigned symbols, const EmitKernel &emit) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  if (failed(emit(kernel, *module)))
    return failure();
  if (symbols > 0 && failed(Generaliser(*module, symbols).run()))
    return kernel.emitOpError(
        "needs a buffer on the stack whose size depends "
        "on a symbolic dimension, which is not supported");
  return module;
}

FailureOr<OwningOpRef<ModuleOp>> emitSymbolic(KernelOp kernel, unsigned symbols,
                                              const EmitKernel &emit) {
  if (symbols == 0)
    return emitOnce(kernel, 0, emit);
  {
    StandIns first(symbols);
    if (!dependsOnSymbols(kernel))
      symbols = 0;
  }
  StandIns first(symbols);
  if (symbols == 0)
    return emitOnce(kernel, 0, emit);
  FailureOr<OwningOpRef<ModuleOp>> module = emitOnce(kernel, symbols, emit);
  if (failed(module))
    return failure();
  OwningOpRef<Operation *> twin = kernel->getParentOp()->clone();
  restate(*twin, symbols);
  StandIns second(symbols, StandIns::second);
  KernelOp other;
  (*twin)->walk([&](KernelOp op) { other = op; });
  FailureOr<OwningOpRef<ModuleOp>> again = emitOnce(other, symbols, emit);
  if (failed(again))
    return failure();
  if (textOf(**module) != textOf(**again))
    return kernel.emitOpError(
        "has a symbolic dimension where the code of its kind of kernel needs "
        "a size that is known");
  return module;
}

} // namespace tessera::lowering
