// The rules of basic indexing, which are those of Python.
#include "frontend/Selection.h"

#include "frontend/Operands.h"

namespace tessera::detail {

bool Selection::isBlock() const {
  return llvm::all_of(ranges,
                      [](const Range &range) { return range.step == 1; });
}

Shape Selection::blockShape() const {
  Shape block;
  for (const Range &range : ranges)
    block.push_back(range.size);
  return block;
}

static Range wholeRange(int64_t size) { return {0, size, 1, true, nullptr}; }

static Range rangeOf(Recording &r, const Slice &slice, int64_t size) {
  int64_t step = slice.step.value_or(1);
  if (step == 0)
    r.fail<ValueError>("the step of a slice is 0");
  // Positions that can be named: one before the start for a negative step.
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  auto position = [&](std::optional<int64_t> given, int64_t otherwise) {
    if (!given)
      return otherwise;
    int64_t from = *given < 0 ? *given + size : *given;
    return std::clamp(from, low, high);
  };
  int64_t start = position(slice.start, step > 0 ? 0 : size - 1);
  int64_t stop = position(slice.stop, step > 0 ? size : -1);
  int64_t distance = step > 0 ? stop - start : start - stop;
  int64_t length = step > 0 ? step : -step;
  Range range;
  range.size = distance <= 0 ? 0 : (distance - 1) / length + 1;
  range.step = range.size <= 1 ? 1 : step;
  range.start = range.size == 0 ? 0 : start;
  range.isWhole = range.size == size && range.step == 1;
  return range;
}

static Range rangeOf(Recording &r, int64_t position, int64_t size,
                     const Tensor &x) {
  if (position < -size || position >= size)
    r.fail<IndexError>("index " + std::to_string(position) +
                       " is outside a dimension of size " +
                       std::to_string(size) + ": " + typeText(x));
  return {position < 0 ? position + size : position, 1, 1, size == 1, nullptr};
}

static Range rangeOf(Recording &r, const Tensor &position, int64_t size,
                     const Tensor &x) {
  if (position.ndim() != 0 || !runtime::isSigned(position.dtype()))
    r.fail<TypeError>("a tensor in an index is one integer, or the only item "
                      "and of bools: " +
                      typeText(position));
  if (size == 0)
    r.fail<IndexError>("the dimension is empty: " + typeText(x));
  return {0, 1, 1, false, &position};
}

Selection select(Recording &r, std::span<const Index> items, const Tensor &x) {
  using Kind = Index::Kind;
  const Shape &shape = x.shape();
  auto consumes = [](const Index &item) {
    return item.kind() != Kind::NewAxis && item.kind() != Kind::Ellipsis;
  };
  auto isEllipsis = [](const Index &item) {
    return item.kind() == Kind::Ellipsis;
  };
  size_t named = size_t(llvm::count_if(items, consumes));
  if (named > shape.size())
    r.fail<IndexError>("there are " + std::to_string(named) +
                       " indices: " + typeText(x));
  if (llvm::count_if(items, isEllipsis) > 1)
    r.fail<IndexError>("there is more than one ellipsis");

  Selection selection;
  auto take = [&](const Range &range, bool keeps) {
    selection.ranges.push_back(range);
    if (keeps)
      selection.shape.push_back(range.size);
  };
  auto takeWhole = [&](size_t count) {
    for (size_t i = 0; i < count; ++i)
      take(wholeRange(shape[selection.ranges.size()]), true);
  };
  for (const Index &item : items) {
    size_t dim = selection.ranges.size();
    switch (item.kind()) {
    case Kind::Integer:
      take(rangeOf(r, item.position(), shape[dim], x), false);
      break;
    case Kind::Slice:
      take(rangeOf(r, item.slice(), shape[dim]), true);
      break;
    case Kind::Tensor:
      take(rangeOf(r, item.tensor(), shape[dim], x), false);
      break;
    case Kind::NewAxis:
      selection.shape.push_back(1);
      break;
    case Kind::Ellipsis:
      takeWhole(shape.size() - named);
      break;
    }
  }
  takeWhole(shape.size() - selection.ranges.size());
  return selection;
}

} // namespace tessera::detail
