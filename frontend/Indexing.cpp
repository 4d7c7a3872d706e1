// Reads and writes by index.
#include "frontend/Devices.h"
#include "frontend/Evaluate.h"
#include "frontend/Formula.h"
#include "frontend/Operands.h"
#include "frontend/Selection.h"
#include "frontend/Shapes.h"

#include <cstring>

using namespace mlir;

namespace tessera {
using namespace detail;

using Items = std::span<const Index>;

static bool isMask(Items items) {
  return items.size() == 1 && items[0].kind() == Index::Kind::Tensor &&
         items[0].tensor().defined() && items[0].tensor().dtype() == boolean;
}

static std::source_location placeOf(Items items) {
  return items.empty() ? std::source_location() : items[0].place();
}

static SmallVector<const Tensor *> tensorsOf(const Tensor &x, Items items,
                                             const Operand *value = nullptr) {
  SmallVector<const Tensor *> tensors{&x};
  for (const Index &item : items)
    if (item.kind() == Index::Kind::Tensor)
      tensors.push_back(&item.tensor());
  if (value && !value->isScalar())
    tensors.push_back(&value->tensor());
  return tensors;
}

// Blocks

/// Starts are numbers beside the program, so that others need no new code.
using Numbers = SmallVector<Operand, 2>;

static bool startsAtNumber(const Range &range) {
  return !range.isWhole && range.step == 1 && !range.at;
}

static Numbers numbersOf(const Selection &selection) {
  Numbers numbers;
  for (const Range &range : selection.ranges)
    if (startsAtNumber(range))
      numbers.push_back(Operand(range.start));
  return numbers;
}

static Value startOf(Recording &r, const Range &range, int64_t size,
                     const Operand *&number) {
  if (startsAtNumber(range))
    return r.expr(*number++, i64).value();
  if (range.isWhole)
    return ir::detail::full(r.builder(), r.location(), r.type(i64, {}), 0);
  Expr start = r.convert(r.expr(r.value(*range.at)), i64);
  return select(start < 0.0, start + double(size), start).value();
}

static SmallVector<Value> startsOf(Recording &r, const Selection &selection,
                                   const Numbers &numbers, Expr x) {
  SmallVector<Value> starts;
  const Operand *number = numbers.begin();
  for (auto [range, size] : llvm::zip(selection.ranges, x.type().getShape()))
    starts.push_back(startOf(r, range, size, number));
  return starts;
}

static Expr readBlock(Recording &r, Expr x, const Selection &selection,
                      ArrayRef<Value> starts) {
  Shape block = selection.blockShape();
  return x.with(ir::DynamicSliceOp::create(r.builder(), r.location(),
                                           x.type().clone(toRef(block)),
                                           x.value(), starts));
}

/// The elements selected, in their own number of dimensions.
static Expr read(Recording &r, Expr x, Selection &selection,
                 const Numbers &numbers) {
  SmallVector<int64_t> starts, sizes, strides;
  bool isStrided = false;
  for (auto [range, size] : llvm::zip(selection.ranges, x.type().getShape())) {
    bool here = range.step != 1;
    isStrided |= here;
    starts.push_back(here ? range.start : 0);
    sizes.push_back(here ? range.size : size);
    strides.push_back(range.step);
    if (here)
      range = {0, range.size, 1, true, nullptr};
  }
  if (isStrided)
    x = detail::slice(x, starts, sizes, strides);
  bool isWhole = llvm::all_of(selection.ranges,
                              [](const Range &range) { return range.isWhole; });
  return isWhole
             ? x
             : readBlock(r, x, selection, startsOf(r, selection, numbers, x));
}

/// The result of an index like one before, as Recording::recall.
static Tensor recall(Recording &r, const Operand &x, const Selection &selection,
                     const Numbers &numbers) {
  SmallVector<const Operand *, 3> operands{&x};
  SmallVector<int64_t, 16> parameters;
  for (const Operand &number : numbers)
    operands.push_back(&number);
  for (const Range &range : selection.ranges) {
    if (range.at)
      return Tensor();
    parameters.append({range.size, range.step, range.isWhole,
                       startsAtNumber(range) ? 0 : range.start});
  }
  parameters.append(selection.shape.begin(), selection.shape.end());
  return r.recall(operands, parameters);
}

// Views

std::optional<Tensor> detail::leadingView(const Tensor &x, int64_t start,
                                          int64_t size, bool drop) {
  TensorImpl *impl = x.handle().get();
  if (!impl->ready.load(std::memory_order_acquire) || impl->leaf || impl->frame)
    return std::nullopt;
  if (impl->trace) {
    TraceLock lock(*impl->trace);
    if (impl->op)
      return std::nullopt; // its history would be lost
  }
  Shape shape(impl->shape.begin() + 1, impl->shape.end());
  auto row = size_t(shape.elements()) * runtime::bytesOf(impl->dtype);
  if (!drop) {
    Shape longer{size};
    for (int64_t dim : shape)
      longer.push_back(dim);
    shape = longer;
  }
  Tensor view =
      makeTensor(runtime::Storage::view(impl->storage, size_t(start) * row,
                                        size_t(size) * row),
                 shape, impl->dtype, impl->device);
  view.handle()->cut = impl->cut;
  return view;
}

/// Whether an index selects a part of the first dimension, and nothing else.
static bool isLeading(Items items, const Selection &selection) {
  if (items.size() != 1 || selection.ranges.empty())
    return false;
  const Range &range = selection.ranges.front();
  return !range.at && range.step == 1 &&
         (items[0].kind() == Index::Kind::Integer ||
          items[0].kind() == Index::Kind::Slice);
}

// Masks

/// Throws ShapeError unless the mask has the shape of the first dimensions.
static void checkMask(const char *name, const Tensor &mask, const Tensor &x,
                      std::source_location place) {
  const Shape &m = mask.shape(), &s = x.shape();
  if (m.size() > s.size() || !std::equal(m.begin(), m.end(), s.begin()))
    throw ShapeError(errorPlace(place), name,
                     "the mask does not have the shape of the tensor: " +
                         typeText(mask) + " and " + typeText(x));
}

/// The elements that the mask picks. Their number depends on data, so both are
/// evaluated.
static Tensor pick(const Tensor &x, const Tensor &mask,
                   std::source_location place) {
  checkMask("index", mask, x, place);
  evaluate({x, mask}, "index", place);
  TensorImpl *impl = x.handle().get();
  runtime::Storage all = bytesOn(impl->storage, Device(), "index", place),
                   chosen = bytesOn(mask.handle()->storage, Device(), "index",
                                    place);
  auto *picks = static_cast<const uint8_t *>(chosen.data());
  int64_t count = std::count(picks, picks + mask.size(), 1);
  Shape shape{count};
  for (size_t i = mask.shape().size(); i < impl->shape.size(); ++i)
    shape.push_back(impl->shape[i]);
  size_t row = runtime::bytesOf(impl->dtype);
  for (size_t i = 1; i < shape.size(); ++i)
    row *= size_t(shape[i]);
  auto storage = runtime::Storage::allocate(size_t(count) * row);
  auto *from = static_cast<const char *>(all.data());
  auto *to = static_cast<char *>(storage.data());
  for (int64_t i = 0; i < mask.size(); ++i)
    if (picks[i]) {
      std::memcpy(to, from + size_t(i) * row, row);
      to += row;
    }
  Tensor result = makeTensor(bytesOn(storage, impl->device, "index", place),
                             shape, impl->dtype, impl->device);
  // A derivative that asks for x learns where its path ended.
  result.handle()->cut = std::make_shared<Cut>(
      Cut{userPlace(place), "index by a mask", false, {impl->life()}});
  return result;
}

/// A mask with dimensions of size 1 for those of x that it does not name.
static Expr maskFor(Recording &r, const Tensor &mask, Expr x) {
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < mask.ndim(); ++i)
    dims.push_back(i);
  return x.with(ir::BroadcastOp::create(r.builder(), r.location(),
                                        x.type().clone(r.builder().getI1Type()),
                                        r.value(mask), dims));
}

