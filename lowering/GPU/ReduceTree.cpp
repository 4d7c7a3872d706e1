// Builds a thread's part of a chunk, and the exchange between threads.
#include "lowering/GPU/ReduceTree.h"
#include "dialects/Tessera/IR/StandIns.h"
#include "lowering/GPU/BlockLaunch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::simt {

Value Sequence::lengthOf(OpBuilder &b) const {
  return length ? length : arith::ConstantIndexOp::create(b, loc, count);
}

//===- Elements ----------------------------------------------------------===//

namespace {

/// Terms as one list of values, for a loop to carry.
SmallVector<Value> flatten(ArrayRef<Term> terms) {
  SmallVector<Value> values;
  for (const Term &term : terms) {
    values.push_back(term.value);
    if (term.position)
      values.push_back(term.position);
  }
  return values;
}

SmallVector<Term> unflatten(ArrayRef<Reducer> reducers, ValueRange values) {
  SmallVector<Term> terms;
  for (const Reducer &reducer : reducers) {
    Term term{values.front(), {}};
    values = values.drop_front();
    if (reducer.hasPositions()) {
      term.position = values.front();
      values = values.drop_front();
    }
    terms.push_back(term);
  }
  return terms;
}

Term laneOf(OpBuilder &b, Location loc, Term term, int64_t lane) {
  auto extract = [&](Value value) -> Value {
    return value ? vector::ExtractOp::create(b, loc, value, lane) : Value();
  };
  return {extract(term.value), extract(term.position)};
}

/// The four elements of a group, of each reducer in turn, from the one at
/// `first` on, which is there. Those behind the end are neutral.
SmallVector<SmallVector<Term>> groupAt(OpBuilder &b, const Sequence &elements,
                                       LaneIndex first) {
  Location loc = elements.loc;
  LaneMath lane(b, loc);
  SmallVector<SmallVector<Term>> groups(elements.reducers.size());
  if (elements.hasVectors) {
    SmallVector<Term> vectors = elements.at(b, first, kTreeGroup);
    for (auto [group, vector] : llvm::zip(groups, vectors))
      for (int64_t i = 0; i < kTreeGroup; ++i)
        group.push_back(laneOf(b, loc, vector, i));
    return groups;
  }
  bool isWhole = !elements.length && elements.count % kTreeGroup == 0;
  Value length = elements.lengthOf(b);
  Value last = arith::SubIOp::create(b, loc, length, lane.number(1));
  for (int64_t i = 0; i < kTreeGroup; ++i) {
    LaneIndex at = lane.addConstant(first, i);
    at.step = 0;
    Value isThere;
    if (!isWhole && i > 0) {
      isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                      at.base, length);
      at = {arith::MinSIOp::create(b, loc, at.base, last), 0, 1};
    }
    SmallVector<Term> terms = elements.at(b, at, 1);
    for (auto [reducer, group, term] :
         llvm::zip(elements.reducers, groups, terms)) {
      if (isThere) {
        Term neutral = reducer.identity(b, 1);
        term.value =
            arith::SelectOp::create(b, loc, isThere, term.value, neutral.value);
        if (term.position)
          term.position = arith::SelectOp::create(
              b, loc, isThere, term.position, neutral.position);
      }
      group.push_back(term);
    }
  }
  return groups;
}

/// The turns in which this thread has elements.
Value turnsOf(OpBuilder &b, const Sequence &elements, Value begin,
              Value treeLane) {
  Location loc = elements.loc;
  LaneMath lane(b, loc);
  if (!elements.length && elements.count % kTreeChunk == 0) {
    // A whole chunk, or one behind the end.
    Value isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                          begin, lane.number(elements.count));
    return arith::SelectOp::create(
        b, loc, isThere, lane.number(kTreeChunk / kTurn), lane.number(0));
  }
  // ceil((count - begin - 4 lane) / 64), between 0 and 16.
  Value first = lane.mulConstant({treeLane, 0, 1}, kTreeGroup).base;
  Value left = arith::SubIOp::create(b, loc, elements.lengthOf(b), begin);
  left = arith::SubIOp::create(b, loc, left, first);
  left = arith::AddIOp::create(b, loc, left, lane.number(kTurn - 1));
  left = arith::MaxSIOp::create(b, loc, left, lane.number(0));
  left =
      arith::MinSIOp::create(b, loc, left, lane.number(kTreeChunk + kTurn - 1));
  return lane.divide(left, kTurn);
}

LaneIndex firstOfTurn(OpBuilder &b, const Sequence &elements, Value begin,
                      Value treeLane, Value turn) {
  LaneMath lane(b, elements.loc);
  // Chunks start at multiples of their size.
  LaneIndex first =
      lane.add({begin, 0, kTreeChunk}, lane.mulConstant({turn, 0, 1}, kTurn));
  return lane.add(first, lane.mulConstant({treeLane, 0, 1}, kTreeGroup));
}

} // namespace

