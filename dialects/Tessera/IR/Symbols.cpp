// The two forms of a program with symbolic dimensions, and its other sizes.
#include "dialects/Tessera/IR/Symbols.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace tessera::ir {

bool isSymbolic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::any_of(tensor.getShape(),
                                [](int64_t size) { return isSymbolic(size); });
}

std::string sizeText(int64_t number) {
  Extent extent = extentOf(number);
  if (ShapedType::isDynamic(number))
    return "?";
  if (!extent.isSymbolic())
    return std::to_string(number);
  std::string text;
  if (extent.coefficient != 1)
    text = std::to_string(extent.coefficient) + " * ";
  text += "?";
  if (extent.symbol > 0)
    text += std::to_string(extent.symbol);
  if (extent.constant != 0)
    text += (extent.constant < 0 ? " - " : " + ") +
            std::to_string(std::abs(extent.constant));
  return text;
}

//===-- The two forms --===//

static func::FuncOp mainOf(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("main");
}

/// Rewrites all tensor types.
static void replaceTypes(Operation *root,
                         llvm::function_ref<Type(RankedTensorType)> replace) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    return replace(type);
  });
  replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

void replaceSizes(Operation *root,
                  llvm::function_ref<int64_t(int64_t)> replace) {
  replaceTypes(root, [&](RankedTensorType type) {
    return type.clone(llvm::map_to_vector(type.getShape(), replace));
  });
}

bool hasSymbols(ModuleOp module) {
  func::FuncOp function = mainOf(module);
  return function && llvm::any_of(function.getArgumentTypes(), [](Type type) {
           auto tensor = dyn_cast<RankedTensorType>(type);
           return tensor && !tensor.hasStaticShape();
         });
}

/// What a type's `?` is.
static Extent writtenExtent(RankedTensorType type) {
  if (auto extent = dyn_cast_or_null<ExtentAttr>(type.getEncoding()))
    return {extent.getCoefficient(), extent.getConstant(),
            unsigned(extent.getSymbol())};
  return {1, 0, 0};
}

Extent extentOf(RankedTensorType type, unsigned dim) {
  return type.isDynamicDim(dim) ? writtenExtent(type)
                                : extentOf(type.getDimSize(dim));
}

static Type bound(RankedTensorType type) {
  if (type.hasStaticShape())
    return type;
  int64_t number = numberOf(writtenExtent(type));
  auto shape = llvm::map_to_vector(type.getShape(), [&](int64_t size) {
    return ShapedType::isDynamic(size) ? number : size;
  });
  return RankedTensorType::get(shape, type.getElementType());
}

static Type written(RankedTensorType type) {
  Extent extent;
  auto shape = llvm::map_to_vector(type.getShape(), [&](int64_t size) {
    if (!isSymbolic(size))
      return size;
    extent = extentOf(size);
    return ShapedType::kDynamic;
  });
  if (!extent.isSymbolic())
    return type;
  Attribute encoding;
  if (extent.symbol != 0 || extent.coefficient != 1 || extent.constant != 0)
    encoding = ExtentAttr::get(type.getContext(), extent.symbol,
                               extent.coefficient, extent.constant);
  return RankedTensorType::get(shape, type.getElementType(), encoding);
}

SmallVector<std::string> symbolNames(func::FuncOp function) {
  SmallVector<std::string> names;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (!type)
      continue;
    auto given = function.getArgAttrOfType<ArrayAttr>(i, kSymbols);
    for (unsigned dim = 0; dim < type.getRank(); ++dim) {
      Extent extent = extentOf(type, dim);
      if (!extent.isSymbolic() || extent.symbol >= kMaxSymbols)
        continue;
      for (size_t s = names.size(); s <= extent.symbol; ++s)
        names.push_back("");
      std::string &name = names[extent.symbol];
      if (name.empty() && given && dim < given.size())
        if (auto text = dyn_cast<StringAttr>(given[dim]))
          name = text.str();
    }
  }
  for (auto [s, name] : llvm::enumerate(names))
    if (name.empty())
      name = "s" + std::to_string(s);
  return names;
}

unsigned symbolCount(ModuleOp module) {
  func::FuncOp function = mainOf(module);
  if (!function || function.isExternal() || !hasSymbols(module))
    return 0;
  return std::min<unsigned>(symbolNames(function).size(), kMaxSymbols);
}

/// The names that arguments give their dimensions fit the types.
static LogicalResult verifyNames(func::FuncOp function) {
  SmallVector<std::string> names = symbolNames(function);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    auto given = function.getArgAttrOfType<ArrayAttr>(i, kSymbols);
    if (!type || !given)
      continue;
    if (int64_t(given.size()) != type.getRank())
      return function.emitError("argument ")
             << i << " has " << given.size() << " names in " << kSymbols
             << " for " << type.getRank() << " dimensions";
    for (auto [dim, entry] : llvm::enumerate(given)) {
      auto name = dyn_cast<StringAttr>(entry);
      if (!name)
        return function.emitError("argument ")
               << i << " has a name in " << kSymbols << " that is no string";
      bool isDynamic = type.isDynamicDim(dim);
      if (isDynamic == name.empty() ||
          (isDynamic && names[writtenExtent(type).symbol] != name))
        return function.emitError("argument ")
               << i << " names its dimension " << dim << " \"" << name.strref()
               << "\", and has it of " << typeText(type);
    }
  }
  return success();
}

