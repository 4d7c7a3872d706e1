// The numbers that stand for symbolic dimensions while a program is compiled.
//
// A size that is known only when the program is called is, inside the compiler,
// a number like any other: a prime of 33 bits, its stand-in. So every shape
// rule, folder and cost works on it as it is. What is computed from it by sums
// and products is read back as `coefficient * symbol + constant`; what is not
// (a quotient, a rounded size) differs between the two sets of stand-ins, which
// is how code that is wrong for other sizes is found (see
// lowering/Kernels/Symbolic.h).
#ifndef TESSERA_IR_STANDINS_H
#define TESSERA_IR_STANDINS_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace tessera::ir {

/// Symbols that a program has at most.
constexpr unsigned kMaxSymbols = 4;

/// coefficient * symbol + constant.
struct Extent {
  int64_t coefficient = 0, constant = 0;
  unsigned symbol = 0;

  bool isSymbolic() const { return coefficient != 0; }
  int64_t at(llvm::ArrayRef<int64_t> dims) const {
    return constant + (isSymbolic() ? coefficient * dims[symbol] : 0);
  }
};

/// While it lives, this thread reads numbers as made of the stand-ins of one
/// set for `symbols` symbols. Without one every number is just that.
class StandIns {
public:
  enum Set : unsigned { first, second };
  explicit StandIns(unsigned symbols, Set set = first)
      : outerCount(activeCount), outerSet(activeSet) {
    activeCount = symbols;
    activeSet = set;
  }
  ~StandIns() {
    activeCount = outerCount;
    activeSet = outerSet;
  }
  StandIns(const StandIns &) = delete;
  StandIns &operator=(const StandIns &) = delete;

  /// Symbols that this thread's numbers are made of.
  static unsigned count() { return activeCount; }
  /// The stand-in of a symbol.
  static int64_t of(unsigned symbol) { return kNumbers[activeSet][symbol]; }

private:
  /// Primes above the size of any tensor that a program states. Those of the
  /// two sets leave other remainders by 3, 5, 7 and the powers of two from 2
  /// on, and so are rounded and divided differently.
  static constexpr int64_t kNumbers[2][kMaxSymbols] = {
      {8847634001, 9706627097, 11081016481, 12283607081},
      {14688788459, 15719581231, 16406775731, 13657996087}};
  static inline thread_local unsigned activeCount = 0;
  static inline thread_local Set activeSet = first;

  unsigned outerCount;
  Set outerSet;
};

/// The number that stands for an extent.
inline int64_t numberOf(Extent extent) {
  return extent.constant +
         (extent.isSymbolic() ? extent.coefficient * StandIns::of(extent.symbol)
                              : 0);
}

/// What a number stands for.
inline Extent extentOf(int64_t number) {
  // Constants that may stand beside a symbol: more than any offset inside a
  // tensor, less than half a stand-in.
  constexpr int64_t kMostConstant = int64_t(1) << 31;
  // More than any multiple of a stand-in, so that nothing below overflows.
  constexpr int64_t kMostNumber = int64_t(1) << 62;
  Extent best{0, number, 0};
  bool isDynamic = number == std::numeric_limits<int64_t>::min();
  if (isDynamic || std::abs(number) < kMostConstant ||
      std::abs(number) > kMostNumber)
    return best;
  int64_t least = kMostConstant;
  for (unsigned symbol = 0; symbol < StandIns::count(); ++symbol) {
    int64_t unit = StandIns::of(symbol),
            half = number < 0 ? -unit / 2 : unit / 2;
    int64_t coefficient = (number + half) / unit,
            constant = number - coefficient * unit;
    if (coefficient == 0 || std::abs(constant) >= least)
      continue;
    least = std::abs(constant);
    best = {coefficient, constant, symbol};
  }
  return best;
}

inline bool isSymbolic(int64_t number) { return extentOf(number).isSymbolic(); }

/// A size to decide by what is fast: that of a symbol of middling size.
inline int64_t likely(int64_t number) {
  Extent extent = extentOf(number);
  return extent.constant + 64 * extent.coefficient;
}

} // namespace tessera::ir

#endif
