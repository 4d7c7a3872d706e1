// Where each result element of an indexing op comes from.
#include "dialects/Tessera/IR/NarrowFloats.h"
#include "dialects/Tessera/IR/ScalarBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tessera::ir {

FailureOr<Value> BroadcastOp::buildAt(OpBuilder &b, Location loc,
                                      ArrayRef<LaneIndex> index, int64_t,
                                      ReadOperand read) {
  LaneMath lane(b, loc);
  auto from = tensorType(getX()), to = tensorType(getY());
  SmallVector<LaneIndex> source;
  for (auto [i, dim] : llvm::enumerate(getDims()))
    source.push_back(from.getDimSize(i) == to.getDimSize(dim)
                         ? index[dim]
                         : lane.constant(0));
  return read(0, source);
}

/// Pairs of dimension ranges [i0, i1) of `from` and [j0, j1) of `to` that hold
/// the same elements.
struct DimGroup {
  int64_t i0, i1, j0, j1;
};
static SmallVector<DimGroup> matchingGroups(ArrayRef<int64_t> from,
                                            ArrayRef<int64_t> to) {
  SmallVector<DimGroup> groups;
  int64_t i = 0, j = 0, n = from.size(), m = to.size();
  while (i < n || j < m) {
    DimGroup group{i, i, j, j};
    int64_t left = 1, right = 1;
    do {
      if (left <= right && i < n)
        left *= from[i++];
      else if (j < m)
        right *= to[j++];
      else
        left *= from[i++];
    } while (left != right && (i < n || j < m));
    group.i1 = i;
    group.j1 = j;
    groups.push_back(group);
  }
  return groups;
}

FailureOr<Value> ReshapeOp::buildAt(OpBuilder &b, Location loc,
                                    ArrayRef<LaneIndex> index, int64_t lanes,
                                    ReadOperand read) {
  LaneMath lane(b, loc);
  auto from = tensorType(getX()).getShape(), to = tensorType(getY()).getShape();
  SmallVector<LaneIndex> source;
  for (DimGroup group : matchingGroups(from, to)) {
    auto position = lane.linearize(index.slice(group.j0, group.j1 - group.j0),
                                   to.slice(group.j0, group.j1 - group.j0));
    auto part = lane.delinearize(
        position, from.slice(group.i0, group.i1 - group.i0), lanes);
    if (failed(part))
      return failure();
    source.append(*part);
  }
  return read(0, source);
}

FailureOr<Value> TransposeOp::buildAt(OpBuilder &, Location,
                                      ArrayRef<LaneIndex> index, int64_t,
                                      ReadOperand read) {
  SmallVector<LaneIndex> source(index.size());
  for (auto [i, dim] : llvm::enumerate(getPermutation()))
    source[dim] = index[i];
  return read(0, source);
}

FailureOr<Value> SliceOp::buildAt(OpBuilder &b, Location loc,
                                  ArrayRef<LaneIndex> index, int64_t,
                                  ReadOperand read) {
  LaneMath lane(b, loc);
  SmallVector<LaneIndex> source;
  for (auto [i, at] : llvm::enumerate(index))
    source.push_back(lane.addConstant(lane.mulConstant(at, getStrides()[i]),
                                      getStarts()[i]));
  return read(0, source);
}

FailureOr<Value> PadOp::buildAt(OpBuilder &b, Location loc,
                                ArrayRef<LaneIndex> index, int64_t lanes,
                                ReadOperand read) {
  LaneMath lane(b, loc);
  auto from = tensorType(getX());
  Value outside = read(1, {});
  if (from.getNumElements() == 0)
    return outside;
  SmallVector<LaneIndex> source;
  Value inside;
  auto require = [&](Value condition) {
    inside = inside ? Value(arith::AndIOp::create(b, loc, inside, condition))
                    : condition;
  };
  for (auto [i, at] : llvm::enumerate(index)) {
    int64_t low = getLow()[i], high = getHigh()[i],
            spread = getInterior()[i] + 1, size = from.getDimSize(i);
    if (low == 0 && high == 0 && (spread == 1 || size <= 1)) {
      source.push_back(at);
      continue;
    }
    if (lanes > 1 && at.step != 0)
      return failure();
    require(lane.inside(at.base, low, low + (size - 1) * spread + 1));
    Value position =
        lane.clamp(lane.addConstant(at, -low).base, (size - 1) * spread + 1);
    if (spread > 1)
      require(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                    lane.remainder(position, spread),
                                    lane.number(0)));
    source.push_back({lane.divide(position, spread), 0, 1});
  }
  Value value = read(0, source);
  return inside ? Value(arith::SelectOp::create(b, loc, inside, value, outside))
                : value;
}

