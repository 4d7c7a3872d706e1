// Payne and Hanek's reduction of large arguments by pi/2, in integers, one lane
// at a time. It is rare and long, so it stands in a function apart, once for
// each type in a module.
#include "lowering/Math/Functions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tessera::lowering::vmath {

// 64 zero bits, then the first 1,216 bits of 2/pi.
static const uint64_t twoOverPi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
    0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

namespace {
/// The two halves of a 128-bit product.
struct Wide {
  Val low, high;
};
} // namespace

static Wide multiply(Val a, Val b) {
  auto product =
      arith::MulUIExtendedOp::create(a.e->builder, a.e->loc, a.v, b.v);
  return {{a.e, product.getLow()}, {a.e, product.getHigh()}};
}

static Val convertSigned(Val i) {
  OpBuilder &b = i.e->builder;
  return {i.e, arith::SIToFPOp::create(b, i.e->loc, b.getF64Type(), i.v)};
}

static Operation *symbolTableAt(OpBuilder &b) {
  Operation *table =
      SymbolTable::getNearestSymbolTable(b.getInsertionBlock()->getParentOp());
  assert(table && "math operations are inside a module");
  return table;
}

/// The table in memory, once a module.
static Value tableOf(Emitter &e) {
  constexpr StringLiteral name = "tessera.two_over_pi";
  int64_t size = std::size(twoOverPi);
  Type word = e.builder.getI64Type();
  auto type = MemRefType::get({size}, word);
  Operation *symbols = symbolTableAt(e.builder);
  if (!SymbolTable::lookupSymbolIn(symbols, name)) {
    OpBuilder b = OpBuilder::atBlockBegin(&symbols->getRegion(0).front());
    auto values = DenseElementsAttr::get(RankedTensorType::get({size}, word),
                                         ArrayRef<uint64_t>(twoOverPi));
    memref::GlobalOp::create(b, e.loc, name, b.getStringAttr("private"), type,
                             values, /*constant=*/true,
                             /*alignment=*/b.getI64IntegerAttr(64));
  }
  return memref::GetGlobalOp::create(e.builder, e.loc, type, name);
}

/// 192 bits of 2/pi, from bit `start` on, highest word first.
static std::array<Val, 3> windowOf(Val start) {
  Emitter &e = *start.e;
  Value table = tableOf(e);
  Val word = start >> 6, shift = start & 63;
  auto load = [&](int i) -> Val {
    Value at = arith::IndexCastOp::create(
        e.builder, e.loc, e.builder.getIndexType(), (word + i).v);
    return {&e, memref::LoadOp::create(e.builder, e.loc, table, at)};
  };
  // Two shifts right in place of one by 64 - shift, which might be 64.
  auto join = [&](Val high, Val low) {
    return (high << shift) | ((low >> 1) >> (63 - shift));
  };
  Val w[] = {load(0), load(1), load(2), load(3)};
  return {join(w[0], w[1]), join(w[1], w[2]), join(w[2], w[3])};
}

/// The reduction of one a >= 2^16. Infinity and NaN give NaN.
static Quadrant reduceLarge(Val a) {
  if (a.isF32()) {
    Quadrant wide = reduceLarge(widen(a));
    Val r = narrow(wide.r);
    Value n = arith::TruncIOp::create(a.e->builder, a.e->loc,
                                      a.e->builder.getI32Type(), wide.n.v);
    return {{a.e, n}, r, narrow((wide.r - widen(r)) + wide.low)};
  }
  // a = mantissa * 2^(exponent - 1075). The bits of 2/pi that make whole
  // multiples of 4 are left out.
  Val bits = bitsOf(a);
  Val mantissa = (bits & 0xfffffffffffff) | 0x10000000000000;
  auto [w0, w1, w2] = windowOf((bits >> 52) - 1013);
  // (top, next) = a * 2/pi modulo 4, in units of 2^-62 and 2^-126.
  Val carried = multiply(mantissa, w2).high;
  Wide middle = multiply(mantissa, w1);
  Val next = middle.low + carried;
  Val carry{a.e, arith::CmpIOp::create(a.e->builder, a.e->loc,
                                       arith::CmpIPredicate::ult, next.v,
                                       carried.v)};
  Val top = mantissa * w0 + middle.high + select(carry, 1, next.integer(0));
  Val n = (top + (int64_t(1) << 61)) >> 62;
  Val fraction = top - (n << 62); // -1/2 to 1/2
  // The fraction as an exact sum of three, then of two.
  Val shifted{a.e, arith::ShRSIOp::create(a.e->builder, a.e->loc, fraction.v,
                                          fraction.integer(10).v)};
  Val first = convertSigned(shifted) * 0x1p-52;
  Val second =
      convertSigned(((fraction & 0x3ff) << 43) | (next >> 21)) * 0x1p-105;
  Val third = convertSigned(next & 0x1fffff) * 0x1p-126;
  auto [high, rest] = fastTwoSum(first, second);
  rest = rest + third;
  constexpr double halfPi = 0x1.921fb54442d18p0,
                   halfPiLow = 0x1.1a62633145c07p-54;
  auto [r, error] = twoProduct(high, high.number(halfPi));
  return {n, r + (a - a), fma(high, halfPiLow, fma(rest, halfPi, error))};
}

