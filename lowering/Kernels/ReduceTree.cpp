// Combines terms, and keeps them in memory.
#include "lowering/Kernels/ReduceTree.h"
#include "dialects/Tessera/IR/ScalarBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

static Type carriedType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  return element;
}

static Type lanesOf(Type element, int64_t lanes) {
  return lanes > 1 ? Type(VectorType::get({lanes}, element)) : element;
}

static int64_t lanesOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type ? type.getNumElements() : 1;
}

//===- Reducer -----------------------------------------------------------===//

Reducer::Reducer(ReduceOp op, int64_t size)
    : op(op), kind(op.getReduction()), loc(op.getLoc()) {
  resultElement = tensorType(op.getY()).getElementType();
  element = carriedType(tensorType(op.getX()).getElementType());
  if (hasPositions())
    positions = IntegerType::get(op.getContext(), size <= INT32_MAX ? 32 : 64);
}

bool Reducer::isOrdered() const {
  return isa<FloatType>(element) &&
         (kind == Reduction::sum || kind == Reduction::prod);
}

bool Reducer::isRealExtremum() const {
  return isa<FloatType>(element) &&
         (kind == Reduction::max || kind == Reduction::min);
}

int64_t Reducer::bytes() const {
  return element.getIntOrFloatBitWidth() / 8 +
         (positions ? positions.getIntOrFloatBitWidth() / 8 : 0);
}

Term Reducer::load(OpBuilder &b, Value operand, LaneIndex position) const {
  Term term{ScalarBuilder(b, loc).convert(operand, element), {}};
  if (hasPositions())
    term.position = materialize(b, loc, position, lanesOf(operand), positions);
  return term;
}

Value Reducer::result(OpBuilder &b, Term term) const {
  Type type = resultElement;
  if (hasPositions())
    return arith::ExtSIOp::create(b, loc, lanesOf(type, lanesOf(term.position)),
                                  term.position);
  // A bool is the low bit of its byte, whatever was added up above it.
  if (type.isInteger(1))
    return arith::TruncIOp::create(b, loc, lanesOf(type, lanesOf(term.value)),
                                   term.value);
  return ScalarBuilder(b, loc).convert(term.value, type);
}

Value Reducer::resultOfNothing(OpBuilder &b) const {
  Type type = resultElement;
  return ScalarBuilder(b, loc).constant(type, kind == Reduction::prod ? 1 : 0);
}

Term Reducer::identity(OpBuilder &b, int64_t lanes) const {
  ScalarBuilder s(b, loc);
  Type type = lanesOf(element, lanes);
  // A byte that stands for a bool has the bool's bounds; but any neutral value
  // will do.
  Term term{s.identity(kind, type), {}};
  // Where no element beats the identity, all are equal to it and the first is
  // the answer.
  if (hasPositions())
    term.position = s.constant(lanesOf(positions, lanes), 0);
  return term;
}

/// Whether y comes before x in the order that argmax looks for, without regard
/// to positions: NaN, then by value.
static Value beats(OpBuilder &b, Location loc, Value y, Value x) {
  if (!isa<FloatType>(getElementTypeOrSelf(x)))
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, y, x);
  Value above = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UGT, y, x);
  Value number = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, x, x);
  return arith::AndIOp::create(b, loc, above, number);
}

static Term choose(OpBuilder &b, Location loc, Value condition, Term yes,
                   Term no) {
  return {
      arith::SelectOp::create(b, loc, condition, yes.value, no.value),
      arith::SelectOp::create(b, loc, condition, yes.position, no.position)};
}

Term Reducer::combine(OpBuilder &b, Term earlier, Term later) const {
  if (hasPositions())
    return choose(b, loc, beats(b, loc, later.value, earlier.value), later,
                  earlier);
  return {ScalarBuilder(b, loc).combine(kind, earlier.value, later.value), {}};
}

Term Reducer::fold(OpBuilder &b, Term x, Term y) const {
  if (!hasPositions())
    return combine(b, x, y);
  Value better = beats(b, loc, y.value, x.value),
        worse = beats(b, loc, x.value, y.value);
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                      y.position, x.position);
  // y if it is better, or if it is no worse and comes first.
  Value ones = ScalarBuilder(b, loc).constant(worse.getType(), 1);
  Value noWorse = arith::XOrIOp::create(b, loc, worse, ones);
  Value tie = arith::AndIOp::create(b, loc, noWorse, first);
  return choose(b, loc, arith::OrIOp::create(b, loc, better, tie), y, x);
}