// Reading

Tensor Tensor::index(Items items) const {
  std::source_location place = placeOf(items);
  if (isMask(items) && defined())
    return pick(*this, items[0].tensor(), place);
  Selection selection;
  {
    Recording r("index", place, tensorsOf(*this, items));
    selection = select(r, items, *this);
  }
  if (isLeading(items, selection)) {
    const Range &range = selection.ranges.front();
    bool drops = items[0].kind() == Index::Kind::Integer;
    if (auto view = leadingView(*this, range.start, range.size, drops))
      return *view;
  }
  Operand whole(*this, place);
  Numbers numbers = numbersOf(selection);
  Recording r("index", place, tensorsOf(*this, items));
  if (Tensor known = recall(r, whole, selection, numbers); known.defined())
    return known;
  Expr part = read(r, r.expr(r.value(*this)), selection, numbers);
  return r.finish(ir::reshape(part, toRef(selection.shape)));
}

Tensor Tensor::operator[](const Index &i) const { return index(i); }
Tensor Tensor::index(const Index &a) const { return index(Items({&a, 1})); }
Tensor Tensor::index(const Index &a, const Index &b) const {
  const Index items[] = {a, b};
  return index(Items(items));
}
Tensor Tensor::index(const Index &a, const Index &b, const Index &c) const {
  const Index items[] = {a, b, c};
  return index(Items(items));
}
Tensor Tensor::index(const Index &a, const Index &b, const Index &c,
                     const Index &d) const {
  const Index items[] = {a, b, c, d};
  return index(Items(items));
}
Tensor Tensor::index(const Index &a, const Index &b, const Index &c,
                     const Index &d, const Index &e) const {
  const Index items[] = {a, b, c, d, e};
  return index(Items(items));
}