FailureOr<Value> ConcatOp::buildAt(OpBuilder &b, Location loc,
                                   ArrayRef<LaneIndex> index, int64_t lanes,
                                   ReadOperand read) {
  LaneMath lane(b, loc);
  int64_t dim = getDim(), offset = 0;
  if (lanes > 1 && index[dim].step != 0)
    return failure();
  Value result;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    int64_t size = tensorType(input).getDimSize(dim);
    if (size == 0)
      continue;
    SmallVector<LaneIndex> source(index);
    Value position = lane.addConstant(index[dim], -offset).base;
    source[dim] = {lane.clamp(position, size), 0, 1};
    Value value = read(i, source);
    Value from = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                       index[dim].base, lane.number(offset));
    result = result
                 ? Value(arith::SelectOp::create(b, loc, from, value, result))
                 : value;
    offset += size;
  }
  return result;
}

/// The run-time start of a block along dimension i, moved so that the block
/// stays inside.
static Value blockStart(OpBuilder &b, Location loc, ReadOperand read,
                        unsigned operand, int64_t room) {
  LaneMath lane(b, loc);
  Value start = read(operand, {});
  if (auto vector = dyn_cast<VectorType>(start.getType()))
    start = vector::ExtractOp::create(b, loc, start, ArrayRef<int64_t>{0});
  start = arith::IndexCastOp::create(b, loc, b.getIndexType(), start);
  return lane.clamp(start, room + 1);
}

FailureOr<Value> DynamicSliceOp::buildAt(OpBuilder &b, Location loc,
                                         ArrayRef<LaneIndex> index, int64_t,
                                         ReadOperand read) {
  LaneMath lane(b, loc);
  auto whole = tensorType(getX()), block = tensorType(getY());
  SmallVector<LaneIndex> source;
  for (auto [i, at] : llvm::enumerate(index)) {
    Value start = blockStart(b, loc, read, 1 + i,
                             whole.getDimSize(i) - block.getDimSize(i));
    source.push_back(lane.add(at, {start, 0, 1}));
  }
  return read(0, source);
}

FailureOr<Value> DynamicUpdateSliceOp::buildAt(OpBuilder &b, Location loc,
                                               ArrayRef<LaneIndex> index,
                                               int64_t lanes,
                                               ReadOperand read) {
  LaneMath lane(b, loc);
  auto whole = tensorType(getX()), block = tensorType(getUpdate());
  Value old = read(0, index);
  if (block.getNumElements() == 0)
    return old;
  SmallVector<LaneIndex> source;
  Value inside;
  for (auto [i, at] : llvm::enumerate(index)) {
    if (block.getDimSize(i) == whole.getDimSize(i)) {
      source.push_back(at);
      continue;
    }
    if (lanes > 1 && at.step != 0)
      return failure();
    Value start = blockStart(b, loc, read, 2 + i,
                             whole.getDimSize(i) - block.getDimSize(i));
    Value position = arith::SubIOp::create(b, loc, at.base, start);
    Value here = lane.inside(position, 0, block.getDimSize(i));
    inside = inside ? Value(arith::AndIOp::create(b, loc, inside, here)) : here;
    source.push_back({lane.clamp(position, block.getDimSize(i)), 0, 1});
  }
  Value value = read(1, source);
  return inside ? Value(arith::SelectOp::create(b, loc, inside, value, old))
                : value;
}

