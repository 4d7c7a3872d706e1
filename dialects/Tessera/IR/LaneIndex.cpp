// Index arithmetic for emitters: what moves with the lane is a number known at
// compile time.
#include "dialects/Tessera/IR/LaneIndex.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;

namespace tessera::ir {

Value LaneMath::number(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

static std::optional<int64_t> known(Value v) { return getConstantIntValue(v); }

LaneIndex LaneMath::add(LaneIndex x, LaneIndex y) {
  Value sum;
  if (auto k = known(y.base); k && *k == 0)
    sum = x.base;
  else if (auto k = known(x.base); k && *k == 0)
    sum = y.base;
  else
    sum = arith::AddIOp::create(b, loc, x.base, y.base);
  return {sum, x.step + y.step, std::gcd(x.divisor, y.divisor)};
}

LaneIndex LaneMath::addConstant(LaneIndex x, int64_t c) {
  if (c == 0)
    return x;
  return {arith::AddIOp::create(b, loc, x.base, number(c)), x.step,
          std::gcd(x.divisor, c)};
}

LaneIndex LaneMath::mulConstant(LaneIndex x, int64_t c) {
  if (c == 1)
    return x;
  if (auto k = known(x.base))
    return {number(*k * c), x.step * c, x.divisor * c};
  return {arith::MulIOp::create(b, loc, x.base, number(c)), x.step * c,
          x.divisor * c};
}

Value LaneMath::divide(Value x, int64_t c) {
  if (c == 1)
    return x;
  return arith::DivUIOp::create(b, loc, x, number(c));
}

Value LaneMath::remainder(Value x, int64_t c) {
  if (c == 1)
    return number(0);
  return arith::RemUIOp::create(b, loc, x, number(c));
}

Value LaneMath::clamp(Value x, int64_t size) {
  Value low = arith::MaxSIOp::create(b, loc, x, number(0));
  return arith::MinSIOp::create(b, loc, low, number(size - 1));
}

Value LaneMath::inside(Value x, int64_t low, int64_t high) {
  // One unsigned comparison: a value below `low` wraps above every size.
  Value shifted =
      low == 0 ? x : Value(arith::SubIOp::create(b, loc, x, number(low)));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, shifted,
                               number(high - low));
}

LaneIndex LaneMath::linearize(ArrayRef<LaneIndex> index,
                              ArrayRef<int64_t> shape) {
  LaneIndex position = constant(0);
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    if (shape[i] != 1)
      position = add(position, mulConstant(index[i], stride));
  return position;
}

FailureOr<SmallVector<LaneIndex>> LaneMath::delinearize(LaneIndex position,
                                                        ArrayRef<int64_t> shape,
                                                        int64_t lanes) {
  SmallVector<LaneIndex> index(shape.size(), constant(0));
  for (size_t i = shape.size(); i-- > 0;) {
    int64_t size = shape[i];
    bool outermost =
        llvm::all_of(shape.take_front(i), [](int64_t d) { return d == 1; });
    if (outermost) {
      index[i] = position;
      return index;
    }
    if (size == 1)
      continue;
    // Lanes stay in one row if they walk by one, start at a multiple of their
    // number, and rows hold a multiple of it.
    bool stays = position.step == 1 && size % lanes == 0 &&
                 position.divisor % lanes == 0;
    if (lanes > 1 && position.step != 0 && !stays)
      return failure();
    index[i] = {remainder(position.base, size), position.step,
                std::gcd(position.divisor, size)};
    int64_t outer = position.divisor % size == 0 ? position.divisor / size : 1;
    position = {divide(position.base, size), 0, outer};
  }
  return index;
}

Value materialize(OpBuilder &b, Location loc, LaneIndex index, int64_t lanes,
                  Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  Type wide = integer ? element : Type(b.getI64Type());
  Value base = arith::IndexCastOp::create(b, loc, wide, index.base);
  if (lanes > 1) {
    auto type = VectorType::get({lanes}, wide);
    base = vector::BroadcastOp::create(b, loc, type, base);
    if (index.step != 0) {
      SmallVector<Attribute> steps;
      for (int64_t lane = 0; lane < lanes; ++lane)
        steps.push_back(b.getIntegerAttr(wide, lane * index.step));
      Value offset = arith::ConstantOp::create(
          b, loc, DenseElementsAttr::get(type, steps));
      base = arith::AddIOp::create(b, loc, base, offset);
    }
  }
  if (integer)
    return base;
  Type result = lanes > 1 ? Type(VectorType::get({lanes}, element)) : element;
  return arith::SIToFPOp::create(b, loc, result, base);
}

} // namespace tessera::ir