// Writing

namespace {
/// A value to write, in the shape of the elements it replaces.
class Writing {
public:
  Writing(const char *name, const Tensor &x, Items items, const Operand &value)
      : r(name, placeOf(items), tensorsOf(x, items, &value)),
        whole(r.expr(r.value(x))), x(x), items(items), value(value) {}

  /// `combine` makes new elements of the old ones and the value.
  template <typename Combine> Tensor run(Combine combine) {
    if (isMask(items))
      return runMask(combine);
    Selection selection = select(r, items, x);
    Expr update = r.expr(value, x.dtype());
    Shape given = shapeOf(update.value());
    if (!broadcasts(given, selection.shape))
      r.fail<ShapeError>("the value does not broadcast to " +
                         selection.shape.str() + ": " + typeText(value));
    update = r.broadcast(update, selection.shape);
    update = ir::reshape(update, toRef(selection.blockShape()));
    if (selection.blockShape().elements() == 0)
      return r.finish(whole);
    if (!selection.isBlock())
      return runStrided(selection, update, combine);
    SmallVector<Value> starts =
        startsOf(r, selection, numbersOf(selection), whole);
    Expr old = readBlock(r, whole, selection, starts);
    Expr written = combine(old, update);
    return r.finish(ir::DynamicUpdateSliceOp::create(
        r.builder(), r.location(), whole.type(), whole.value(), written.value(),
        starts));
  }

private:
  static bool broadcasts(const Shape &from, const Shape &to) {
    if (from.size() > to.size())
      return false;
    for (size_t i = 1; i <= from.size(); ++i) {
      int64_t dim = from[from.size() - i];
      if (dim != 1 && dim != to[to.size() - i])
        return false;
    }
    return true;
  }

  template <typename Combine> Tensor runMask(Combine combine) {
    const Tensor &mask = items[0].tensor();
    checkMask(r.name(), mask, x, items[0].place());
    Expr update = r.expr(value, x.dtype());
    Shape rest(x.shape().begin() + mask.ndim(), x.shape().end());
    if (!broadcasts(shapeOf(update.value()), rest))
      r.fail<ShapeError>("the value does not broadcast to " + rest.str() +
                         ": " + typeText(value));
    update = r.broadcast(update, x.shape());
    return r.finish(
        select(maskFor(r, mask, whole), combine(whole, update), whole));
  }

