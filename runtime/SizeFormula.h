// Numbers of a program that depend on its symbolic dimensions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::runtime {

// constant + the sum of times * ceil((coefficient * dims[symbol] + plus) /
// divisor) over the terms.
struct SizeFormula {
  struct Term {
    int64_t symbol = 0, times = 1, coefficient = 1, plus = 0, divisor = 1;
    bool operator==(const Term &) const = default;
  };
  int64_t constant = 0;
  std::vector<Term> terms = {};

  bool isConstant() const { return terms.empty(); }
  int64_t at(const int64_t *dims) const {
    int64_t value = constant;
    for (const Term &term : terms) {
      int64_t size = term.coefficient * dims[term.symbol] + term.plus;
      value += term.times * ((size + term.divisor - 1) / term.divisor);
    }
    return value;
  }
  bool operator==(const SizeFormula &) const = default;
};

// A place in the arena: constant + the sum of per[s] * dims[s], rounded down to
// a multiple of 64 if any of these is not zero.
inline int64_t offsetAt(int64_t constant, const std::vector<int64_t> &per,
                        const int64_t *dims) {
  if (per.empty())
    return constant;
  for (size_t s = 0; s < per.size(); ++s)
    constant += per[s] * dims[s];
  return constant & -64;
}

// A dimension of an input or output that depends on a symbol: coefficient *
// dims[symbol] + constant.
struct SymbolicDim {
  int64_t dim = 0, symbol = 0, coefficient = 1, constant = 0;
  int64_t at(const int64_t *dims) const {
    return coefficient * dims[symbol] + constant;
  }
};

// A symbol of a program: its name, the least size it may have, what is wrong
// with a smaller one, and the greatest that the code covers.
struct SymbolInfo {
  std::string name;
  int64_t least = 0;
  std::string why = {};
  int64_t most = int64_t(1) << 30;

  // "at least 3 (below that a size would be negative) and at most 1073741824"
  std::string rangeText() const {
    return "at least " + std::to_string(least) +
           (why.empty() ? "" : " (below that " + why + ")") + " and at most " +
           std::to_string(most);
  }
};

} // namespace tessera::runtime
