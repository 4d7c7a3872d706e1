// The function builder of the Gemm emitter.
#include "lowering/CPU/GemmBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
namespace tessera::lowering::cpu {

FunctionBuilder::FunctionBuilder(ModuleOp module, Location loc, StringRef name,
                                 TypeRange arguments, bool isPrivate)
    : b(module.getContext()), loc(loc) {
  b.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(b, loc, name,
                                  b.getFunctionType(arguments, TypeRange()));
  if (isPrivate)
    function.setPrivate();
  b.setInsertionPointToStart(function.addEntryBlock());
}

std::optional<int64_t> constantOf(Value value) {
  // What stands for a symbolic size is no size to decide by.
  if (auto op = value.getDefiningOp<arith::ConstantIndexOp>();
      op && !ir::isSymbolic(op.value()))
    return op.value();
  return std::nullopt;
}

Value FunctionBuilder::constant(TypedAttr value) {
  Value &known = constants[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.front());
    known = arith::ConstantOp::create(b, loc, value);
  }
  return known;
}

Value FunctionBuilder::index(int64_t value) {
  return constant(b.getIndexAttr(value));
}

Value FunctionBuilder::splat(VectorType type, double value) {
  Type element = type.getElementType();
  TypedAttr scalar = isa<FloatType>(element)
                         ? TypedAttr(b.getFloatAttr(element, value))
                         : TypedAttr(b.getIntegerAttr(element, int64_t(value)));
  return constant(DenseElementsAttr::get(type, Attribute(scalar)));
}

Value FunctionBuilder::mask(int64_t count, int64_t lanes) {
  SmallVector<bool> bits(lanes, false);
  std::fill_n(bits.begin(), count, true);
  return constant(
      DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), bits));
}

Value FunctionBuilder::scratch(int64_t elements, Type element) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.front());
  return memref::AllocaOp::create(b, loc, MemRefType::get({elements}, element),
                                  b.getI64IntegerAttr(64));
}

Value FunctionBuilder::add(Value x, Value y) {
  if (auto constant = constantOf(x))
    return add(y, *constant);
  if (auto constant = constantOf(y))
    return add(x, *constant);
  return arith::AddIOp::create(b, loc, x, y);
}

Value FunctionBuilder::add(Value x, int64_t y) {
  if (auto constant = constantOf(x))
    return index(*constant + y);
  return y == 0 ? x : Value(arith::AddIOp::create(b, loc, x, index(y)));
}

Value FunctionBuilder::sub(Value x, Value y) {
  auto p = constantOf(x), q = constantOf(y);
  if (p && q)
    return index(*p - *q);
  if (q == 0)
    return x;
  return arith::SubIOp::create(b, loc, x, y);
}

Value FunctionBuilder::mul(Value x, int64_t y) {
  if (auto constant = constantOf(x))
    return index(*constant * y);
  if (y == 0 || y == 1)
    return y ? x : index(0);
  return arith::MulIOp::create(b, loc, x, index(y));
}

Value FunctionBuilder::div(Value x, int64_t y) {
  if (auto constant = constantOf(x))
    return index(*constant / y);
  return y == 1 ? x : Value(arith::DivUIOp::create(b, loc, x, index(y)));
}

Value FunctionBuilder::rem(Value x, int64_t y) {
  if (auto constant = constantOf(x))
    return index(*constant % y);
  return y == 1 ? index(0) : Value(arith::RemUIOp::create(b, loc, x, index(y)));
}

Value FunctionBuilder::min(Value x, Value y) {
  auto p = constantOf(x), q = constantOf(y);
  if (p && q)
    return index(std::min(*p, *q));
  return arith::MinUIOp::create(b, loc, x, y);
}

Value FunctionBuilder::max(Value x, Value y) {
  auto p = constantOf(x), q = constantOf(y);
  if (p && q)
    return index(std::max(*p, *q));
  return arith::MaxUIOp::create(b, loc, x, y);
}

Value FunctionBuilder::equal(Value x, int64_t y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, index(y));
}

void FunctionBuilder::loop(Value begin, Value end, int64_t step,
                           llvm::function_ref<void(Value)> body) {
  auto p = constantOf(begin), q = constantOf(end);
  if (p && q && *p >= *q)
    return;
  if (p && q && *p + step >= *q)
    return body(begin);
  auto loop = scf::ForOp::create(b, loc, begin, end, index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Values
FunctionBuilder::loop(Value begin, Value end, int64_t step, ValueRange init,
                      llvm::function_ref<Values(Value, ValueRange)> body) {
  auto p = constantOf(begin), q = constantOf(end);
  if (p && q && *p >= *q)
    return Values(init);
  auto loop = scf::ForOp::create(b, loc, begin, end, index(step), init);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Values results = body(loop.getInductionVar(), loop.getRegionIterArgs());
    scf::YieldOp::create(b, loc, results);
  }
  return Values(loop.getResults());
}

void FunctionBuilder::when(Value condition, llvm::function_ref<void()> then) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  then();
}

