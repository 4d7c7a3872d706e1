// Shapes: small vectors of dimensions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <ostream>
#include <ranges>
#include <span>
#include <string>
#include <vector>

namespace tessera {

/// The dimensions of a tensor, outermost first. Up to six take no memory of
/// their own.
class Shape {
public:
  using value_type = int64_t;
  using iterator = int64_t *;
  using const_iterator = const int64_t *;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims)
      : Shape(dims.begin(), dims.end()) {}
  Shape(std::span<const int64_t> dims) : Shape(dims.begin(), dims.end()) {}
  Shape(const std::vector<int64_t> &dims) : Shape(dims.begin(), dims.end()) {}
  template <std::forward_iterator Iterator>
  Shape(Iterator first, Iterator last)
      : count(uint32_t(std::distance(first, last))) {
    if (count > kInline)
      more.resize(count);
    std::copy(first, last, begin());
  }

  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  int64_t *begin() { return count > kInline ? more.data() : few; }
  int64_t *end() { return begin() + count; }
  const int64_t *begin() const { return count > kInline ? more.data() : few; }
  const int64_t *end() const { return begin() + count; }
  int64_t &operator[](size_t i) { return begin()[i]; }
  int64_t operator[](size_t i) const { return begin()[i]; }
  int64_t front() const { return begin()[0]; }
  int64_t back() const { return begin()[count - 1]; }

  void push_back(int64_t dim) {
    if (count == kInline)
      more.assign(few, few + count);
    if (count >= kInline)
      more.push_back(dim);
    else
      few[count] = dim;
    ++count;
  }

  operator std::span<const int64_t>() const { return {begin(), count}; }

  /// The number of elements.
  int64_t elements() const {
    int64_t product = 1;
    for (int64_t dim : *this)
      product *= dim;
    return product;
  }

  /// "[2,3]"
  std::string str() const;

  friend bool operator==(const Shape &a, const Shape &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

private:
  static constexpr uint32_t kInline = 6;
  int64_t few[kInline] = {};
  uint32_t count = 0;
  std::vector<int64_t> more;
};

std::ostream &operator<<(std::ostream &os, const Shape &shape);

} // namespace tessera
