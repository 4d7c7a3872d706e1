// Random programs: choices, and values with what they are worth.
#include "test/Fuzz/Program.h"
#include "lowering/Reference/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "test/Numerics/driver/Inputs.h"

using namespace mlir;

namespace tessera::fuzz {
using lowering::TensorBytes;

FailureOr<TensorBytes> evaluateOp(Operation *op,
                                  const std::vector<TensorBytes> &operands) {
  OpBuilder builder(op->getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(
      builder, op->getLoc(), "main",
      builder.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
  builder.setInsertionPointToStart(function.addEntryBlock());
  Operation *copy = builder.clone(*op);
  copy->setOperands(function.getArguments());
  func::ReturnOp::create(builder, op->getLoc(), copy->getResults());
  auto results = lowering::interpret(function, operands);
  if (failed(results))
    return failure();
  return std::move(results->front());
}

// Choices

static constexpr int64_t kSmallSizes[] = {1,  1,  2,  2,  3,   3,   4,  5,
                                          7,  8,  9,  13, 16,  17,  31, 32,
                                          33, 64, 65, 97, 128, 129, 257};
static constexpr int64_t kLargeSizes[] = {64,  100, 129,  255,  256, 300,
                                          513, 777, 1024, 1025, 2050};

Program::Program(MLIRContext &context, uint64_t seed)
    : random(seed), module(ModuleOp::create(UnknownLoc::get(&context))),
      builder(&context), seed(seed) {
  Location place =
      FileLineColLoc::get(&context, "fuzz-" + std::to_string(seed), 1, 1);
  module->getBody()->clear();
  builder.setInsertionPointToEnd(module->getBody());
  main = func::FuncOp::create(builder, place, "main",
                              builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(main.addEntryBlock());
  bool large = chance(0.05);
  most = large ? 1 << 17 : 4096;
  for (int i = 0; i < 3; ++i)
    sizes.push_back(random.pick(kSmallSizes));
  if (large)
    sizes.append({random.pick(kLargeSizes), random.pick(kLargeSizes)});
  if (chance(0.04))
    sizes.push_back(0);
  mainReal = chance(0.55)  ? Type(builder.getF32Type())
             : chance(0.6) ? builder.getF64Type()
             : chance(0.5) ? builder.getF16Type()
                           : builder.getBF16Type();
  int64_t arguments = between(1, 3);
  for (int64_t i = 0; i < arguments; ++i)
    argument(RankedTensorType::get(shape(i ? between(0, 3) : between(1, 3)),
                                   i ? element() : mainReal));
}

Shape Program::shape(int64_t rank) {
  Shape result;
  for (int64_t i = 0; i < rank; ++i) {
    result.push_back(size());
    if (!fits(result))
      result.back() = 1;
  }
  return result;
}

Type Program::real() {
  if (chance(0.9))
    return mainReal;
  if (chance(0.3))
    return chance(0.5) ? Type(builder.getF16Type()) : builder.getBF16Type();
  return mainReal.isF32() ? Type(builder.getF64Type()) : builder.getF32Type();
}

Type Program::element() {
  if (chance(0.7))
    return real();
  Type others[] = {builder.getI1Type(), builder.getI32Type(),
                   builder.getI64Type()};
  return random.pick(others);
}

bool Program::fits(ArrayRef<int64_t> shape) const {
  return ShapedType::getNumElements(shape) <= most;
}

// Values

Value Program::remember(Value value, TensorBytes bytes) {
  values.push_back(value);
  known[value] = std::move(bytes);
  return value;
}

Value Program::any(llvm::function_ref<bool(RankedTensorType)> condition) {
  SmallVector<Value> fitting;
  for (Value value : values)
    if (condition(ir::tensorType(value)))
      fitting.push_back(value);
  if (fitting.empty())
    return {};
  size_t a = random.below(fitting.size()), b = random.below(fitting.size());
  return fitting[std::max(a, b)];
}

Value Program::anyReal() {
  return any([](RankedTensorType type) {
    return isa<FloatType>(type.getElementType());
  });
}

Value Program::argument(RankedTensorType type,
                        std::optional<std::pair<int64_t, int64_t>> range) {
  Value value = main.getBody().front().addArgument(type, loc());
  main.setType(
      builder.getFunctionType(main.getBody().front().getArgumentTypes(), {}));
  unsigned number = main.getNumArguments() - 1;
  if (range)
    main.setArgAttr(number, "test.range",
                    builder.getI64ArrayAttr({range->first, range->second}));
  return remember(
      value, numerics::makeInput(main, number, numerics::Draw::plain, seed));
}

Value Program::ofType(RankedTensorType type) {
  if (chance(0.75))
    if (Value value =
            any([&](RankedTensorType other) { return other == type; }))
      return value;
  if (Value value = makeOfType(type))
    return value;
  return argument(type);
}

Value Program::makeOfType(RankedTensorType type) {
  Type element = type.getElementType();
  if (chance(0.3))
    if (Value other = any([&](RankedTensorType t) {
          return t.getShape() == type.getShape() &&
                 t.getElementType() != element;
        }))
      return add<ir::ConvertOp>(type, other);
  if (chance(0.3)) {
    Value row = any([&](RankedTensorType t) {
      return t.getElementType() == element && t.getRank() < type.getRank() &&
             t.getShape() == type.getShape().take_back(t.getRank());
    });
    if (row) {
      int64_t rank = ir::tensorType(row).getRank();
      return add<ir::BroadcastOp>(type, row,
                                  llvm::to_vector(llvm::seq<int64_t>(
                                      type.getRank() - rank, type.getRank())));
    }
  }
  if (chance(0.1) && type.getRank() && !element.isInteger(1))
    return add<ir::IotaOp>(type, between(0, type.getRank() - 1));
  if (chance(0.1)) {
    TypedAttr number =
        isa<FloatType>(element)
            ? TypedAttr(builder.getFloatAttr(element, double(between(-4, 4))))
            : builder.getIntegerAttr(element, element.isInteger(1)
                                                  ? between(0, 1)
                                                  : between(-3, 3));
    return add<ir::ConstantOp>(type, number);
  }
  return {};
}

Value Program::add(OperationName name, Type type, ValueRange operands,
                   ArrayRef<NamedAttribute> attributes) {
  OperationState state(loc(), name, operands, type, attributes);
  return keep(builder.create(state));
}

Value Program::keep(Operation *op) {
  ScopedDiagnosticHandler silent(op->getContext(),
                                 [](Diagnostic &) { return success(); });
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  bool valid = type && fits(type.getShape()) &&
               succeeded(op->getName().verifyInvariants(op));
  if (valid) {
    std::vector<TensorBytes> operands;
    for (Value operand : op->getOperands())
      operands.push_back(known.at(operand));
    if (auto bytes = evaluateOp(op, operands); succeeded(bytes)) {
      Value value = remember(op->getResult(0), std::move(*bytes));
      if (!isWorthless(value) || chance(0.1))
        return value;
      values.pop_back();
      known.erase(value);
    }
  }
  op->erase();
  return {};
}

static double finitePart(Type type, const TensorBytes &bytes) {
  lowering::reference::Tensor tensor(type, bytes);
  int64_t finite = 0;
  lowering::reference::withElementType(tensor.element(), [&](auto tag) {
    for (auto x : tensor.as<decltype(tag)>())
      finite += std::isfinite(
          double(static_cast<lowering::reference::Compute<decltype(tag)>>(x)));
  });
  return tensor.size() ? double(finite) / double(tensor.size()) : 1;
}

bool Program::isWorthless(Value value) {
  Type element = ir::tensorType(value).getElementType();
  if (!element.isF32() && !element.isF64())
    return false;
  return finitePart(value.getType(), known.at(value)) < 0.6;
}

// The end

int64_t Program::opCount() {
  return int64_t(main.getBody().front().getOperations().size());
}

OwningOpRef<ModuleOp> Program::finish() {
  SmallVector<Value> results;
  for (Value value : llvm::reverse(values))
    if (value.use_empty() && results.size() < 5 && !isa<BlockArgument>(value))
      results.push_back(value);
  while (results.empty() || chance(0.3))
    results.push_back(any());
  func::ReturnOp::create(builder, loc(), results);
  // Arguments of ops that were refused.
  llvm::BitVector unused(main.getNumArguments());
  for (BlockArgument argument : main.getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
  (void)main.eraseArguments(unused);
  main.setType(builder.getFunctionType(main.getArgumentTypes(),
                                       ValueRange(results).getTypes()));
  return std::move(module);
}

} // namespace tessera::fuzz