/// Each symbol before the last is the dimension of an argument.
static LogicalResult verifyNumbers(func::FuncOp function) {
  llvm::SmallBitVector used(kMaxSymbols);
  for (Type type : function.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (unsigned dim = 0; dim < tensor.getRank(); ++dim)
        if (Extent extent = extentOf(tensor, dim); extent.isSymbolic())
          used.set(extent.symbol);
  for (unsigned symbol = 0; symbol < StandIns::count(); ++symbol)
    if (!used[symbol])
      return function.emitError("no argument has a dimension of the symbol s")
             << symbol << ", and one has of s" << StandIns::count() - 1;
  return success();
}

LogicalResult bindSymbols(ModuleOp module) {
  func::FuncOp function = mainOf(module);
  bool wrong = false;
  auto check = [&](Type type, Location loc) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.hasStaticShape() || wrong)
      return;
    Extent extent = writtenExtent(tensor);
    bool many = tensor.getNumDynamicDims() > 1;
    if (!many && extent.symbol < StandIns::count() && extent.coefficient > 0)
      return;
    wrong = true;
    emitError(loc) << typeText(type)
                   << (many ? " has more than one symbolic dimension"
                            : " has a dimension that no argument's is");
  };
  for (BlockArgument argument : function.getArguments())
    check(argument.getType(), argument.getLoc());
  module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      check(type, op->getLoc());
  });
  if (wrong || failed(verifyNames(function)) || failed(verifyNumbers(function)))
    return failure();
  replaceTypes(module, bound);
  if (failed(verify(module)))
    return failure();
  return verifySymbols(function);
}

void writeSymbols(ModuleOp module) { replaceTypes(module, written); }

LogicalResult verifySymbols(func::FuncOp function) {
  auto check = [](Value value, Operation *op) -> LogicalResult {
    int64_t symbolic = 0;
    for (int64_t size : tensorType(value).getShape()) {
      Extent extent = extentOf(size);
      if (extent.coefficient < 0)
        return op->emitOpError("has a size that shrinks as a symbol grows: ")
               << typeText(value.getType());
      symbolic += extent.isSymbolic();
    }
    if (symbolic > 1)
      return op->emitOpError("has a value of more than one symbolic "
                             "dimension, of which a value may have one: ")
             << typeText(value.getType());
    return success();
  };
  WalkResult result = function.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (failed(check(value, op)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===-- Other sizes --===//

void instantiate(ModuleOp module, ArrayRef<int64_t> dims) {
  replaceSizes(module, [&](int64_t size) { return extentOf(size).at(dims); });
}

void restate(Operation *root, unsigned symbols) {
  replaceSizes(root, [&](int64_t size) {
    Extent extent = extentOf(size);
    StandIns second(symbols, StandIns::second);
    return numberOf(extent);
  });
}

/// Whether an op reads a tensor without elements for those of its result. The
/// static program is another one then, which does not read it.
static bool readsNothing(Operation *op, ArrayRef<int64_t> dims) {
  auto elements = [&](Value value) {
    int64_t product = 1;
    for (int64_t size : tensorType(value).getShape())
      product *= extentOf(size).at(dims);
    return product;
  };
  return isa<PadOp, ConcatOp, DynamicUpdateSliceOp>(op) &&
         elements(op->getResult(0)) > 0 &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return isSymbolic(operand.getType()) && elements(operand) == 0;
         });
}

/// What is wrong with the program for these sizes; empty if nothing is.
static std::string faultAt(ModuleOp module, ArrayRef<int64_t> dims) {
  std::string text;
  module.walk([&](Operation *op) {
    if (readsNothing(op, dims))
      text = "an empty tensor would be padded, joined or put into another";
  });
  if (!text.empty())
    return text;
  OwningOpRef<ModuleOp> program = module.clone();
  instantiate(*program, dims);
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (text.empty() &&
            diagnostic.getSeverity() == DiagnosticSeverity::Error)
          llvm::raw_string_ostream(text) << diagnostic;
        return success();
      });
  bool negative = false;
  program->walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        negative |= llvm::any_of(tensor.getShape(),
                                 [](int64_t size) { return size < 0; });
  });
  if (negative)
    return "a size would be negative";
  if (failed(verify(*program)) && text.empty())
    return "its shapes do not fit";
  return text;
}

FailureOr<SmallVector<SymbolRange>> symbolRanges(ModuleOp module) {
  constexpr int64_t kMostTried = 65536;
  SmallVector<SymbolRange> ranges;
  SmallVector<std::string> names = symbolNames(mainOf(module));
  for (auto [symbol, name] : llvm::enumerate(names)) {
    SymbolRange range{name, 0, {}};
    SmallVector<int64_t> dims(names.size(), kMostTried);
    auto fault = [&](int64_t size) {
      dims[symbol] = size;
      return faultAt(module, dims);
    };
    int64_t good = 0, bad = -1;
    std::string why;
    for (std::string text; !(text = fault(good)).empty(); good = 2 * good + 1) {
      bad = good;
      why = std::move(text);
      if (good >= kMostTried)
        return mainOf(module).emitError("no size of ")
               << name << " fits: " << why;
    }
    while (good - bad > 1) {
      int64_t middle = bad + (good - bad) / 2;
      if (std::string text = fault(middle); text.empty()) {
        good = middle;
      } else {
        bad = middle;
        why = std::move(text);
      }
    }
    range.least = good;
    range.why = why;
    ranges.push_back(std::move(range));
  }
  return ranges;
}

} // namespace tessera::ir
