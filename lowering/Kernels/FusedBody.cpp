// Pulls the ops of a kernel region into the code of an emitter, element by
// element or vector by vector.
#include "lowering/Kernels/FusedBody.h"
#include "dialects/Tessera/IR/NarrowFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

Type storageType(Type element) {
  return element.isInteger(1) ? Type(IntegerType::get(element.getContext(), 8))
                              : registerType(element);
}

static Type withElement(Type like, Type element) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? Type(vector.clone(element)) : element;
}

Value toStorage(OpBuilder &b, Location loc, Value value) {
  Type element = getElementTypeOrSelf(value), stored = storageType(element);
  if (element == stored)
    return value;
  return arith::ExtUIOp::create(b, loc, withElement(value.getType(), stored),
                                value);
}

Value fromStorage(OpBuilder &b, Location loc, Value value, Type element) {
  if (getElementTypeOrSelf(value) == registerType(element))
    return value;
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
}

/// One scalar load a lane; a lane that does not exist reads the first one's
/// element again.
static Value gatherLanes(OpBuilder &b, Location loc, Value buffer,
                         LaneIndex position, VectorType type, Value mask) {
  LaneMath lane(b, loc);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Value index = lane.addConstant(position, i * position.step).base;
    if (mask) {
      Value exists =
          vector::ExtractOp::create(b, loc, mask, ArrayRef<int64_t>{i});
      index = arith::SelectOp::create(b, loc, exists, index, position.base);
    }
    elements.push_back(memref::LoadOp::create(b, loc, buffer, index));
  }
  return vector::FromElementsOp::create(b, loc, type, elements);
}

/// That of a whole vector, if it has one.
static llvm::MaybeAlign alignmentOf(VectorType type) {
  int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  return llvm::isPowerOf2_64(uint64_t(bytes)) ? llvm::MaybeAlign(bytes)
                                              : llvm::MaybeAlign();
}

Value loadLanes(OpBuilder &b, Location loc, Value buffer, LaneIndex position,
                int64_t lanes, Type element, Value mask, bool isAligned) {
  if (lanes == 1 || position.step == 0) {
    Value scalar = fromStorage(
        b, loc, memref::LoadOp::create(b, loc, buffer, position.base), element);
    return lanes == 1
               ? scalar
               : vector::BroadcastOp::create(
                     b, loc, VectorType::get({lanes}, registerType(element)),
                     scalar);
  }
  auto type = VectorType::get({lanes}, storageType(element));
  bool hasMaskedLoad = type.getElementTypeBitWidth() >= 32;
  Value loaded;
  if (position.step == 1 && mask && hasMaskedLoad) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    loaded = vector::MaskedLoadOp::create(b, loc, type, buffer, position.base,
                                          mask, zero);
  } else if (position.step == 1 && !mask) {
    llvm::MaybeAlign alignment;
    if (isAligned && position.divisor % lanes == 0)
      alignment = alignmentOf(type);
    loaded = vector::LoadOp::create(b, loc, type, buffer, position.base,
                                    /*nontemporal=*/false, alignment);
  } else if (position.step == -1 && !mask) {
    Value first = LaneMath(b, loc).addConstant(position, 1 - lanes).base;
    Value forward = vector::LoadOp::create(b, loc, type, buffer, first);
    auto order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, lanes)));
    loaded = vector::ShuffleOp::create(b, loc, forward, forward, order);
  } else {
    loaded = gatherLanes(b, loc, buffer, position, type, mask);
  }
  return fromStorage(b, loc, loaded, element);
}

void storeLanes(OpBuilder &b, Location loc, Value value, Value buffer,
                Value position, bool nonTemporal, Value mask, bool isAligned) {
  Value stored = toStorage(b, loc, value);
  auto type = dyn_cast<VectorType>(stored.getType());
  if (!type) {
    memref::StoreOp::create(b, loc, stored, buffer, position);
    return;
  }
  if (mask) {
    vector::MaskedStoreOp::create(b, loc, buffer, position, mask, stored);
    return;
  }
  llvm::MaybeAlign alignment;
  if (nonTemporal || isAligned)
    alignment = alignmentOf(type);
  vector::StoreOp::create(b, loc, stored, buffer, position, nonTemporal,
                          alignment);
}

//===-- FusedBody --===//

void FusedBody::supplyScalar(Value value, Value scalar) {
  supply(value,
         [scalar](OpBuilder &b, Location loc, ArrayRef<LaneIndex>,
                  int64_t lanes) -> Value {
           if (lanes == 1)
             return scalar;
           return vector::BroadcastOp::create(
               b, loc, VectorType::get({lanes}, scalar.getType()), scalar);
         });
}

unsigned FusedBody::Frame::OpInfo::getHashValue(const Operation *op) {
  return OperationEquivalence::computeHash(
      const_cast<Operation *>(op), OperationEquivalence::directHashValue,
      OperationEquivalence::ignoreHashValue,
      OperationEquivalence::IgnoreLocations);
}

