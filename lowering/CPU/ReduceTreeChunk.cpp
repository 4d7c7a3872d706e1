// Combines neighbours along vectors by the fixed tree.
//
// The groups of four neighbours are added by two rounds of deinterleaving.
// Those shuffles are chosen so that each is one instruction; groups then stand
// in a register in some fixed order, which is put right once a chunk.
#include "lowering/CPU/ReduceTreeChunk.h"
#include "dialects/Tessera/IR/ScalarBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::cpu {

static Value shuffle(OpBuilder &b, Location loc, Value x, Value y,
                     ArrayRef<int64_t> mask) {
  return vector::ShuffleOp::create(b, loc, x, y, mask);
}

namespace {

/// A pair of shuffles of two registers: lane i of the one and of the other are
/// combined.
struct Deinterleave {
  SmallVector<int64_t> even, odd;
};

/// The candidates, the cheapest on x86 first: inside 128-bit parts, whole
/// 128-bit parts, then any.
SmallVector<Deinterleave> candidates(int64_t lanes, int64_t bits,
                                     ArrayRef<int64_t> tags) {
  SmallVector<Deinterleave> result;
  int64_t part = std::max<int64_t>(1, 128 / bits);
  auto push = [](Deinterleave &d, bool even, int64_t at) {
    (even ? d.even : d.odd).push_back(at);
  };
  if (lanes % part == 0 && part > 1) {
    Deinterleave inside, whole;
    for (int64_t first = 0; first < lanes; first += part)
      for (int64_t source : {int64_t(0), lanes})
        for (int64_t i = 0; i < part; ++i)
          push(inside, i % 2 == 0, source + first + i);
    for (int64_t source : {int64_t(0), lanes})
      for (int64_t first = 0; first < lanes; first += part)
        for (int64_t i = 0; i < part; ++i)
          push(whole, first / part % 2 == 0, source + first + i);
    result.push_back(inside);
    if (lanes / part >= 2)
      result.push_back(whole);
  }
  Deinterleave any;
  any.even.resize(lanes);
  any.odd.resize(lanes);
  for (auto [at, tag] : llvm::enumerate(tags))
    (tag % 2 == 0 ? any.even : any.odd)[tag / 2] = at;
  result.push_back(any);
  return result;
}

/// Vectors whose lane i holds element tags[i] of a level.
struct Tagged {
  Value value;
  SmallVector<int64_t> tags;
};

/// Combines elements 2k and 2k + 1 of two registers that hold 2 * lanes
/// elements.
Tagged combineNeighbours(OpBuilder &b, Location loc, const Reducer &reducer,
                         const Tagged &x, const Tagged &y) {
  SmallVector<int64_t> tags(x.tags);
  for (int64_t tag : y.tags)
    tags.push_back(tag + x.tags.size());
  int64_t lanes = x.tags.size();
  for (const Deinterleave &d :
       candidates(lanes, reducer.accumulator().getIntOrFloatBitWidth(), tags)) {
    bool fits =
        int64_t(d.even.size()) == lanes && int64_t(d.odd.size()) == lanes;
    for (int64_t i = 0; fits && i < lanes; ++i)
      fits = (tags[d.even[i]] ^ 1) == tags[d.odd[i]];
    if (!fits)
      continue;
    Value even = shuffle(b, loc, x.value, y.value, d.even),
          odd = shuffle(b, loc, x.value, y.value, d.odd);
    Tagged result{reducer.combine(b, {even, {}}, {odd, {}}).value, {}};
    for (int64_t at : d.even)
      result.tags.push_back(tags[at] / 2);
    return result;
  }
  llvm_unreachable("the last candidate fits");
}

} // namespace

/// The two halves of a vector of 2 * half elements, as scalars for one each.
static std::pair<Value, Value> halves(OpBuilder &b, Location loc, Value v,
                                      int64_t half) {
  auto part = [&](int64_t first) -> Value {
    if (half == 1)
      return vector::ExtractOp::create(b, loc, v, first);
    return shuffle(b, loc, v, v,
                   llvm::to_vector(llvm::seq(first, first + half)));
  };
  return {part(0), part(half)};
}

