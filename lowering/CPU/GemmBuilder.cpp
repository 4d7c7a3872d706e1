// The builder behind the Gemm emitter: functions, index arithmetic, loops and
// vector accesses.
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
  if (auto op = value.getDefiningOp<arith::ConstantIndexOp>())
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

void FunctionBuilder::prefetch(Value flat, Value at, bool isWrite) {
  memref::PrefetchOp::create(b, loc, flat, ValueRange(at), isWrite,
                             /*localityHint=*/isWrite ? 2 : 3,
                             /*isDataCache=*/true);
}

void FunctionBuilder::transpose(Values &vectors) {
  int64_t lanes = vectors.size();
  auto type = cast<VectorType>(vectors.front().getType());
  bool quads = lanes >= 4 && type.getElementTypeBitWidth() == 32;
  // Each stage exchanges the off-diagonal blocks of one size.
  for (int64_t size = lanes / 2; size >= (quads ? 4 : 1); size /= 2)
    for (int64_t low = 0; low < lanes; ++low) {
      if (low & size)
        continue;
      SmallVector<int64_t> lowPicks, highPicks;
      for (int64_t l = 0; l < lanes; ++l) {
        lowPicks.push_back(l & size ? lanes + l - size : l);
        highPicks.push_back(l & size ? lanes + l : l + size);
      }
      Value x = vectors[low], y = vectors[low + size];
      vectors[low] = shuffle(x, y, lowPicks);
      vectors[low + size] = shuffle(x, y, highPicks);
    }
  if (quads)
    for (int64_t first = 0; first < lanes; first += 4)
      transposeQuads(MutableArrayRef<Value>(vectors).slice(first, 4));
}

void FunctionBuilder::transposeQuads(MutableArrayRef<Value> rows) {
  // Interleaving by instructions that stay within 128 bits takes one shuffle
  // where the exchange of single lanes would take two.
  int64_t lanes = cast<VectorType>(rows[0].getType()).getNumElements();
  auto interleave = [&](Value x, Value y, int64_t from, int64_t unit) {
    SmallVector<int64_t> picks;
    for (int64_t quad = 0; quad < lanes; quad += 4)
      for (int64_t l = 0; l < 4; ++l) {
        int64_t within = from + l / (2 * unit) * unit + l % unit;
        picks.push_back(quad + within + (l / unit % 2 ? lanes : 0));
      }
    return shuffle(x, y, picks);
  };
  Value low01 = interleave(rows[0], rows[1], 0, 1);
  Value high01 = interleave(rows[0], rows[1], 2, 1);
  Value low23 = interleave(rows[2], rows[3], 0, 1);
  Value high23 = interleave(rows[2], rows[3], 2, 1);
  rows[0] = interleave(low01, low23, 0, 2);
  rows[1] = interleave(low01, low23, 2, 2);
  rows[2] = interleave(high01, high23, 0, 2);
  rows[3] = interleave(high01, high23, 2, 2);
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