static func::FuncOp functionFor(Val a, TypeRange results, double limit);

/// (a, n, r, low) to (n, r, low) with each lane beyond the limit reduced.
static void buildBody(Emitter &e, ValueRange args, double limit) {
  OpBuilder &b = e.builder;
  auto vector = dyn_cast<VectorType>(args[0].getType());
  if (!vector) {
    auto [n, r, low] = reduceLarge({&e, args[0]});
    func::ReturnOp::create(b, e.loc, ValueRange{n.v, r.v, low.v});
    return;
  }
  SmallVector<Value> all(args.drop_front());
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    SmallVector<Value> lane{vector::ExtractOp::create(b, e.loc, args[0], i)};
    for (Value value : all)
      lane.push_back(vector::ExtractOp::create(b, e.loc, value, i));
    Quadrant mended = mendLargeLanes(
        {&e, lane[0]}, {{&e, lane[1]}, {&e, lane[2]}, {&e, lane[3]}}, limit);
    const Val parts[] = {mended.n, mended.r, mended.low};
    for (auto [part, value] : llvm::zip_equal(parts, all))
      value = vector::InsertOp::create(b, e.loc, part.v, value, i);
  }
  func::ReturnOp::create(b, e.loc, all);
}

/// Finds or makes the function for values of `a`'s type.
static func::FuncOp functionFor(Val a, TypeRange results, double limit) {
  Emitter &e = *a.e;
  Operation *table = symbolTableAt(e.builder);
  std::string name = a.isF32() ? "tessera.angle.f32" : "tessera.angle.f64";
  if (auto vector = dyn_cast<VectorType>(a.type()))
    name += "x" + std::to_string(vector.getNumElements());
  if (Operation *found = SymbolTable::lookupSymbolIn(table, name))
    return cast<func::FuncOp>(found);
  OpBuilder b = OpBuilder::atBlockEnd(&table->getRegion(0).front());
  SmallVector<Type> arguments{a.type()};
  llvm::append_range(arguments, results);
  auto function = func::FuncOp::create(b, e.loc, name,
                                       b.getFunctionType(arguments, results));
  function.setPrivate();
  function.setNoInline(true);
  // Keeps the registers of the loop around a call free of what only the call
  // needs.
  function->setAttr("passthrough", b.getStrArrayAttr({"cold"}));
  b.setInsertionPointToStart(function.addEntryBlock());
  Emitter inner{b, e.loc, e.target, e.cache};
  buildBody(inner, function.getArguments(), limit);
  return function;
}

Quadrant mendLargeLanes(Val a, const Quadrant &fast, double limit) {
  OpBuilder &b = a.e->builder;
  Location loc = a.e->loc;
  Value large = ((a <= limit) ^ 1).v; // NaN too
  if (isa<VectorType>(large.getType()))
    large =
        vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, large);
  SmallVector<Value> args{a.v, fast.n.v, fast.r.v, fast.low.v};
  auto results = ValueRange(args).drop_front();
  func::FuncOp function = functionFor(a, results.getTypes(), limit);
  auto branch = scf::IfOp::create(
      b, loc, large,
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(
            inner, loc,
            func::CallOp::create(inner, loc, function, args).getResults());
      },
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(inner, loc, results);
      });
  return {{a.e, branch.getResult(0)},
          {a.e, branch.getResult(1)},
          {a.e, branch.getResult(2)}};
}

} // namespace tessera::lowering::vmath