FailureOr<Value> IdentityOp::buildAt(OpBuilder &, Location,
                                     ArrayRef<LaneIndex> index, int64_t,
                                     ReadOperand read) {
  return read(0, index);
}

FailureOr<Value> StopGradientOp::buildAt(OpBuilder &, Location,
                                         ArrayRef<LaneIndex> index, int64_t,
                                         ReadOperand read) {
  return read(0, index);
}

//===-- Generators --===//

FailureOr<Value> IotaOp::buildAt(OpBuilder &b, Location loc,
                                 ArrayRef<LaneIndex> index, int64_t lanes,
                                 ReadOperand) {
  return materialize(b, loc, index[getDim()], lanes,
                     tensorType(getY()).getElementType());
}

FailureOr<Value> ConstantOp::buildAt(OpBuilder &b, Location loc,
                                     ArrayRef<LaneIndex>, int64_t lanes,
                                     ReadOperand) {
  return registerConstant(b, loc, getValue(), lanes);
}

FailureOr<Value> ExtentOp::buildAt(OpBuilder &b, Location loc,
                                   ArrayRef<LaneIndex>, int64_t lanes,
                                   ReadOperand) {
  int64_t number = cast<RankedTensorType>(getOf()).getNumElements();
  return materialize(b, loc, LaneMath(b, loc).constant(number), lanes,
                     tensorType(getY()).getElementType());
}

namespace {
/// 32-bit words as i64 values (or vectors of them), for the Philox rounds.
struct Words {
  OpBuilder &b;
  Location loc;
  ScalarBuilder s{b, loc};
  Value number(Value like, int64_t n) {
    return s.constant(like.getType(), double(n));
  }
  Value low(Value x) { return s.bitAnd(x, number(x, 0xffffffff)); }
  Value high(Value x) {
    return arith::ShRUIOp::create(b, loc, x, number(x, 32));
  }
  Value times(Value x, int64_t n) { return s.mul(x, number(x, n)); }
};
} // namespace

FailureOr<Value> RandomBitsOp::buildAt(OpBuilder &b, Location loc,
                                       ArrayRef<LaneIndex> index, int64_t lanes,
                                       ReadOperand read) {
  LaneMath lane(b, loc);
  Words w{b, loc};
  LaneIndex position = lane.linearize(index, tensorType(getY()).getShape());
  Value at = materialize(b, loc, position, lanes, b.getI64Type());
  auto keyWord = [&](int64_t i) {
    Value word = read(0, {lane.constant(i)});
    return w.low(w.s.convert(word, b.getI64Type()));
  };
  Value k0 = keyWord(0), k1 = keyWord(1);
  Value counter = arith::ShRUIOp::create(b, loc, at, w.number(at, 2));
  Value c0 = w.low(counter), c1 = w.high(counter), c2 = w.number(at, 0),
        c3 = c2;
  for (int round = 0; round < 10; ++round) {
    if (round > 0) {
      k0 = w.low(w.s.add(k0, w.number(k0, 0x9E3779B9)));
      k1 = w.low(w.s.add(k1, w.number(k1, 0xBB67AE85)));
    }
    Value p0 = w.times(c0, 0xD2511F53), p1 = w.times(c2, 0xCD9E8D57);
    Value n0 = w.s.bitXor(w.s.bitXor(w.high(p1), c1), k0),
          n2 = w.s.bitXor(w.s.bitXor(w.high(p0), c3), k1);
    c0 = n0, c1 = w.low(p1), c2 = n2, c3 = w.low(p0);
  }
  Value which = w.s.bitAnd(at, w.number(at, 3));
  Value word = c0;
  Value others[] = {c1, c2, c3};
  for (int i = 0; i < 3; ++i)
    word = arith::SelectOp::create(
        b, loc, w.s.compare(Comparison::eq, which, w.number(at, i + 1)),
        others[i], word);
  return w.s.convert(word, b.getI32Type());
}

} // namespace tessera::ir
