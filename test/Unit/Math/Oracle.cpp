// References from the C library in extended precision, and the measure of
// error.
#include "Oracle.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <type_traits>

namespace tessera::test {

Reference referenceOf(const std::string &op) {
#define UNARY(name, f)                                                         \
  {                                                                            \
    name, [](long double x, long double) -> long double { return f; }          \
  }
  static const std::map<std::string, Reference> table = {
      UNARY("exp", expl(x)),        UNARY("exp2", exp2l(x)),
      UNARY("expm1", expm1l(x)),    UNARY("log", logl(x)),
      UNARY("log2", log2l(x)),      UNARY("log10", log10l(x)),
      UNARY("log1p", log1pl(x)),    UNARY("tanh", tanhl(x)),
      UNARY("erf", erfl(x)),        UNARY("sin", sinl(x)),
      UNARY("cos", cosl(x)),        UNARY("rsqrt", 1 / sqrtl(x)),
      UNARY("floor", floorl(x)),    UNARY("ceil", ceill(x)),
      UNARY("trunc", truncl(x)),    UNARY("round", roundl(x)),
      UNARY("roundeven", rintl(x)), {"powf", powl}};
#undef UNARY
  auto found = table.find(op);
  assert(found != table.end());
  return found->second;
}

FastReference fastReferenceOf(const std::string &op) {
#define UNARY(name, f)                                                         \
  {                                                                            \
    name, [](double x, double) -> double { return f; }                         \
  }
  static const std::map<std::string, FastReference> table = {
      UNARY("exp", exp(x)),        UNARY("exp2", exp2(x)),
      UNARY("expm1", expm1(x)),    UNARY("log", log(x)),
      UNARY("log2", log2(x)),      UNARY("log10", log10(x)),
      UNARY("log1p", log1p(x)),    UNARY("tanh", tanh(x)),
      UNARY("erf", erf(x)),        UNARY("sin", sin(x)),
      UNARY("cos", cos(x)),        UNARY("rsqrt", 1 / sqrt(x)),
      UNARY("floor", floor(x)),    UNARY("ceil", ceil(x)),
      UNARY("trunc", trunc(x)),    UNARY("round", round(x)),
      UNARY("roundeven", rint(x)), {"powf", pow}};
#undef UNARY
  auto found = table.find(op);
  assert(found != table.end());
  return found->second;
}

template <typename T> double ulpError(T got, long double want) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) && std::isnan(got) ? 0 : wrong;
  if (want == 0)
    return got == 0 && std::signbit(got) == std::signbit(want) ? 0 : wrong;
  using Limits = std::numeric_limits<T>;
  if (got == T(want)) // also both infinite
    return std::isinf(got)
               ? 0
               : std::abs(double(
                     (got - want) /
                     std::ldexp(1.0L, std::max(std::ilogb(want),
                                               Limits::min_exponent - 1) -
                                          Limits::digits + 1)));
  long double beyond = std::ldexp(1.0L, Limits::max_exponent);
  auto finite = [&](long double x) { return std::clamp(x, -beyond, beyond); };
  long double a = finite(got), b = finite(want);
  int exponent = std::clamp(std::ilogb(b), Limits::min_exponent - 1,
                            Limits::max_exponent - 1);
  return std::abs(
      double((a - b) / std::ldexp(1.0L, exponent - Limits::digits + 1)));
}

template <typename T> std::vector<T> sampleOperands(int perBinade, int around) {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr int mantissa = Limits::digits - 1;
  std::vector<T> xs = {0,
                       Limits::infinity(),
                       Limits::quiet_NaN(),
                       Limits::max(),
                       Limits::denorm_min(),
                       0.5,
                       1,
                       1.5,
                       2,
                       3,
                       7,
                       10,
                       0.1};
  std::mt19937_64 random(12345);
  auto fromBits = [](Bits bits) { return __builtin_bit_cast(T, bits); };
  // NaNs of all kinds: their low bits must not end as an exponent.
  for (int i = 0; i < 200; ++i)
    xs.push_back(fromBits(__builtin_bit_cast(Bits, Limits::infinity()) |
                          (random() & ((Bits(1) << mantissa) - 1)) | 1));
  for (Bits exponent = 0;
       exponent < (Bits(1) << (8 * sizeof(T) - 1 - mantissa)) - 1; ++exponent) {
    Bits low = exponent << mantissa;
    for (int i = -1; i <= 1; ++i)
      if (low || i >= 0)
        xs.push_back(fromBits(low + i));
    for (int i = 0; i < perBinade; ++i)
      xs.push_back(fromBits(low | (random() & ((Bits(1) << mantissa) - 1))));
  }
  // Thresholds of the functions and of their expansions, multiples of pi/2,
  // integers, and powers of ten.
  std::vector<double> thresholds = {88.7228394,
                                    103.972084,
                                    87.3365448,
                                    709.782712893384,
                                    745.1332191019411,
                                    708.3964185322641,
                                    128,
                                    149,
                                    150,
                                    1024,
                                    1074,
                                    1075,
                                    9.01,
                                    9.25,
                                    19.06,
                                    19.25,
                                    0.6,
                                    0.85,
                                    3.92,
                                    5.92,
                                    17.32,
                                    37.4,
                                    0.70710678118654757,
                                    1.4142135623730951,
                                    8388608,
                                    4503599627370496,
                                    0.34657359,
                                    16777216,
                                    9007199254740992};
  for (int k = 1; k < 60; ++k)
    thresholds.push_back(k * 1.5707963267948966),
        thresholds.push_back(std::ldexp(1.5707963267948966, k)),
        thresholds.push_back(k), thresholds.push_back(std::pow(10.0, k - 30)),
        thresholds.push_back(k * 0.34657359027997264);
  for (double threshold : thresholds) {
    T x = T(threshold);
    if (!std::isfinite(x))
      continue;
    Bits bits = __builtin_bit_cast(Bits, x);
    for (int i = -around; i <= around; ++i)
      xs.push_back(fromBits(bits + i));
    for (int i = 0; i < 4 * around; ++i)
      xs.push_back(x *
                   T(1 + std::ldexp(double(int64_t(random())), -63 - i % 20)));
  }
  size_t positive = xs.size();
  for (size_t i = 0; i < positive; ++i)
    xs.push_back(-xs[i]);
  return xs;
}

template double ulpError(float, long double);
template double ulpError(double, long double);
template std::vector<float> sampleOperands<float>(int, int);
template std::vector<double> sampleOperands<double>(int, int);

} // namespace tessera::test
