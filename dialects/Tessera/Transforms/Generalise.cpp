// Goes through two recordings of one function side by side.
//
// Why: a function is recorded with sizes that are numbers, so that it may do
// with them what it likes. What it did shows when it is recorded again with
// another size.
//   add %x, %y : tensor<5x8xf32>, add %x, %y : tensor<13x8xf32>   ->
//   add %x, %y : tensor<?x8xf32>
#include "dialects/Tessera/Transforms/Generalise.h"
#include "dialects/Tessera/IR/Symbols.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tessera::ir {

namespace {
class Generaliser {
public:
  Generaliser(int64_t n1, int64_t n2, StringRef name)
      : n1(n1), n2(n2), name(name) {}

  /// Changes `first` into the whole.
  LogicalResult run(func::FuncOp first, func::FuncOp second) {
    Block &a = first.getBody().front(), &b = second.getBody().front();
    if (a.getNumArguments() != b.getNumArguments())
      return first.emitError("reads other inputs at other sizes of ") << name;
    for (auto [x, y] : llvm::zip(a.getArguments(), b.getArguments()))
      if (failed(merge(x, y, first)))
        return failure();
    auto next = b.begin();
    for (Operation &op : llvm::make_early_inc_range(a)) {
      if (next == b.end() || failed(merge(op, *next)))
        return failure();
      ++next;
    }
    SmallVector<Type> results(a.getTerminator()->getOperandTypes());
    first.setType(
        FunctionType::get(first.getContext(), a.getArgumentTypes(), results));
    nameArguments(first);
    return success();
  }

private:
  std::optional<Extent> extentOfSizes(int64_t x, int64_t y) {
    if ((x - y) % (n1 - n2) != 0)
      return std::nullopt;
    int64_t coefficient = (x - y) / (n1 - n2);
    return Extent{coefficient, x - coefficient * n1, 0};
  }

  LogicalResult merge(Value x, Value y, Operation *op) {
    auto a = tensorType(x), b = tensorType(y);
    bool fits =
        a.getElementType() == b.getElementType() && a.getRank() == b.getRank();
    SmallVector<int64_t> shape;
    for (int64_t dim = 0; fits && dim < a.getRank(); ++dim) {
      auto size = extentOfSizes(a.getDimSize(dim), b.getDimSize(dim));
      fits = size && size->coefficient >= 0;
      shape.push_back(fits ? numberOf(*size) : 0);
    }
    if (!fits)
      return op->emitError("[")
             << op->getName().stripDialect() << "] the shape does not follow "
             << "from the symbolic size " << name << ": it is " << typeText(a)
             << " for " << n1 << " and " << typeText(b) << " for " << n2;
    x.setType(RankedTensorType::get(shape, a.getElementType()));
    whole.map(y, x);
    return success();
  }

  LogicalResult merge(Operation &x, Operation &y) {
    bool same = x.getName() == y.getName() &&
                x.getNumOperands() == y.getNumOperands() &&
                llvm::all_of(llvm::zip(x.getOperands(), y.getOperands()),
                             [&](auto pair) {
                               return std::get<0>(pair) ==
                                      whole.lookup(std::get<1>(pair));
                             });
    if (!same)
      return x.emitError("[")
             << x.getName().stripDialect()
             << "] the program is another one for other sizes of " << name
             << ": it is compiled once for all, and so must not depend on it";
    if (x.getNumResults() == 0)
      return success();
    if (failed(merge(x.getResult(0), y.getResult(0), &x)))
      return failure();
    if (x.getAttrDictionary() == y.getAttrDictionary())
      return success();
    if (auto constant = dyn_cast<ConstantOp>(x);
        constant && isExtent(constant, cast<ConstantOp>(y)))
      return success();
    return x.emitError("[")
           << x.getName().stripDialect() << "] a number of the program "
           << "depends on the symbolic size " << name << ": " << text(x)
           << " for " << n1 << " and " << text(y) << " for " << n2;
  }

  static std::string text(Operation &op) {
    std::string text;
    llvm::raw_string_ostream out(text);
    if (auto constant = dyn_cast<ConstantOp>(op))
      out << constant.getValue();
    else
      out << op.getAttrDictionary();
    return text;
  }

  /// Replaces a constant that is a multiple of the size.
  bool isExtent(ConstantOp x, ConstantOp y) {
    auto number = [](Attribute value) {
      if (auto real = dyn_cast<FloatAttr>(value))
        return real.getValueAsDouble();
      return double(cast<IntegerAttr>(value).getInt());
    };
    double p = number(x.getValue()), q = number(y.getValue());
    if (p != std::floor(p) || q != std::floor(q) || std::abs(p) > 1e15 ||
        std::abs(q) > 1e15)
      return false;
    auto extent = extentOfSizes(int64_t(p), int64_t(q));
    if (!extent || extent->constant != 0)
      return false;
    OpBuilder builder(x);
    auto of = RankedTensorType::get({numberOf(*extent)}, builder.getI1Type());
    auto op = ExtentOp::create(builder, x.getLoc(), x.getType(), of);
    x.getResult().replaceAllUsesWith(op.getResult());
    whole.map(y.getResult(), op.getResult());
    x.erase();
    return true;
  }

  void nameArguments(func::FuncOp function) {
    Builder builder(function.getContext());
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      if (!isSymbolic(function.getArgumentTypes()[i]))
        continue;
      SmallVector<Attribute> names;
      for (int64_t size :
           cast<RankedTensorType>(function.getArgumentTypes()[i]).getShape())
        names.push_back(builder.getStringAttr(isSymbolic(size) ? name : ""));
      function.setArgAttr(i, kSymbols, builder.getArrayAttr(names));
    }
  }

  int64_t n1, n2;
  StringRef name;
  IRMapping whole; ///< From values of the second to those of the first.
};
} // namespace

FailureOr<OwningOpRef<ModuleOp>> generalise(ModuleOp first, ModuleOp second,
                                            int64_t n1, int64_t n2,
                                            StringRef name) {
  StandIns standIns(1);
  OwningOpRef<ModuleOp> module = first.clone();
  auto function = module->lookupSymbol<func::FuncOp>("main");
  if (failed(Generaliser(n1, n2, name)
                 .run(function, second.lookupSymbol<func::FuncOp>("main"))) ||
      failed(verify(*module)) || failed(verifySymbols(function)))
    return failure();
  writeSymbols(*module);
  return module;
}

} // namespace tessera::ir
