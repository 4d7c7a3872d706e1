// Loops over a sequence's vectors, its last few elements, and its chunks.
#include "lowering/CPU/ReduceTreeSequence.h"
#include "lowering/CPU/ReduceTreeChunk.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::cpu {

/// Up to this many vectors are written out instead of looped over.
static constexpr int64_t kStraightVectors = 8;

SmallVector<Term> Sequence::chunk(OpBuilder &b, LaneIndex begin, int64_t count,
                                  int64_t before) const {
  assert(partialCount(reducers, count, inChunks) == 0 && "more than one chunk");
  LaneMath lane(b, loc);
  if (prepare) {
    prepare(b, begin, count);
    if (reducers.empty())
      return {};
  }
  SmallVector<ChunkState> states;
  for (const Reducer &reducer : reducers)
    states.emplace_back(reducer, lanes).start(b, vectorsPerStep);
  int64_t perStep = lanes * vectorsPerStep, steps = count / perStep;
  auto step = [&](LaneIndex at) {
    SmallVector<Term> terms = visit(b, at, vectorsPerStep, lanes);
    for (auto [r, state] : llvm::enumerate(states))
      state.step(b, ArrayRef(terms).slice(r * vectorsPerStep, vectorsPerStep));
  };
  auto carried = [&] {
    SmallVector<Value> values;
    for (const ChunkState &state : states)
      llvm::append_range(values, state.values());
    return values;
  };
  auto setCarried = [&](ValueRange values) {
    for (ChunkState &state : states) {
      size_t size = state.values().size();
      state.setValues(values.take_front(size));
      values = values.drop_front(size);
    }
  };
  LaneIndex end = lane.addConstant(begin, steps * perStep);
  begin.step = 1;
  if (steps * vectorsPerStep <= kStraightVectors) {
    for (int64_t i = 0; i < steps; ++i)
      step(lane.addConstant(begin, i * perStep));
  } else {
    setCarried(buildLoop(b, loc, begin.base, end.base, perStep, carried(),
                         [&](Value at, ValueRange values) {
                           setCarried(values);
                           step({at, 1, std::gcd(begin.divisor, perStep)});
                           return carried();
                         }));
    for (ChunkState &state : states)
      state.skipSteps(steps - 1);
  }
  int64_t rest = count - steps * perStep;
  if (rest > 0) {
    end.step = 1;
    SmallVector<Term> terms = tail(b, end, rest, before + steps * perStep);
    for (auto [r, state] : llvm::enumerate(states)) {
      int64_t vectors = llvm::divideCeil(rest, lanes);
      SmallVector<Term> own(ArrayRef(terms).slice(r * vectors, vectors));
      while (reducers[r].isOrdered() && own.size() % kTreeGroup != 0)
        own.push_back(reducers[r].identity(b, lanes));
      state.step(b, own);
    }
  }
  SmallVector<Term> results;
  for (ChunkState &state : states)
    results.push_back(state.finish(b));
  return results;
}

/// Fewer elements than a step has: whole vectors, then one that is filled up
/// with the identity.
SmallVector<Term> Sequence::tail(OpBuilder &b, LaneIndex at, int64_t count,
                                 int64_t before) const {
  int64_t whole = count / lanes, rest = count % lanes,
          vectors = whole + (rest > 0);
  SmallVector<Term> terms(reducers.size() * vectors);
  if (whole > 0)
    for (auto [i, term] : llvm::enumerate(visit(b, at, whole, lanes)))
      terms[int64_t(i) / whole * vectors + int64_t(i) % whole] = term;
  if (rest > 0) {
    LaneIndex last = LaneMath(b, loc).addConstant(at, whole * lanes);
    for (auto [r, term] :
         llvm::enumerate(partialVector(b, last, rest, before + whole * lanes)))
      terms[r * vectors + whole] = term;
  }
  return terms;
}