Term Reducer::foldLanes(OpBuilder &b, SmallVector<Term> lanes) const {
  for (size_t half = kTreeLanes / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half && lane + half < lanes.size(); ++lane)
      lanes[lane] = fold(b, lanes[lane], lanes[lane + half]);
    if (lanes.size() > half)
      lanes.resize(half);
  }
  return lanes[0];
}

//===- Control flow ------------------------------------------------------===//

SmallVector<Value>
buildLoop(OpBuilder &b, Location loc, Value low, Value high, int64_t step,
          ValueRange carried,
          llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  Value by = arith::ConstantIndexOp::create(b, loc, step);
  auto loop = scf::ForOp::create(b, loc, low, high, by, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults());
}

void buildLoop(OpBuilder &b, Location loc, Value low, Value high, int64_t step,
               llvm::function_ref<void(Value)> body) {
  buildLoop(b, loc, low, high, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

void buildIf(OpBuilder &b, Location loc, Value condition,
             llvm::function_ref<void()> yes, llvm::function_ref<void()> no) {
  auto branch =
      scf::IfOp::create(b, loc, condition, /*withElseRegion=*/bool(no));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  yes();
  if (!no)
    return;
  b.setInsertionPointToStart(branch.elseBlock());
  no();
}

//===- Memory ------------------------------------------------------------===//

Term TermBuffer::load(OpBuilder &b, Location loc, Value at,
                      int64_t lanes) const {
  auto read = [&](Value buffer) -> Value {
    if (!buffer)
      return {};
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    if (lanes == 1)
      return memref::LoadOp::create(b, loc, buffer, at);
    return vector::LoadOp::create(b, loc, VectorType::get({lanes}, element),
                                  buffer, at);
  };
  return {read(values), read(positions)};
}

void TermBuffer::store(OpBuilder &b, Location loc, Term term, Value at) const {
  auto write = [&](Value value, Value buffer) {
    if (isa<VectorType>(value.getType()))
      vector::StoreOp::create(b, loc, value, buffer, at);
    else
      memref::StoreOp::create(b, loc, value, buffer, at);
  };
  write(term.value, values);
  if (positions)
    write(term.position, positions);
}

TermBuffer layOut(const Reducer &reducer,
                  llvm::function_ref<Value(int64_t, Type)> part) {
  if (!reducer.hasPositions())
    return {part(0, reducer.accumulator()), {}};
  // The wider elements come first, so that all are aligned.
  int64_t value = reducer.accumulator().getIntOrFloatBitWidth() / 8,
          position = reducer.positionType().getIntOrFloatBitWidth() / 8;
  bool valuesFirst = value >= position;
  return {part(valuesFirst ? 0 : position, reducer.accumulator()),
          part(valuesFirst ? value : 0, reducer.positionType())};
}

Value stackBuffer(OpBuilder &b, Location loc, Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  Operation *parent = b.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<FunctionOpInterface>(parent);
  if (!function)
    function = parent->getParentOfType<FunctionOpInterface>();
  b.setInsertionPointToStart(&function.getFunctionBody().front());
  auto type = MemRefType::get({count}, element);
  return memref::AllocaOp::create(b, loc, type, ValueRange(),
                                  b.getI64IntegerAttr(64));
}

TermBuffer stackTerms(OpBuilder &b, const Reducer &reducer, int64_t count) {
  Location loc = reducer.getOp()->getLoc();
  TermBuffer buffer{stackBuffer(b, loc, reducer.accumulator(), count), {}};
  if (reducer.hasPositions())
    buffer.positions = stackBuffer(b, loc, reducer.positionType(), count);
  return buffer;
}

Value workspacePart(OpBuilder &b, Location loc, Value workspace,
                    Value byteOffset, Type element, int64_t count) {
  return memref::ViewOp::create(b, loc, MemRefType::get({count}, element),
                                workspace, byteOffset, ValueRange());
}

} // namespace tessera::lowering