void ChunkState::start(OpBuilder &b, int64_t vectorsPerStep) {
  blocks = 0;
  int64_t count = std::min<int64_t>(4, vectorsPerStep);
  blocksPerStep = 1;
  if (reducer.isOrdered()) {
    assert(vectorsPerStep % kTreeGroup == 0 && kTreeLanes % lanes == 0);
    count = kTreeLanes / lanes;
    blocksPerStep = vectorsPerStep / kTreeGroup;
  }
  registers.assign(count, reducer.identity(b, lanes));
  order.clear();
  if (reducer.isRealExtremum())
    startExtremum(b);
}

/// The groups of four vectors, in the order that `order` then says.
Term ChunkState::addGroups(OpBuilder &b, ArrayRef<Term> vectors) {
  Location loc = vectors[0].value.getLoc();
  auto combine = [&](Value x, Value y) {
    return reducer.combine(b, {x, {}}, {y, {}}).value;
  };
  if (lanes == 1) {
    order = {0};
    return {combine(combine(vectors[0].value, vectors[1].value),
                    combine(vectors[2].value, vectors[3].value)),
            {}};
  }
  SmallVector<int64_t> natural = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
  auto pairs = [&](int i) {
    return combineNeighbours(b, loc, reducer, {vectors[i].value, natural},
                             {vectors[i + 1].value, natural});
  };
  Tagged low = pairs(0), high = pairs(2);
  Tagged groups = combineNeighbours(b, loc, reducer, low, high);
  order = groups.tags;
  return {groups.value, {}};
}

void ChunkState::step(OpBuilder &b, ArrayRef<Term> vectors) {
  if (reducer.isRealExtremum())
    return stepExtremum(b, vectors);
  if (!reducer.isOrdered()) {
    for (auto [i, vector] : llvm::enumerate(vectors)) {
      Term &into = registers[i % registers.size()];
      into = reducer.combine(b, into, vector);
    }
    return;
  }
  // The registers are a queue: block k goes to the register of lanes k mod
  // count.
  for (size_t i = 0; i < vectors.size(); i += kTreeGroup) {
    Term next = reducer.combine(b, registers.front(),
                                addGroups(b, vectors.slice(i, kTreeGroup)));
    registers.erase(registers.begin());
    registers.push_back(next);
    ++blocks;
  }
}

Term ChunkState::finish(OpBuilder &b) {
  if (reducer.isRealExtremum())
    return finishExtremum(b);
  if (reducer.isOrdered())
    std::rotate(registers.begin(),
                registers.end() - blocks % int64_t(registers.size()),
                registers.end());
  for (size_t half = registers.size() / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i)
      registers[i] = reducer.fold(b, registers[i], registers[i + half]);
    // An odd one out joins the first; that happens where order does not matter
    // only.
    if (registers.size() > 2 * half)
      registers[0] = reducer.fold(b, registers[0], registers.back());
    registers.resize(half);
  }
  return foldVector(b, registers[0]);
}

Term ChunkState::foldVector(OpBuilder &b, Term term) {
  Location loc = term.value.getLoc();
  if (lanes == 1)
    return term;
  auto each = [&](Term t, auto fn) {
    return Term{fn(t.value), t.position ? fn(t.position) : Value()};
  };
  if (reducer.isOrdered() && !llvm::is_sorted(order)) {
    SmallVector<int64_t> mask(lanes);
    for (auto [at, tag] : llvm::enumerate(order))
      mask[tag] = at;
    term = each(term, [&](Value v) { return shuffle(b, loc, v, v, mask); });
  }
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    Term low, high;
    std::tie(low.value, high.value) = halves(b, loc, term.value, half);
    if (term.position)
      std::tie(low.position, high.position) =
          halves(b, loc, term.position, half);
    term = reducer.fold(b, low, high);
  }
  return term;
}

//===- Extrema of floats -------------------------------------------------===//

namespace {

/// A maximum or minimum of floats in three parts, each one instruction a
/// vector or less, where arith.maximumf is five: the extremum where NaNs lose
/// and zeros are equal; the signs, since a maximum of zero is negative only if
/// all elements are; and whether there was a NaN.
struct ExtremumBuilder {
  OpBuilder &b;
  Location loc;
  bool isMax;
  ScalarBuilder s{b, loc};

