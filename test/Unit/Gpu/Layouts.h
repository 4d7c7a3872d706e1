// Tests that are run for products of each layout of the operands.
#pragma once
#include "test/Unit/Gpu/Harness.h"
#include "gtest/gtest.h"

namespace tessera::test {

/// A product of these sizes, with plain or transposed operands.
inline ProductText sizes(int64_t m, int64_t n, int64_t k, bool transA = false,
                         bool transB = false) {
  ProductText text;
  text.m = m, text.n = n, text.k = k;
  text.transA = transA, text.transB = transB;
  return text;
}

/// The parameter says which of A and B are transposed.
class LayoutTest : public testing::TestWithParam<std::pair<bool, bool>> {
protected:
  ProductText sizes(int64_t m, int64_t n, int64_t k) {
    return test::sizes(m, n, k, GetParam().first, GetParam().second);
  }
};

inline const auto kLayouts =
    testing::Values(std::pair(false, false), std::pair(false, true),
                    std::pair(true, false), std::pair(true, true));

} // namespace tessera::test