SmallVector<Term> combineLane(OpBuilder &b, const Sequence &elements,
                              Value begin, Value treeLane) {
  LaneMath lane(b, elements.loc);
  SmallVector<Term> start;
  for (const Reducer &reducer : elements.reducers)
    start.push_back(reducer.identity(b, 1));
  SmallVector<Value> results = buildLoop(
      b, elements.loc, lane.number(0), turnsOf(b, elements, begin, treeLane), 1,
      flatten(start), [&](Value turn, ValueRange carried) {
        SmallVector<Term> sums = unflatten(elements.reducers, carried);
        auto groups = groupAt(b, elements,
                              firstOfTurn(b, elements, begin, treeLane, turn));
        for (auto [reducer, sum, group] :
             llvm::zip(elements.reducers, sums, groups)) {
          Term low = reducer.combine(b, group[0], group[1]);
          Term high = reducer.combine(b, group[2], group[3]);
          sum = reducer.combine(b, sum, reducer.combine(b, low, high));
        }
        return flatten(sums);
      });
  return unflatten(elements.reducers, results);
}

void forElements(OpBuilder &b, const Sequence &elements, Value begin,
                 Value treeLane,
                 llvm::function_ref<void(LaneIndex, int64_t)> visit) {
  Location loc = elements.loc;
  LaneMath outside(b, loc);
  buildLoop(b, loc, outside.number(0), turnsOf(b, elements, begin, treeLane), 1,
            [&](Value turn) {
              LaneMath lane(b, loc);
              LaneIndex first = firstOfTurn(b, elements, begin, treeLane, turn);
              if (elements.hasVectors)
                return visit(first, kTreeGroup);
              Value end = lane.addConstant(first, kTreeGroup).base;
              end = arith::MinSIOp::create(b, loc, end, elements.lengthOf(b));
              buildLoop(b, loc, first.base, end, 1,
                        [&](Value at) { visit({at, 0, 1}, 1); });
            });
}

//===- Between threads ---------------------------------------------------===//

namespace {

/// The value of another thread of the warp, as words of 32 bits.
/// `segment` is how many neighbouring threads exchange among themselves.
Value shuffle(OpBuilder &b, Location loc, Value value, int32_t offset,
              NVVM::ShflKind kind, int32_t segment) {
  if (!value)
    return {};
  Type type = value.getType(), i32 = b.getI32Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type asInteger = b.getIntegerType(bits);
  auto number = [&](int32_t n) -> Value {
    return arith::ConstantIntOp::create(b, loc, i32, n);
  };
  auto exchange = [&](Value word) -> Value {
    // The last operand holds the segments' mask and the last lane (PTX ISA,
    // shfl.sync).
    return NVVM::ShflOp::create(
        b, loc, i32, number(-1), word, number(offset),
        number(int32_t(kWarp - segment) << 8 | int32_t(kWarp - 1)), kind,
        /*return_value_and_is_valid=*/UnitAttr());
  };
  Value word = value;
  if (!type.isInteger())
    word = arith::BitcastOp::create(b, loc, asInteger, value);
  if (bits < 32)
    word = arith::TruncIOp::create(
        b, loc, asInteger, exchange(arith::ExtUIOp::create(b, loc, i32, word)));
  else if (bits == 32)
    word = exchange(word);
  else {
    auto pair = VectorType::get({2}, i32);
    Value words = vector::BitCastOp::create(
        b, loc, pair,
        vector::BroadcastOp::create(b, loc, VectorType::get({1}, asInteger),
                                    word));
    Value low = exchange(vector::ExtractOp::create(b, loc, words, int64_t(0)));
    Value high = exchange(vector::ExtractOp::create(b, loc, words, int64_t(1)));
    Value both =
        vector::FromElementsOp::create(b, loc, pair, ValueRange{low, high});
    word = vector::ExtractOp::create(
        b, loc,
        vector::BitCastOp::create(b, loc, VectorType::get({1}, asInteger),
                                  both),
        int64_t(0));
  }
  return type.isInteger() ? word
                          : Value(arith::BitcastOp::create(b, loc, type, word));
}

} // namespace

Term foldThreads(OpBuilder &b, Location loc, const Reducer &reducer,
                 Term term) {
  for (int32_t half = kTreeLanes / 2; half > 0; half /= 2) {
    auto from = [&](Value value) {
      return shuffle(b, loc, value, half, NVVM::ShflKind::down, kWarp);
    };
    term = reducer.fold(b, term, {from(term.value), from(term.position)});
  }
  return term;
}

Term broadcastTerm(OpBuilder &b, Location loc, Term term) {
  // Each half of the warp is a segment of its own.
  auto first = [&](Value value) {
    return shuffle(b, loc, value, 0, NVVM::ShflKind::idx, kTreeLanes);
  };
  return {first(term.value), first(term.position)};
}

} // namespace tessera::lowering::simt
