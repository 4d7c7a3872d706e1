// Elementwise ops of the interpreter: each rounds once in its type.
#include "lowering/Reference/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::reference {

/// Applies `fn` to each tuple of elements, read in the type that ops compute
/// in. The operands have one type.
template <typename T, typename R = T, typename Fn>
static Tensor mapAs(Type type, Operands operands, Fn fn) {
  Tensor result(type);
  for (int64_t i = 0; i < result.size(); ++i) {
    auto at = [&](unsigned n) {
      return static_cast<Compute<T>>(operands[n]->as<T>()[i]);
    };
    if constexpr (std::invocable<Fn, Compute<T>>)
      result.as<R>()[i] = static_cast<R>(fn(at(0)));
    else
      result.as<R>()[i] = static_cast<R>(fn(at(0), at(1)));
  }
  return result;
}

/// An op on floats.
template <typename Fn>
static Tensor mapReal(Type type, Operands operands, Fn fn) {
  return withElementType(operands[0]->element(), [&](auto tag) -> Tensor {
    if constexpr (isReal<decltype(tag)>)
      return mapAs<decltype(tag)>(type, operands, fn);
    llvm_unreachable("the op takes floats only");
  });
}

/// A function of one float that is evaluated in a wider type and rounded from
/// there.
template <typename Fn>
static Tensor mapWide(Type type, Operands operands, Fn fn) {
  return mapReal(type, operands, [&]<typename C>(C x) {
    return static_cast<C>(fn(static_cast<Wide<C>>(x)));
  });
}

/// An op on floats and integers, bool included.
template <typename Fn>
static Tensor mapAny(Type type, Operands operands, Fn fn) {
  return withElementType(operands[0]->element(), [&](auto tag) {
    return mapAs<decltype(tag)>(type, operands, fn);
  });
}

/// An op on bits.
template <typename Fn>
static Tensor mapBits(Type type, Operands operands, Fn fn) {
  return withElementType(operands[0]->element(), [&](auto tag) -> Tensor {
    if constexpr (std::integral<decltype(tag)>)
      return mapAs<decltype(tag)>(type, operands, fn);
    llvm_unreachable("the op takes integers only");
  });
}

template <typename C> static C negate(C x) {
  if constexpr (std::floating_point<C>)
    return -x;
  else
    return minus(C(0), x);
}

template <typename C> static C absolute(C x) {
  if constexpr (std::floating_point<C>)
    return std::fabs(x);
  else
    return std::max(x, negate(x));
}

template <typename C> static C divide(C a, C b) {
  if constexpr (std::integral<C>) {
    if (b == 0)
      return 0;
    if (b == static_cast<C>(-1))
      return negate(a);
  }
  return a / b;
}

static Tensor evaluateCompare(CompareOp op, Operands operands) {
  return withElementType(operands[0]->element(), [&](auto tag) {
    return mapAs<decltype(tag), bool>(op.getType(), operands,
                                      [&](auto a, auto b) {
                                        switch (op.getComparison()) {
                                        case Comparison::eq:
                                          return a == b;
                                        case Comparison::ne:
                                          return a != b;
                                        case Comparison::lt:
                                          return a < b;
                                        case Comparison::le:
                                          return a <= b;
                                        case Comparison::gt:
                                          return a > b;
                                        case Comparison::ge:
                                          return a >= b;
                                        }
                                        llvm_unreachable("unknown comparison");
                                      });
  });
}

static Tensor evaluateSelect(SelectOp op, Operands operands) {
  Tensor result(op.getType());
  for (int64_t i = 0; i < result.size(); ++i)
    result.copyElement(i, *operands[operands[0]->as<bool>()[i] ? 1 : 2], i);
  return result;
}

/// Truncates, saturates; NaN gives 0.
template <typename To, typename From> static To toInteger(From x) {
  if (std::isnan(x))
    return 0;
  From limit = std::ldexp(From(1), std::numeric_limits<To>::digits);
  if (x >= limit)
    return std::numeric_limits<To>::max();
  if (x < -limit)
    return std::numeric_limits<To>::min();
  return static_cast<To>(x);
}

