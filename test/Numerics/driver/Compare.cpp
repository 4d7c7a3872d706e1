// Comparison by units in the last place.
#include "test/Numerics/driver/Compare.h"
#include "lowering/Reference/Tensor.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tessera::numerics {
using namespace lowering::reference;

template <typename T> static uint64_t bitsOf(T x) {
  uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  return bits;
}

/// Steps between two floats in the order of all floats, -0 and 0 being
/// neighbours.
template <typename T> static uint64_t distance(T a, T b) {
  auto place = [](T x) {
    uint64_t sign = uint64_t(1) << (8 * sizeof(T) - 1), bits = bitsOf(x);
    return bits & sign ? sign - 1 - (bits ^ sign) : sign + bits;
  };
  uint64_t x = place(a), y = place(b);
  return x > y ? x - y : y - x;
}

template <typename T> static double apart(T a, T b) {
  return std::fabs(double(static_cast<Compute<T>>(a)) -
                   double(static_cast<Compute<T>>(b)));
}

template <typename T> static bool isNaN(T x) {
  if constexpr (isReal<T>)
    return std::isnan(static_cast<Compute<T>>(x));
  return false;
}

template <typename T> static std::string text(T x) {
  std::string bits = "0x" + llvm::utohexstr(bitsOf(x), true, 2 * sizeof(T));
  if constexpr (isReal<T>) {
    char number[40];
    std::snprintf(number, sizeof number, "%.17g",
                  double(static_cast<Compute<T>>(x)));
    return number + (" (" + bits + ")");
  } else {
    return std::to_string(x) + " (" + bits + ")";
  }
}

static std::string indexText(int64_t position, ArrayRef<int64_t> shape) {
  SmallVector<std::string> parts;
  for (int64_t size : llvm::reverse(shape)) {
    parts.push_back(std::to_string(position % size));
    position /= size;
  }
  std::reverse(parts.begin(), parts.end());
  return "[" + llvm::join(parts, ", ") + "]";
}

std::optional<std::string>
firstDifference(Type type, const lowering::TensorBytes &expected,
                const lowering::TensorBytes &actual, Tolerance tolerance) {
  if (expected.size() != actual.size())
    return std::to_string(actual.size()) + " bytes instead of " +
           std::to_string(expected.size());
  Tensor a(type, expected), b(type, actual);
  return withElementType(
      a.element(), [&](auto tag) -> std::optional<std::string> {
        using T = decltype(tag);
        for (int64_t i = 0; i < a.size(); ++i) {
          T x = a.as<T>()[i], y = b.as<T>()[i];
          if (bitsOf(x) == bitsOf(y) || (isNaN(x) && isNaN(y)))
            continue;
          bool comparable = isReal<T> && !isNaN(x) && !isNaN(y);
          if (comparable &&
              ((tolerance.anyZero && apart(x, y) == 0) ||
               distance(x, y) <= uint64_t(tolerance.ulp) ||
               (tolerance.absolute > 0 && apart(x, y) <= tolerance.absolute)))
            continue;
          std::string steps =
              comparable ? ", " + std::to_string(distance(x, y)) + " ulp apart"
                         : "";
          return "at " + indexText(i, a.shape()) + ": " + text(x) +
                 " expected, " + text(y) + " found" + steps;
        }
        return std::nullopt;
      });
}

} // namespace tessera::numerics
