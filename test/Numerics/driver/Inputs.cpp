// Random inputs: from a seed, the same on every machine.
#include "test/Numerics/driver/Inputs.h"
#include "lowering/Reference/Tensor.h"

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
/// SplitMix64. Source: Steele et al., "Fast splittable pseudorandom number
/// generators", OOPSLA 2014.
class Generator {
public:
  explicit Generator(uint64_t seed) : state(seed) {}
  uint64_t bits() {
    uint64_t z = (state += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  /// In [0, count).
  uint64_t below(uint64_t count) { return bits() % count; }
  /// In [0, 1).
  double unit() { return double(bits() >> 11) * 0x1p-53; }
  template <typename T, size_t n> T pick(const T (&choices)[n]) {
    return choices[below(n)];
  }

private:
  uint64_t state;
};

/// Draws elements of type T.
template <typename T> class Elements {
public:
  Elements(Generator &random, Draw draw) : random(random), draw(draw) {}

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

  Generator &random;
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

std::vector<lowering::TensorBytes> makeInputs(func::FuncOp function, Draw draw,
                                              uint64_t seed) {
  std::vector<lowering::TensorBytes> inputs;
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (auto values = function.getArgAttrOfType<DenseElementsAttr>(
            number, "test.values")) {
      inputs.push_back(bytesOfElements(values));
      continue;
    }
    Generator random(
        Generator(seed * 1000003 + number * 31 + unsigned(draw)).bits());
    auto range = function.getArgAttrOfType<ArrayAttr>(number, "test.range");
    Tensor tensor(type);
    withElementType(tensor.element(), [&](auto tag) {
      using T = decltype(tag);
      Elements<T> elements(random, draw);
      for (T &x : tensor.as<T>())
        x = range ? elements.inRange(numberOf(range[0]), numberOf(range[1]))
                  : elements.next();
    });
    inputs.push_back(tensor.raw());
  }
  return inputs;
}

} // namespace tessera::numerics