/// Converts with one rounding from the exact value.
template <typename To, typename From> static To convert(From x) {
  if constexpr (std::same_as<To, bool>) {
    return x != From(0);
  } else if constexpr (std::integral<From>) {
    return fromInteger<To>(x);
  } else if constexpr (std::integral<To> && std::floating_point<From>) {
    return toInteger<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

static Tensor evaluateConvert(ConvertOp op, Operands operands) {
  return withElementType(operands[0]->element(), [&](auto from) {
    return withElementType(
        tensorType(op.getY()).getElementType(), [&](auto to) {
          using From = decltype(from);
          using To = decltype(to);
          return mapAs<From, To>(op.getType(), operands, [](Compute<From> x) {
            return convert<To>(x);
          });
        });
  });
}

static std::optional<Tensor> evaluateUnary(Operation *op, Type type,
                                           Operands operands) {
  auto wide = [&](auto fn) { return mapWide(type, operands, fn); };
  return llvm::TypeSwitch<Operation *, std::optional<Tensor>>(op)
      .Case<AbsOp>([&](auto) {
        return mapAny(type, operands, [](auto x) { return absolute(x); });
      })
      .Case<NegOp>([&](auto) {
        return mapAny(type, operands, [](auto x) { return negate(x); });
      })
      .Case<NotOp>([&](auto) {
        return mapBits(type, operands, [](auto x) {
          if constexpr (std::same_as<decltype(x), bool>)
            return !x;
          else
            return ~x;
        });
      })
      .Case<SqrtOp>([&](auto) {
        return mapReal(type, operands, [](auto x) { return std::sqrt(x); });
      })
      // The contract's rsqrt is a square root and a division, both rounded.
      .Case<RsqrtOp>([&](auto) {
        return mapReal(type, operands, [](auto x) { return 1 / std::sqrt(x); });
      })
      .Case<ExpOp>(
          [&](auto) { return wide([](auto x) { return std::exp(x); }); })
      .Case<LogOp>(
          [&](auto) { return wide([](auto x) { return std::log(x); }); })
      .Case<TanhOp>(
          [&](auto) { return wide([](auto x) { return std::tanh(x); }); })
      .Case<SinOp>(
          [&](auto) { return wide([](auto x) { return std::sin(x); }); })
      .Case<CosOp>(
          [&](auto) { return wide([](auto x) { return std::cos(x); }); })
      .Case<ErfOp>(
          [&](auto) { return wide([](auto x) { return std::erf(x); }); })
      .Default([](auto) { return std::nullopt; });
}

static std::optional<Tensor> evaluateBinary(Operation *op, Type type,
                                            Operands operands) {
  auto any = [&](auto fn) { return mapAny(type, operands, fn); };
  auto bits = [&](auto fn) { return mapBits(type, operands, fn); };
  return llvm::TypeSwitch<Operation *, std::optional<Tensor>>(op)
      .Case<AddOp>(
          [&](auto) { return any([](auto a, auto b) { return plus(a, b); }); })
      .Case<SubOp>(
          [&](auto) { return any([](auto a, auto b) { return minus(a, b); }); })
      .Case<MulOp>(
          [&](auto) { return any([](auto a, auto b) { return times(a, b); }); })
      .Case<DivOp>([&](auto) {
        return any([](auto a, auto b) { return divide(a, b); });
      })
      .Case<MaxOp>([&](auto) {
        return any([](auto a, auto b) { return greater(a, b); });
      })
      .Case<MinOp>([&](auto) {
        return any([](auto a, auto b) { return lesser(a, b); });
      })
      .Case<PowOp>([&](auto) {
        return mapReal(type, operands, []<typename C>(C a, C b) {
          return static_cast<C>(
              std::pow(static_cast<Wide<C>>(a), static_cast<Wide<C>>(b)));
        });
      })
      .Case<AndOp>(
          [&](auto) { return bits([](auto a, auto b) { return a & b; }); })
      .Case<OrOp>(
          [&](auto) { return bits([](auto a, auto b) { return a | b; }); })
      .Case<XorOp>(
          [&](auto) { return bits([](auto a, auto b) { return a ^ b; }); })
      .Default([](auto) { return std::nullopt; });
}

std::optional<Tensor> evaluateElementwise(Operation *op, Operands operands) {
  if (auto compare = dyn_cast<CompareOp>(op))
    return evaluateCompare(compare, operands);
  if (auto select = dyn_cast<SelectOp>(op))
    return evaluateSelect(select, operands);
  if (auto convert = dyn_cast<ConvertOp>(op))
    return evaluateConvert(convert, operands);
  if (!isa<ScalarOpInterface>(op))
    return std::nullopt;
  Type type = op->getResult(0).getType();
  if (op->getNumOperands() == 1)
    return evaluateUnary(op, type, operands);
  return evaluateBinary(op, type, operands);
}

} // namespace tessera::lowering::reference