bool FusedBody::Frame::OpInfo::isEqual(const Operation *a, const Operation *b) {
  if (a == b)
    return true;
  if (a == getEmptyKey() || a == getTombstoneKey() || b == getEmptyKey() ||
      b == getTombstoneKey())
    return false;
  return OperationEquivalence::isEquivalentTo(
      const_cast<Operation *>(a), const_cast<Operation *>(b),
      OperationEquivalence::exactValueMatch, nullptr,
      OperationEquivalence::IgnoreLocations);
}

/// Index arithmetic that was built before gives the same value again: without
/// this, views that meet would compute what is behind them once for each path.
/// Of equal ops the first in the block stands for all, since an op that is
/// older than the frame may be met late.
Value FusedBody::Frame::unique(Value base) {
  Operation *op = base.getDefiningOp();
  if (!op || op->getBlock() != builder.getInsertionBlock() ||
      !isa<arith::ArithDialect>(op->getDialect()))
    return base;
  // An op in the set must not change, or it is not found again.
  if (auto it = indexOps.find(op); it != indexOps.end() && *it == op)
    return base;
  for (OpOperand &operand : op->getOpOperands())
    if (Value known = unique(operand.get()); known != operand.get())
      operand.set(known);
  auto [it, isNew] = indexOps.insert(op);
  if (isNew || *it == op)
    return base;
  // The one kept must stand before every user; its operands, which are this
  // op's, do.
  if (op->isBeforeInBlock(*it))
    (*it)->moveBefore(op);
  return (*it)->getResult(0);
}

Value FusedBody::Frame::at(Value value, ArrayRef<LaneIndex> index,
                           int64_t lanes) {
  SmallVector<LaneIndex> where;
  std::vector<const void *> key{value.getAsOpaquePointer(),
                                reinterpret_cast<const void *>(lanes)};
  for (LaneIndex at : index) {
    if (lanes == 1)
      at.step = 0;
    at.base = unique(at.base);
    where.push_back(at);
    key.push_back(at.base.getAsOpaquePointer());
    key.push_back(reinterpret_cast<const void *>(at.step));
  }
  if (auto it = memo.find(key); it != memo.end())
    return it->second;
  Value result;
  if (auto it = body.supplies.find(value); it != body.supplies.end())
    result = it->second(builder, value.getLoc(), where, lanes);
  else if (auto argument = dyn_cast<BlockArgument>(value))
    result = loadInput(argument, where, lanes);
  else
    result = compute(value.getDefiningOp(), where, lanes);
  memo[key] = result;
  return result;
}

Value FusedBody::Frame::loadInput(BlockArgument argument,
                                  ArrayRef<LaneIndex> index, int64_t lanes) {
  auto type = tensorType(argument);
  LaneMath lane(builder, argument.getLoc());
  LaneIndex position = lane.linearize(index, type.getShape());
  position.base = unique(position.base);
  return loadLanes(builder, argument.getLoc(),
                   body.inputs[argument.getArgNumber()], position, lanes,
                   type.getElementType(), mask, body.isAligned);
}

Value FusedBody::Frame::compute(Operation *op, ArrayRef<LaneIndex> index,
                                int64_t lanes) {
  if (auto scalar = dyn_cast<ScalarOpInterface>(op)) {
    SmallVector<Value> args;
    for (Value operand : op->getOperands())
      args.push_back(at(operand, index, lanes));
    return scalar.buildScalar(builder, op->getLoc(), args);
  }
  auto indexing = cast<IndexingOpInterface>(op);
  auto read = [&](unsigned operand, ArrayRef<LaneIndex> where) {
    return at(op->getOperand(operand), where, lanes);
  };
  FailureOr<Value> result =
      indexing.buildAt(builder, op->getLoc(), index, lanes, read);
  return succeeded(result) ? *result
                           : laneByLane(op->getResult(0), index, lanes);
}

Value FusedBody::Frame::laneByLane(Value value, ArrayRef<LaneIndex> index,
                                   int64_t lanes) {
  Location loc = value.getLoc();
  LaneMath lane(builder, loc);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < lanes; ++i) {
    SmallVector<LaneIndex> where;
    for (LaneIndex at : index) {
      LaneIndex moved = lane.addConstant(at, i * at.step);
      if (mask && at.step != 0) { // A lane that does not exist computes the
                                  // first one's element again.
        Value exists =
            vector::ExtractOp::create(builder, loc, mask, ArrayRef<int64_t>{i});
        moved = {
            arith::SelectOp::create(builder, loc, exists, moved.base, at.base),
            0, 1};
      }
      where.push_back({moved.base, 0, moved.divisor});
    }
    elements.push_back(at(value, where, 1));
  }
  auto type = VectorType::get({lanes},
                              registerType(tensorType(value).getElementType()));
  return vector::FromElementsOp::create(builder, loc, type, elements);
}

} // namespace tessera::lowering
