// Random inputs: from a seed, the same on every machine.
#include "test/Numerics/driver/Inputs.h"
#include "lowering/Reference/Tensor.h"
#include "test/Numerics/driver/Random.h"

using namespace mlir;

namespace tessera::numerics {
using namespace lowering::reference;

const char *nameOf(Draw draw) {
  switch (draw) {
  case Draw::plain:
    return "plain";
  case Draw::fewSpecials:
    return "few specials";
  case Draw::anyBits:
    return "any bits";
  case Draw::ties:
    return "ties";
  }
  llvm_unreachable("unknown draw");
}

namespace {
/// Draws elements of type T.
template <typename T> class Elements {
public:
  Elements(Random &random, Draw draw) : random(random), draw(draw) {}

  T next() {
    switch (draw) {
    case Draw::plain:
      return plain();
    case Draw::fewSpecials:
      return random.below(16) ? plain() : special();
    case Draw::anyBits:
      return random.below(2) ? anyBits() : special();
    case Draw::ties:
      return number(random.pick({-1.0, -0.0, 0.0, 1.0, 2.0}));
    }
    llvm_unreachable("unknown draw");
  }
  T inRange(double low, double high) {
    if constexpr (isReal<T>)
      return number(low + (high - low) * random.unit());
    return number(std::floor(low + (high - low + 1) * random.unit()));
  }

private:
  static T number(double x) {
    if constexpr (isReal<T>)
      return T(x);
    else if constexpr (std::same_as<T, bool>)
      return x != 0;
    else
      return T(int64_t(x));
  }
  T plain() {
    if constexpr (!isReal<T>)
      return number(double(random.below(17)) - 8);
    double magnitude = std::ldexp(1 + random.unit(), int(random.below(9)) - 5);
    return number(random.below(2) ? magnitude : -magnitude);
  }
  T anyBits() {
    if constexpr (std::same_as<T, bool>)
      return random.below(2);
    T x;
    uint64_t bits = random.bits();
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  T special() {
    if constexpr (!isReal<T>) {
      return random.pick<T>({T(0), T(1), T(-1), std::numeric_limits<T>::min(),
                             std::numeric_limits<T>::max()});
    } else {
      // NaN, infinity, zero, one, the least and greatest denormal, the least
      // normal, the greatest finite number.
      unsigned significand = std::same_as<T, double>  ? 52
                             : std::same_as<T, float> ? 23
                             : std::same_as<T, Half>  ? 10
                                                      : 7;
      uint64_t infinity = exponentMask(significand), normal = uint64_t(1)
                                                              << significand;
      uint64_t bits =
          random.pick({infinity | (normal >> 1), infinity, uint64_t(0),
                       uint64_t(1), normal - 1, normal, infinity - 1});
      bits |= uint64_t(random.below(2)) << (8 * sizeof(T) - 1);
      T x;
      std::memcpy(&x, &bits, sizeof x);
      return x;
    }
  }
  static uint64_t exponentMask(unsigned significand) {
    return ((uint64_t(1) << (8 * sizeof(T) - 1)) - 1) &
           ~((uint64_t(1) << significand) - 1);
  }

  Random &random;
  Draw draw;
};

double numberOf(Attribute attr) {
  if (auto real = dyn_cast<FloatAttr>(attr))
    return real.getValueAsDouble();
  return double(cast<IntegerAttr>(attr).getInt());
}
} // namespace

lowering::TensorBytes bytesOfElements(DenseElementsAttr elements) {
  Tensor tensor(elements.getType());
  withElementType(tensor.element(), [&](auto tag) {
    using T = decltype(tag);
    auto out = tensor.as<T>();
    if constexpr (isReal<T>) {
      for (auto [i, value] : llvm::enumerate(elements.getValues<APFloat>())) {
        uint64_t bits = value.bitcastToAPInt().getZExtValue();
        std::memcpy(&out[i], &bits, sizeof(T));
      }
    } else {
      for (auto [i, value] : llvm::enumerate(elements.getValues<APInt>()))
        out[i] = static_cast<T>(value.getSExtValue());
    }
  });
  return tensor.raw();
}

lowering::TensorBytes makeInput(func::FuncOp function, unsigned number,
                                Draw draw, uint64_t seed) {
  if (auto values =
          function.getArgAttrOfType<DenseElementsAttr>(number, "test.values"))
    return bytesOfElements(values);
  Random random(Random(seed * 1000003 + number * 31 + unsigned(draw)).bits());
  auto range = function.getArgAttrOfType<ArrayAttr>(number, "test.range");
  Tensor tensor(function.getArgumentTypes()[number]);
  withElementType(tensor.element(), [&](auto tag) {
    using T = decltype(tag);
    Elements<T> elements(random, draw);
    for (T &x : tensor.as<T>())
      x = range ? elements.inRange(numberOf(range[0]), numberOf(range[1]))
                : elements.next();
  });
  return tensor.raw();
}

std::vector<lowering::TensorBytes> makeInputs(func::FuncOp function, Draw draw,
                                              uint64_t seed) {
  std::vector<lowering::TensorBytes> inputs;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    inputs.push_back(makeInput(function, i, draw, seed));
  return inputs;
}

} // namespace tessera::numerics