  Value better(Value x, Value old) {
    auto predicate =
        isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
    Value wins = arith::CmpFOp::create(b, loc, predicate, x, old);
    return arith::SelectOp::create(b, loc, wins, x, old);
  }
  Value signs(Value x, Value old) {
    return isMax ? s.bitAnd(old, x) : s.bitOr(old, x);
  }
  Value bits(Value x) {
    Type element = getElementTypeOrSelf(x),
         type = b.getIntegerType(element.getIntOrFloatBitWidth());
    if (auto vector = dyn_cast<VectorType>(x.getType()))
      type = vector.clone(type);
    return arith::BitcastOp::create(b, loc, type, x);
  }
  Value isNaN(Value x, Value y) {
    Value found =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, y);
    return arith::ExtSIOp::create(b, loc, bits(x).getType(), found);
  }
};

} // namespace

void ChunkState::startExtremum(OpBuilder &b) {
  ExtremumBuilder x{b, reducer.getOp()->getLoc(), reducer.isMaximum()};
  Term value = reducer.identity(b, lanes);
  Type bits = x.bits(value.value).getType();
  Term signs{x.s.constant(bits, x.isMax ? -1 : 0), {}};
  Term nans{x.s.constant(bits, 0), {}};
  registers.clear();
  for (const Term &term : {value, signs, nans})
    registers.append(kExtrema, term);
}

void ChunkState::stepExtremum(OpBuilder &b, ArrayRef<Term> vectors) {
  ExtremumBuilder x{b, reducer.getOp()->getLoc(), reducer.isMaximum()};
  for (size_t i = 0; i < vectors.size(); ++i) {
    size_t at = i % kExtrema;
    Value v = vectors[i].value;
    Term *into = &registers[at];
    into[0].value = x.better(v, into[0].value);
    into[kExtrema].value = x.signs(x.bits(v), into[kExtrema].value);
    // One comparison looks at two vectors.
    bool isLast = i + 1 == vectors.size();
    if (i % 2 == 1 || isLast) {
      Term &nans = registers[2 * kExtrema + i / 2 % kExtrema];
      nans.value = x.s.bitOr(nans.value,
                             x.isNaN(i % 2 == 1 ? vectors[i - 1].value : v, v));
    }
  }
}

Term ChunkState::finishExtremum(OpBuilder &b) {
  Location loc = reducer.getOp()->getLoc();
  ExtremumBuilder x{b, loc, reducer.isMaximum()};
  using Fold = std::function<Value(Value, Value)>;
  Fold folds[] = {[&](Value y, Value z) { return x.better(z, y); },
                  [&](Value y, Value z) { return x.signs(z, y); },
                  [&](Value y, Value z) { return x.s.bitOr(y, z); }};
  Value parts[3];
  for (int part = 0; part < 3; ++part) {
    Value folded = registers[part * kExtrema].value;
    for (int64_t i = 1; i < kExtrema; ++i)
      folded = folds[part](folded, registers[part * kExtrema + i].value);
    for (int64_t half = lanes / 2; half > 0; half /= 2) {
      auto [low, high] = halves(b, loc, folded, half);
      folded = folds[part](low, high);
    }
    parts[part] = folded;
  }
  auto [value, signs, nans] = parts;
  Type bits = signs.getType();
  // Of a zero only the sign is still to be found.
  auto lowest = APInt::getSignMask(bits.getIntOrFloatBitWidth());
  Value signBit =
      arith::ConstantOp::create(b, loc, b.getIntegerAttr(bits, lowest));
  Value zero = arith::BitcastOp::create(b, loc, value.getType(),
                                        x.s.bitAnd(signs, signBit));
  Value isZero =
      x.s.compare(Comparison::eq, value, x.s.constant(value.getType(), 0));
  value = arith::SelectOp::create(b, loc, isZero, zero, value);
  Value isNaN = x.s.compare(Comparison::ne, nans, x.s.constant(bits, 0));
  Value nan = x.s.constant(value.getType(), NAN);
  return {arith::SelectOp::create(b, loc, isNaN, nan, value), {}};
}

SmallVector<Value> ChunkState::values() const {
  SmallVector<Value> result;
  for (const Term &term : registers) {
    result.push_back(term.value);
    if (term.position)
      result.push_back(term.position);
  }
  return result;
}

void ChunkState::setValues(ValueRange values) {
  auto next = values.begin();
  for (Term &term : registers) {
    term.value = *next++;
    if (term.position)
      term.position = *next++;
  }
}

} // namespace tessera::lowering::cpu
