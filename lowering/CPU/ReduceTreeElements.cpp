// Builds the code that computes a fused body's elements at some neighbouring
// places.
#include "lowering/CPU/ReduceTreeElements.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::cpu {

SmallVector<Term> Elements::operator()(OpBuilder &b, LaneIndex first,
                                       int64_t vectors, int64_t lanes) const {
  auto computed = computeVectors(b, first, vectors, lanes);
  SmallVector<Value> values = succeeded(computed)
                                  ? *computed
                                  : computeOneByOne(b, first, vectors, lanes);
  LaneMath lane(b, loc);
  SmallVector<Term> terms;
  for (auto [r, reducer] : llvm::enumerate(reducers))
    for (int64_t v = 0; v < vectors; ++v)
      terms.push_back(reducer.load(b, values[r * vectors + v],
                                   lane.addConstant(first, v * lanes)));
  return terms;
}

/// Computes and stores vectors of all roots; the result is ordered by roots.
FailureOr<SmallVector<Value>> Elements::computeVectors(OpBuilder &b,
                                                       LaneIndex first,
                                                       int64_t vectors,
                                                       int64_t lanes) const {
  FusedBody::Frame frame(body, b);
  LaneMath lane(b, loc);
  SmallVector<Value> values(roots.size() * vectors);
  for (int64_t v = 0; v < vectors; ++v) {
    LaneIndex position = lane.addConstant(first, v * lanes);
    for (auto [r, root] : llvm::enumerate(roots)) {
      auto index = indexOf(b, root.value, position, lanes);
      if (failed(index))
        return failure();
      values[r * vectors + v] = frame.at(root.value, *index, lanes);
    }
  }
  for (auto [r, root] : llvm::enumerate(roots))
    for (int64_t v = 0; v < vectors && root.place; ++v)
      store(b, root, values[r * vectors + v],
            lane.addConstant(first, v * lanes).base);
  return values;
}

/// The same where lanes do not stay together: a scalar loop, and the reducers'
/// elements through memory.
SmallVector<Value> Elements::computeOneByOne(OpBuilder &b, LaneIndex first,
                                             int64_t vectors,
                                             int64_t lanes) const {
  LaneMath lane(b, loc);
  SmallVector<Value> stages;
  for (const Root &root : roots) {
    Type element = storageType(tensorType(root.value).getElementType());
    stages.push_back(
        root.place ? Value() : stackBuffer(b, loc, element, vectors * lanes));
  }
  buildLoop(
      b, loc, lane.number(0), lane.number(vectors * lanes), 1, [&](Value i) {
        FusedBody::Frame frame(body, b);
        LaneIndex position = lane.add({first.base, 0, 1}, {i, 0, 1});
        SmallVector<Value> values;
        for (const Root &root : roots)
          values.push_back(
              frame.at(root.value, *indexOf(b, root.value, position, 1), 1));
        for (auto [root, value, stage] : llvm::zip(roots, values, stages)) {
          if (root.place)
            store(b, root, value, position.base);
          else
            storeLanes(b, loc, value, stage, i);
        }
      });
  SmallVector<Value> result(roots.size() * vectors);
  for (auto [r, root] : llvm::enumerate(roots))
    for (int64_t v = 0; v < vectors && !root.place; ++v)
      result[r * vectors + v] =
          loadLanes(b, loc, stages[r], {lane.number(v * lanes), 1, lanes},
                    lanes, tensorType(root.value).getElementType());
  return result;
}

void Elements::store(OpBuilder &b, const Root &root, Value value,
                     Value position) const {
  Location at = root.value.getLoc();
  Value where =
      LaneMath(b, at).add({root.place->offset, 0, 1}, {position, 0, 1}).base;
  storeLanes(b, at, value, root.place->buffer, where,
             root.nonTemporal && isa<VectorType>(value.getType()));
}

} // namespace tessera::lowering::cpu