  /// Spreads a block over the places it is written to, `fill` elsewhere.
  Expr spread(const Selection &selection, Expr block, Expr fill) {
    SmallVector<int64_t> low, high, between, starts, strides;
    for (auto [range, size] :
         llvm::zip(selection.ranges, whole.type().getShape())) {
      int64_t last = range.start + (range.size - 1) * range.step;
      low.push_back(std::min(range.start, last));
      high.push_back(size - 1 - std::max(range.start, last));
      between.push_back(std::abs(range.step) - 1);
      starts.push_back(range.step < 0 ? range.size - 1 : 0);
      strides.push_back(range.step < 0 ? -1 : 1);
    }
    Expr ordered =
        detail::slice(block, starts, block.type().getShape(), strides);
    auto type = whole.type().clone(block.type().getElementType());
    return block.with(ir::PadOp::create(r.builder(), r.location(), type,
                                        ordered.value(), fill.value(), low,
                                        high, between));
  }

  template <typename Combine>
  Tensor runStrided(const Selection &selection, Expr update, Combine combine) {
    if (llvm::any_of(selection.ranges, [](const Range &r) { return r.at; }))
      r.fail<ValueError>(
          "steps other than 1 and positions in tensors do not go "
          "together");
    auto scalar = [&](RankedTensorType like, double number) {
      return r.expr(ir::detail::full(
          r.builder(), r.location(),
          RankedTensorType::get({}, like.getElementType()), number));
    };
    auto bools = update.type().clone(r.builder().getI1Type());
    Expr yes = r.expr(ir::detail::full(r.builder(), r.location(), bools, 1));
    Expr isWritten = spread(selection, yes, scalar(bools, 0));
    Expr values = spread(selection, update, scalar(update.type(), 0));
    return r.finish(select(isWritten, combine(whole, values), whole));
  }

  Recording r;
  Expr whole;
  const Tensor &x;
  Items items;
  const Operand &value;
};
} // namespace

Tensor Tensor::set(Items items, const Operand &value) const {
  return Writing("set", *this, items, value).run([](Expr, Expr y) {
    return y;
  });
}
Tensor Tensor::set(const Index &a, const Operand &value) const {
  return set(Items({&a, 1}), value);
}
Tensor Tensor::set(const Index &a, const Index &b, const Operand &value) const {
  const Index items[] = {a, b};
  return set(Items(items), value);
}
Tensor Tensor::set(const Index &a, const Index &b, const Index &c,
                   const Operand &value) const {
  const Index items[] = {a, b, c};
  return set(Items(items), value);
}
Tensor Tensor::set(const Index &a, const Index &b, const Index &c,
                   const Index &d, const Operand &value) const {
  const Index items[] = {a, b, c, d};
  return set(Items(items), value);
}

Tensor Tensor::add_at(Items items, const Operand &value) const {
  if (defined() && dtype() == boolean)
    throw TypeError(errorPlace(placeOf(items)), "add_at",
                    "bools have no arithmetic: " + typeText(*this));
  return Writing("add_at", *this, items, value).run([](Expr x, Expr y) {
    return x + y;
  });
}
Tensor Tensor::add_at(const Index &a, const Operand &value) const {
  return add_at(Items({&a, 1}), value);
}
Tensor Tensor::add_at(const Index &a, const Index &b,
                      const Operand &value) const {
  const Index items[] = {a, b};
  return add_at(Items(items), value);
}
Tensor Tensor::add_at(const Index &a, const Index &b, const Index &c,
                      const Operand &value) const {
  const Index items[] = {a, b, c};
  return add_at(Items(items), value);
}
Tensor Tensor::add_at(const Index &a, const Index &b, const Index &c,
                      const Index &d, const Operand &value) const {
  const Index items[] = {a, b, c, d};
  return add_at(Items(items), value);
}

} // namespace tessera
