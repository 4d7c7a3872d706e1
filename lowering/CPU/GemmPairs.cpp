// Pairs of bf16: how they are loaded, multiplied, and found to be safe.
#include "lowering/CPU/GemmPairs.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace tessera::lowering::cpu {

bool isForPairs(const GemmKernel &kernel, const GemmTarget &target,
                const GemmPlan &plan) {
  const GemmShape &s = kernel.shape;
  if (target.pairDot == PairDot::None || !kernel.isBF16 || s.pairs)
    return false;
  // What streams from memory is bound by that. Operands of a symbolic size are
  // in memory, as f32.
  if (plan.streams || !kernel.a.load || !kernel.b.load || s.k < 2)
    return false;
  return llvm::none_of(ArrayRef({s.batch, s.m, s.n, s.k}), ir::isSymbolic);
}

namespace {

VectorType withElements(VectorType type, Type element, int64_t timesLanes = 1) {
  return VectorType::get({type.getNumElements() * timesLanes}, element);
}

Value bitsOf(OpBuilder &b, Location loc, Value floats) {
  auto type = cast<VectorType>(floats.getType());
  return arith::BitcastOp::create(b, loc, withElements(type, b.getI32Type()),
                                  floats);
}

Value constant(OpBuilder &b, Location loc, VectorType type, int64_t value) {
  auto scalar = b.getIntegerAttr(type.getElementType(), value);
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, Attribute(scalar)));
}

/// Loads an operand's pairs from loads of its elements.
class PairLoader {
public:
  /// `filler` stands where an odd k has no step.
  PairLoader(LoadFn load, int64_t k, bool alongK, double filler)
      : load(std::move(load)), k(k), alongK(alongK), filler(filler) {}

  Value operator()(OpBuilder &b, Location loc, ValueRange buffers, Value batch,
                   Value row, Value col, int64_t lanes, Value mask) const {
    assert((!alongK || !mask) && "blocks of lanes along k overlap");
    Value step =
        arith::MulIOp::create(b, loc, alongK ? col : row, index(b, loc, 2));
    auto loadFrom = [&](Value step, Value mask) {
      return load(b, loc, buffers, batch, alongK ? row : step,
                  alongK ? step : col, lanes, mask);
    };
    Value first = loadFrom(step, mask), second;
    if (alongK && lanes > 1) {
      // These are the elements of the first half of the pairs.
      Value middle = arith::AddIOp::create(b, loc, step, index(b, loc, lanes));
      Value exist = allButLast(b, loc, middle, lanes);
      Value more = filled(b, loc, exist, loadFrom(middle, exist));
      second = every(b, loc, first, more, 1);
      first = every(b, loc, first, more, 0);
    } else {
      auto [next, exists] = after(b, loc, step);
      second = filled(b, loc, exists, loadFrom(next, mask));
    }
    // The low half of an f32 that is a bf16 is zero.
    Value high = bitsOf(b, loc, first), low = bitsOf(b, loc, second);
    auto type = cast<VectorType>(high.getType());
    low = arith::ShRUIOp::create(b, loc, low, constant(b, loc, type, 16));
    return arith::BitcastOp::create(b, loc, first.getType(),
                                    arith::OrIOp::create(b, loc, high, low));
  }

private:
  /// Every other element of two vectors, beginning with number `from`.
  static Value every(OpBuilder &b, Location loc, Value x, Value y,
                     int64_t from) {
    SmallVector<int64_t> picks;
    for (int64_t l = 0; l < cast<VectorType>(x.getType()).getNumElements(); ++l)
      picks.push_back(from + 2 * l);
    return vector::ShuffleOp::create(b, loc, x, y, picks);
  }

  /// The elements, but the filler where they do not exist. Without a condition
  /// all do.
  Value filled(OpBuilder &b, Location loc, Value exists, Value elements) const {
    if (!exists)
      return elements;
    Attribute scalar = b.getF32FloatAttr(filler);
    Value fillers = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(cast<VectorType>(elements.getType()), scalar));
    return arith::SelectOp::create(b, loc, exists, elements, fillers);
  }

  /// The step after one that exists, and whether it exists; if it does not, the
  /// step is the one before, and if it always does, there is no condition.
  std::pair<Value, Value> after(OpBuilder &b, Location loc, Value step) const {
    Value next = arith::AddIOp::create(b, loc, step, index(b, loc, 1));
    if (k % 2 == 0)
      return {next, {}};
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                         next, index(b, loc, k));
    return {arith::SelectOp::create(b, loc, exists, next, step), exists};
  }

  /// The mask of lanes from `step` on, of which only the last may be beyond an
  /// odd k.
  Value allButLast(OpBuilder &b, Location loc, Value step,
                   int64_t lanes) const {
    if (k % 2 == 0)
      return {};
    Value last = arith::AddIOp::create(b, loc, step, index(b, loc, lanes - 1));
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                         last, index(b, loc, k));
    Value all = constant(b, loc, VectorType::get({lanes}, b.getI1Type()), 1);
    return vector::InsertOp::create(b, loc, exists, all, lanes - 1);
  }

  static Value index(OpBuilder &b, Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  LoadFn load;
  int64_t k;
  bool alongK;
  double filler;
};

} // namespace

GemmKernel inPairs(const GemmKernel &kernel) {
  GemmKernel result = kernel;
  GemmShape &s = result.shape;
  result.a.load = PairLoader(kernel.a.load, s.k, /*alongK=*/!s.transA, -0.0);
  result.b.load = PairLoader(kernel.b.load, s.k, /*alongK=*/s.transB, 0.0);
  s.k = llvm::divideCeil(s.k, 2);
  s.pairs = true;
  return result;
}