SmallVector<Term> Sequence::partialVector(OpBuilder &b, LaneIndex at,
                                          int64_t count, int64_t before) const {
  LaneMath lane(b, loc);
  SmallVector<Term> terms;
  for (const Reducer &reducer : reducers)
    terms.push_back(reducer.identity(b, lanes));
  if (mayRepeat && before + count >= lanes) {
    // The last full vector, moved down over those of its elements that were
    // visited before.
    SmallVector<Term> whole =
        visit(b, lane.addConstant(at, count - lanes), 1, lanes);
    auto mask = llvm::to_vector(llvm::seq(lanes - count, 2 * lanes - count));
    auto move = [&](Value from, Value padding) -> Value {
      return vector::ShuffleOp::create(b, loc, from, padding, mask);
    };
    for (auto [term, from] : llvm::zip(terms, whole)) {
      term.value = move(from.value, term.value);
      if (term.position)
        term.position = move(from.position, term.position);
    }
    return terms;
  }
  for (int64_t done = 0; done < count;) {
    int64_t width = llvm::bit_floor(uint64_t(count - done));
    SmallVector<Term> piece = visit(b, lane.addConstant(at, done), 1, width);
    auto insert = [&](Value from, Value into) {
      for (int64_t i = 0; i < width; ++i) {
        Value element = width == 1
                            ? from
                            : Value(vector::ExtractOp::create(b, loc, from, i));
        into = vector::InsertOp::create(b, loc, element, into, done + i);
      }
      return into;
    };
    for (auto [term, from] : llvm::zip(terms, piece)) {
      term.value = insert(from.value, term.value);
      if (term.position)
        term.position = insert(from.position, term.position);
    }
    done += width;
  }
  return terms;
}

SmallVector<Term> Sequence::all(OpBuilder &b, int64_t count,
                                ArrayRef<TermBuffer> partials) const {
  LaneMath lane(b, loc);
  int64_t chunks = partialCount(reducers, count, inChunks);
  if (chunks == 0)
    return chunk(b, lane.constant(0), count);
  int64_t whole = count / kTreeChunk;
  auto store = [&](ArrayRef<Term> terms, Value at) {
    for (auto [term, buffer] : llvm::zip(terms, partials))
      buffer.store(b, loc, term, at);
  };
  buildLoop(b, loc, lane.number(0), lane.number(whole), 1, [&](Value i) {
    store(chunk(b, lane.mulConstant({i, 0, 1}, kTreeChunk), kTreeChunk), i);
  });
  if (int64_t rest = count % kTreeChunk)
    store(chunk(b, lane.constant(whole * kTreeChunk), rest, whole * kTreeChunk),
          lane.number(whole));
  return combinePartials(b, loc, reducers, lanes, partials, chunks);
}

int64_t partialCount(ArrayRef<Reducer> reducers, int64_t count, bool inChunks) {
  inChunks |= llvm::any_of(
      reducers, [](const Reducer &reducer) { return reducer.isOrdered(); });
  bool isOne = reducers.empty() || !inChunks || count <= kTreeChunk;
  return isOne ? 0 : llvm::divideCeil(count, kTreeChunk);
}

SmallVector<Term> combinePartials(OpBuilder &b, Location loc,
                                  ArrayRef<Reducer> reducers, int64_t lanes,
                                  ArrayRef<TermBuffer> partials,
                                  int64_t count) {
  lanes = std::min<int64_t>(lanes, llvm::bit_floor(uint64_t(count)));
  auto load = [&](OpBuilder &b, LaneIndex first, int64_t vectors,
                  int64_t width) {
    SmallVector<Term> terms;
    LaneMath lane(b, loc);
    for (const TermBuffer &buffer : partials)
      for (int64_t v = 0; v < vectors; ++v)
        terms.push_back(buffer.load(
            b, loc, lane.addConstant(first, v * width).base, width));
    return terms;
  };
  // A chunk's result goes to a place that the chunks before it have read.
  return Sequence(loc, reducers, lanes, kTreeGroup, load)
      .all(b, count, partials);
}

} // namespace tessera::lowering::cpu
