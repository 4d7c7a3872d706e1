// Slices: found, keyed and copied without recursion.
#include "frontend/Slice.h"

#include "lowering/Plan/InPlace.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <unordered_map>

using namespace mlir;

namespace tessera::detail {

Slice makeSlice(Trace &trace, ArrayRef<Operation *> roots) {
  Slice slice;
  slice.outputs.assign(roots.begin(), roots.end());
  SmallVector<std::pair<Operation *, unsigned>, 32> stack;
  auto visit = [&](Operation *op) {
    if (slice.position.contains(op))
      return;
    if (isa<ir::InputOp>(op) || trace.hasStorage(op)) {
      slice.position[op] = uint32_t(slice.inputs.size()) * 2;
      slice.inputs.push_back(op);
    } else {
      stack.push_back({op, 0});
    }
  };
  for (Operation *root : roots) {
    visit(root);
    while (!stack.empty()) {
      auto &[op, next] = stack.back();
      if (slice.position.contains(op)) {
        stack.pop_back();
      } else if (next < op->getNumOperands()) {
        visit(op->getOperand(next++).getDefiningOp());
      } else {
        slice.position[op] = uint32_t(slice.ops.size()) * 2 + 1;
        slice.ops.push_back(op);
        stack.pop_back();
      }
    }
  }
  return slice;
}

// Identity

/// One number for each text, the same in all contexts of the process.
static uint32_t intern(std::string text) {
  static std::mutex mutex;
  static auto &table = *new std::unordered_map<std::string, uint32_t>();
  std::lock_guard guard(mutex);
  return table.try_emplace(std::move(text), uint32_t(table.size()))
      .first->second;
}

template <typename T> static std::string print(T object) {
  std::string text;
  llvm::raw_string_ostream(text) << object;
  return text;
}

/// Name, attributes and result type are each one pointer of the context.
static uint32_t kindOf(Trace &trace, Operation *op) {
  Type type = op->getResult(0).getType();
  auto key = std::make_tuple(op->getName().getAsOpaquePointer(),
                             op->getAttrDictionary().getAsOpaquePointer(),
                             type.getAsOpaquePointer());
  auto [it, isNew] = trace.kindMemo.try_emplace(key, 0);
  if (isNew)
    it->second = intern(op->getName().getStringRef().str() + "|" +
                        print(op->getAttrDictionary()) + "|" + print(type));
  return it->second;
}

static uint32_t typeOf(Trace &trace, Operation *op) {
  Type type = op->getResult(0).getType();
  auto [it, isNew] = trace.typeMemo.try_emplace(type.getAsOpaquePointer(), 0);
  if (isNew)
    it->second = intern(print(type));
  return it->second;
}

StructureKey makeKey(Trace &trace, const Slice &slice) {
  StructureKey key;
  key.reserve(slice.inputs.size() + slice.ops.size() * 4 +
              slice.outputs.size() + slice.donated.size() + 3);
  key.push_back(uint32_t(slice.inputs.size()));
  for (Operation *op : slice.inputs)
    key.push_back(typeOf(trace, op));
  key.push_back(uint32_t(slice.ops.size()));
  for (Operation *op : slice.ops) {
    key.push_back(kindOf(trace, op));
    key.push_back(op->getNumOperands());
    for (Value operand : op->getOperands())
      key.push_back(slice.position.lookup(operand.getDefiningOp()));
  }
  key.push_back(uint32_t(slice.outputs.size()));
  for (Operation *op : slice.outputs)
    key.push_back(slice.position.lookup(op));
  key.insert(key.end(), slice.donated.begin(), slice.donated.end());
  return key;
}

// Copy

namespace {
/// Rebuilds attributes, types and locations in another context. The few that a
/// program has go through their text.
class Translator {
public:
  Translator(MLIRContext &context) : context(context) {}

  Type type(Type from) {
    Type &to = types[from];
    if (!to)
      to = parseType(print(from), &context);
    assert(to && "a type of the trace prints and parses");
    return to;
  }

  DictionaryAttr attributes(DictionaryAttr from) {
    Attribute &to = dictionaries[from];
    if (!to)
      to = parseAttribute(print(from), &context);
    assert(to && "the attributes of the trace print and parse");
    return cast<DictionaryAttr>(to);
  }

  LocationAttr location(LocationAttr from) {
    if (Attribute to = locations.lookup(from))
      return cast<LocationAttr>(to);
    LocationAttr to = translate(from);
    locations[from] = to;
    return to;
  }

private:
  LocationAttr translate(LocationAttr from) {
    if (auto file = dyn_cast<FileLineColRange>(from))
      return FileLineColLoc::get(&context, file.getFilename().getValue(),
                                 file.getStartLine(), file.getStartColumn());
    if (auto call = dyn_cast<CallSiteLoc>(from))
      return CallSiteLoc::get(location(call.getCallee()),
                              location(call.getCaller()));
    if (auto name = dyn_cast<NameLoc>(from))
      return NameLoc::get(StringAttr::get(&context, name.getName().getValue()),
                          location(name.getChildLoc()));
    if (auto fused = dyn_cast<FusedLoc>(from)) {
      SmallVector<Location> parts;
      for (Location part : fused.getLocations())
        parts.push_back(location(part));
      return FusedLoc::get(&context, parts);
    }
    return UnknownLoc::get(&context);
  }

  MLIRContext &context;
  llvm::DenseMap<Type, Type> types;
  llvm::DenseMap<Attribute, Attribute> dictionaries, locations;
};
} // namespace

OwningOpRef<ModuleOp> copySlice(const Slice &slice, MLIRContext &context) {
  context.loadDialect<ir::TesseraDialect, func::FuncDialect>();
  Translator translate(context);
  SmallVector<Type> arguments, results;
  for (Operation *op : slice.inputs)
    arguments.push_back(translate.type(op->getResult(0).getType()));
  for (Operation *op : slice.outputs)
    results.push_back(translate.type(op->getResult(0).getType()));
  LocationAttr place = translate.location(slice.outputs.back()->getLoc());

  OwningOpRef<ModuleOp> module = ModuleOp::create(place);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto main = func::FuncOp::create(
      builder, place, "main", FunctionType::get(&context, arguments, results));
  for (unsigned input : slice.donated)
    main.setArgAttr(input, lowering::kDonate, UnitAttr::get(&context));
  Block *body = main.addEntryBlock();
  builder.setInsertionPointToEnd(body);

  llvm::DenseMap<Operation *, Value> copies;
  for (auto [op, argument] : llvm::zip(slice.inputs, body->getArguments())) {
    argument.setLoc(translate.location(op->getLoc()));
    copies[op] = argument;
  }
  for (Operation *op : slice.ops) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(copies.lookup(operand.getDefiningOp()));
    Operation *copy =
        Operation::create(translate.location(op->getLoc()),
                          OperationName(op->getName().getStringRef(), &context),
                          translate.type(op->getResult(0).getType()), operands,
                          translate.attributes(op->getAttrDictionary()),
                          OpaqueProperties(nullptr), BlockRange(), 0);
    builder.insert(copy);
    copies[op] = copy->getResult(0);
  }
  SmallVector<Value> returned;
  for (Operation *op : slice.outputs)
    returned.push_back(copies.lookup(op));
  func::ReturnOp::create(builder, place, returned);
  return module;
}

} // namespace tessera::detail
