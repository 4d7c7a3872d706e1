// What the math functions should give, and the distance from it in units in the
// last place.
#pragma once
#include <string>
#include <vector>

namespace tessera::test {

/// The function in extended precision (64-bit mantissa), exact to about 0.5
/// units of that; `y` for powf only.
using Reference = long double (*)(long double x, long double y);

/// The reference of math.`op`; asserts that there is one.
Reference referenceOf(const std::string &op);
/// The same in double, good enough to judge f32 and several times faster.
using FastReference = double (*)(double x, double y);
FastReference fastReferenceOf(const std::string &op);

/// |got - want| in units in the last place of T at `want`. Infinite if one of
/// them is NaN and the other is not, or if zero has the wrong sign. A `want`
/// beyond the largest number counts as infinity, and infinity as 2^(emax + 1).
template <typename T> double ulpError(T got, long double want);

/// Operands worth trying: special values, every power of two with its
/// neighbours, `perBinade` random mantissas of both signs in each binade, and
/// `around` neighbours of the thresholds of all functions.
template <typename T> std::vector<T> sampleOperands(int perBinade, int around);

} // namespace tessera::test