Values FunctionBuilder::choose(Value condition,
                               llvm::function_ref<Values()> then,
                               llvm::function_ref<Values()> otherwise) {
  auto side = [this](llvm::function_ref<Values()> build) {
    return [this, build](OpBuilder &inner, Location) {
      OpBuilder::InsertionGuard guard(b);
      b.restoreInsertionPoint(inner.saveInsertionPoint());
      scf::YieldOp::create(b, loc, build());
    };
  };
  auto op = scf::IfOp::create(b, loc, condition, side(then), side(otherwise));
  return Values(op.getResults());
}

Value FunctionBuilder::load(VectorType type, Value flat, Value at) {
  return vector::LoadOp::create(b, loc, type, flat, at);
}

void FunctionBuilder::store(Value vector, Value flat, Value at) {
  vector::StoreOp::create(b, loc, vector, flat, at);
}

Value FunctionBuilder::broadcast(VectorType type, Value flat, Value at) {
  Value scalar = memref::LoadOp::create(b, loc, flat, at);
  return vector::BroadcastOp::create(b, loc, type, scalar);
}

Value FunctionBuilder::shuffle(Value x, Value y, ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(b, loc, x, y, lanes);
}

void FunctionBuilder::prefetch(Value flat, Value at, bool isWrite,
                               int locality) {
  memref::PrefetchOp::create(b, loc, flat, ValueRange(at), isWrite, locality,
                             /*isDataCache=*/true);
}

Values
FunctionBuilder::transposed(VectorType type,
                            llvm::function_ref<Value(int64_t, int64_t)> row) {
  int64_t lanes = type.getNumElements(), quad = squareColumns(type);
  // Vector i holds the pieces of rows i, i + quad, ...: those 128 bits apart.
  Values squares;
  for (int64_t i = 0; i < quad; ++i) {
    Values pieces;
    for (int64_t r = i; r < lanes; r += quad)
      pieces.push_back(row(r, quad));
    squares.push_back(concatenated(pieces));
  }
  // Each 128-bit square is transposed by shuffles that stay within it.
  if (quad == 2)
    return {interleaved(squares[0], squares[1], 0, 1, 2),
            interleaved(squares[0], squares[1], 1, 1, 2)};
  if (quad == 1)
    return squares;
  Value low01 = interleaved(squares[0], squares[1], 0, 1, 4);
  Value high01 = interleaved(squares[0], squares[1], 2, 1, 4);
  Value low23 = interleaved(squares[2], squares[3], 0, 1, 4);
  Value high23 = interleaved(squares[2], squares[3], 2, 1, 4);
  return {interleaved(low01, low23, 0, 2, 4),
          interleaved(low01, low23, 2, 2, 4),
          interleaved(high01, high23, 0, 2, 4),
          interleaved(high01, high23, 2, 2, 4)};
}

int64_t FunctionBuilder::squareColumns(VectorType type) {
  int64_t within = 128 / type.getElementTypeBitWidth();
  return std::min<int64_t>(type.getNumElements(), std::min<int64_t>(within, 4));
}

Value FunctionBuilder::concatenated(Values parts) {
  while (parts.size() > 1) {
    Values halves;
    for (size_t i = 0; i < parts.size(); i += 2) {
      int64_t lanes = cast<VectorType>(parts[i].getType()).getNumElements();
      halves.push_back(shuffle(parts[i], parts[i + 1],
                               llvm::to_vector(llvm::seq<int64_t>(2 * lanes))));
    }
    parts = halves;
  }
  return parts.front();
}

Value FunctionBuilder::interleaved(Value x, Value y, int64_t from, int64_t unit,
                                   int64_t quad) {
  int64_t lanes = cast<VectorType>(x.getType()).getNumElements();
  SmallVector<int64_t> picks;
  for (int64_t first = 0; first < lanes; first += quad)
    for (int64_t l = 0; l < quad; ++l) {
      int64_t within = from + l / (2 * unit) * unit + l % unit;
      picks.push_back(first + within + (l / unit % 2 ? lanes : 0));
    }
  return shuffle(x, y, picks);
}

Value FunctionBuilder::multiplyAdd(Value x, Value y, Value z, bool fma) {
  if (!isa<FloatType>(getElementTypeOrSelf(x)))
    return arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, x, y),
                                 z);
  if (fma)
    return vector::FMAOp::create(b, loc, x, y, z);
  return arith::AddFOp::create(b, loc, arith::MulFOp::create(b, loc, x, y), z);
}

Value FunctionBuilder::addVectors(Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x)))
    return arith::AddFOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, x, y);
}

void FunctionBuilder::call(func::FuncOp callee, ValueRange operands) {
  func::CallOp::create(b, loc, callee, operands);
}

void FunctionBuilder::finish() { func::ReturnOp::create(b, loc); }

} // namespace tessera::lowering::cpu