Value highHalf(FunctionBuilder &f, Value pairs) {
  Value bits = bitsOf(f.b, f.loc, pairs);
  auto type = cast<VectorType>(bits.getType());
  bits = arith::AndIOp::create(f.b, f.loc, bits,
                               f.splat(type, int32_t(0xffff0000)));
  return arith::BitcastOp::create(f.b, f.loc, pairs.getType(), bits);
}

Value lowHalf(FunctionBuilder &f, Value pairs) {
  Value bits = bitsOf(f.b, f.loc, pairs);
  auto type = cast<VectorType>(bits.getType());
  bits = arith::ShLIOp::create(f.b, f.loc, bits, f.splat(type, 16));
  return arith::BitcastOp::create(f.b, f.loc, pairs.getType(), bits);
}

/// Denormals become zeros of their sign.
static Value flushed(FunctionBuilder &f, Value floats) {
  Value bits = bitsOf(f.b, f.loc, floats);
  auto type = cast<VectorType>(bits.getType());
  auto masked = [&](int64_t mask) -> Value {
    return arith::AndIOp::create(f.b, f.loc, bits, f.splat(type, mask));
  };
  Value isSmall = arith::CmpIOp::create(f.b, f.loc, arith::CmpIPredicate::eq,
                                        masked(0x7f800000), f.splat(type, 0));
  bits = arith::SelectOp::create(f.b, f.loc, isSmall, masked(INT32_MIN), bits);
  return arith::BitcastOp::create(f.b, f.loc, floats.getType(), bits);
}

Value dotPairs(FunctionBuilder &f, Value x, Value y, Value sums,
               const GemmTarget &target) {
  auto type = cast<VectorType>(sums.getType());
  if (target.pairDot == PairDot::Instruction) {
    auto halves = withElements(type, f.b.getBF16Type(), 2);
    auto cast = [&](Value pairs) -> Value {
      return vector::BitCastOp::create(f.b, f.loc, halves, pairs);
    };
    return x86vector::DotBF16Op::create(f.b, f.loc, type, sums, cast(x),
                                        cast(y));
  }
  for (auto half : {highHalf, lowHalf})
    sums =
        flushed(f, f.multiplyAdd(flushed(f, half(f, x)), flushed(f, half(f, y)),
                                 flushed(f, sums), target.fma));
  return sums;
}

LeastExponent::LeastExponent(FunctionBuilder &f, VectorType type)
    : f(f), halves(withElements(type, f.b.getI16Type(), 2)) {
  least = f.scratch(halves.getNumElements(), f.b.getI16Type());
  f.store(f.splat(halves, -1), least, f.index(0));
}

void LeastExponent::add(Value pairs) {
  Value bits = vector::BitCastOp::create(f.b, f.loc, halves, pairs);
  bits = arith::AndIOp::create(f.b, f.loc, bits, f.splat(halves, 0x7fff));
  // A zero becomes the greatest.
  bits = arith::AddIOp::create(f.b, f.loc, bits, f.splat(halves, -1));
  Value before = f.load(halves, least, f.index(0));
  f.store(arith::MinUIOp::create(f.b, f.loc, before, bits), least, f.index(0));
}

Value LeastExponent::value() {
  Value lane =
      vector::ReductionOp::create(f.b, f.loc, vector::CombiningKind::MINUI,
                                  f.load(halves, least, f.index(0)));
  Value wide = arith::ExtUIOp::create(f.b, f.loc, f.b.getI32Type(), lane);
  auto number = [&](int32_t value) -> Value {
    return arith::ConstantIntOp::create(f.b, f.loc, value, 32);
  };
  wide = arith::AddIOp::create(f.b, f.loc, wide, number(1));
  return arith::ShRUIOp::create(f.b, f.loc, wide, number(7));
}

Value exponentsOf(const GemmEmission &e, FunctionBuilder &f) {
  int64_t count = e.exponentBytes() / 4;
  return memref::ViewOp::create(
      f.b, f.loc, MemRefType::get({count}, f.b.getI32Type()),
      f.arg(e.kernel.buffers.size()),
      f.index(e.workspaceBytes() - e.exponentBytes()), ValueRange());
}

Value leastOf(FunctionBuilder &f, Value exponents, int64_t begin,
              int64_t count) {
  Value most = arith::ConstantIntOp::create(f.b, f.loc, INT32_MAX, 32);
  return f
      .loop(f.index(begin), f.index(begin + count), 1, most,
            [&](Value at, ValueRange before) {
              Value exponent =
                  memref::LoadOp::create(f.b, f.loc, exponents, at);
              return Values{
                  arith::MinUIOp::create(f.b, f.loc, before.front(), exponent)};
            })
      .front();
}

Value isDotExact(FunctionBuilder &f, Value a, Value b) {
  auto atLeast = [&](Value x, int32_t bound) -> Value {
    return arith::CmpIOp::create(
        f.b, f.loc, arith::CmpIPredicate::uge, x,
        arith::ConstantIntOp::create(f.b, f.loc, bound, 32));
  };
  // Both operands are multiples of 2^(e - 134), and products shall be of
  // 2^-126.
  constexpr int32_t kLeastSum = 2 * 134 - 126;
  Value sum = arith::AddIOp::create(f.b, f.loc, a, b);
  Value normal =
      arith::AndIOp::create(f.b, f.loc, atLeast(a, 1), atLeast(b, 1));
  return arith::AndIOp::create(f.b, f.loc, normal, atLeast(sum, kLeastSum));
}

} // namespace tessera::lowering::cpu
