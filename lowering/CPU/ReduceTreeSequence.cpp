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
  if (prepare) {
    prepare(b, begin, count);
    if (reducers.empty())
      return {};
  }
  return chunks(b, begin, count, before);
}

SmallVector<Term> Sequence::chunks(OpBuilder &b, ArrayRef<LaneIndex> begins,
                                   int64_t count, int64_t before) const {
  assert(partialCount(reducers, count, inChunks) == 0 && "more than one chunk");
  LaneMath lane(b, loc);
  SmallVector<ChunkState> states; // Of each chunk, one for each reducer.
  for (size_t c = 0; c < begins.size(); ++c)
    for (const Reducer &reducer : reducers)
      states.emplace_back(reducer, lanes).start(b, vectorsPerStep);
  int64_t perStep = lanes * vectorsPerStep, steps = count / perStep;
  auto stepChunk = [&](size_t c, LaneIndex at, int64_t vectors,
                       ArrayRef<Term> terms) {
    for (size_t r = 0; r < reducers.size(); ++r) {
      SmallVector<Term> own(terms.slice(r * vectors, vectors));
      while (reducers[r].isOrdered() && own.size() % kTreeGroup != 0)
        own.push_back(reducers[r].identity(b, lanes));
      states[c * reducers.size() + r].step(b, own);
    }
  };
  auto step = [&](LaneIndex offset) {
    for (auto [c, begin] : llvm::enumerate(begins)) {
      LaneIndex at = lane.add(begin, offset);
      at.step = 1;
      if (select)
        select(c);
      stepChunk(c, at, vectorsPerStep, visit(b, at, vectorsPerStep, lanes));
    }
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
  if (steps * vectorsPerStep <= kStraightVectors) {
    for (int64_t i = 0; i < steps; ++i)
      step(lane.constant(i * perStep));
  } else {
    setCarried(buildLoop(b, loc, lane.number(0), lane.number(steps * perStep),
                         perStep, carried(), [&](Value at, ValueRange values) {
                           setCarried(values);
                           step({at, 0, perStep});
                           return carried();
                         }));
    for (ChunkState &state : states)
      state.skipSteps(steps - 1);
  }
  if (int64_t rest = count - steps * perStep; rest > 0)
    for (auto [c, begin] : llvm::enumerate(begins)) {
      LaneIndex end = lane.addConstant(begin, steps * perStep);
      end.step = 1;
      if (select)
        select(c);
      stepChunk(c, end, llvm::divideCeil(rest, lanes),
                tail(b, end, rest, before + steps * perStep));
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
                                ArrayRef<TermBuffer> partials,
                                size_t sequences) const {
  assert((sequences == 1 || !prepare) && "prepared elements go one by one");
  LaneMath lane(b, loc);
  auto visitChunk = [&](LaneIndex begin, int64_t length, int64_t before) {
    return sequences == 1 ? chunk(b, begin, length, before)
                          : chunks(b, SmallVector<LaneIndex>(sequences, begin),
                                   length, before);
  };
  int64_t numChunks = partialCount(reducers, count, inChunks);
  if (numChunks == 0)
    return visitChunk(lane.constant(0), count, 0);
  int64_t whole = count / kTreeChunk;
  auto store = [&](ArrayRef<Term> terms, Value at) {
    for (auto [term, buffer] : llvm::zip(terms, partials))
      buffer.store(b, loc, term, at);
  };
  buildLoop(b, loc, lane.number(0), lane.number(whole), 1, [&](Value i) {
    store(visitChunk(lane.mulConstant({i, 0, 1}, kTreeChunk), kTreeChunk, 0),
          i);
  });
  if (int64_t rest = count % kTreeChunk)
    store(
        visitChunk(lane.constant(whole * kTreeChunk), rest, whole * kTreeChunk),
        lane.number(whole));
  SmallVector<Term> results;
  for (size_t i = 0; i < sequences; ++i)
    llvm::append_range(
        results,
        combinePartials(b, loc, reducers, lanes,
                        partials.slice(i * reducers.size(), reducers.size()),
                        numChunks));
  return results;
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
