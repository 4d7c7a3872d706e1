// Functions that make tensors from nothing but a shape and numbers.
#pragma once

#include "tessera/Tensor.h"

namespace tessera {

/// The shape of nested lists of elements, and the elements in row-major order.
/// Throws ShapeError where lists of one level differ in length.
namespace detail {
template <typename Element> struct Nested {
  std::vector<Element> values;
  Shape shape;
};
Tensor fromNested(const void *values, size_t count, const Shape &shape,
                  DType from, std::optional<DType> dtype,
                  std::source_location place);
[[noreturn]] void throwRagged(std::source_location place);

template <typename Element>
void append(std::vector<Element> &values, Shape &, size_t, const Element &value,
            std::source_location) {
  values.push_back(value);
}
template <typename Element, typename List>
void append(std::vector<Element> &values, Shape &shape, size_t level,
            const std::initializer_list<List> &list,
            std::source_location place) {
  if (shape.size() == level)
    shape.push_back(int64_t(list.size()));
  if (shape[level] != int64_t(list.size()))
    throwRagged(place);
  for (const List &item : list)
    append<Element>(values, shape, level + 1, item, place);
}
template <NativeElement Element, typename List>
Tensor nested(const std::initializer_list<List> &list,
              std::optional<DType> dtype, std::source_location place) {
  std::vector<Element> values;
  Shape shape;
  append<Element>(values, shape, 0, list, place);
  if constexpr (std::is_same_v<Element, bool>) {
    std::vector<uint8_t> bytes(values.begin(), values.end());
    return fromNested(bytes.data(), bytes.size(), shape, boolean, dtype, place);
  } else {
    return fromNested(values.data(), values.size(), shape, dtypeOf<Element>,
                      dtype, place);
  }
}
} // namespace detail

/// A tensor with the elements of nested lists, which must be of equal lengths:
/// `tensor({{1.f, 2.f}, {3.f, 4.f}})`. Its dtype is that of the elements, but
/// f32 for doubles, unless one is given.
template <NativeElement Element>
  requires std::is_arithmetic_v<Element>
Tensor tensor(Element value, std::optional<DType> dtype = none,
              std::source_location place = std::source_location::current()) {
  return detail::fromNested(&value, 1, {}, dtypeOf<Element>, dtype, place);
}
template <NativeElement Element>
Tensor tensor(std::initializer_list<Element> list,
              std::optional<DType> dtype = none,
              std::source_location place = std::source_location::current()) {
  return detail::nested<Element>(list, dtype, place);
}
template <NativeElement Element>
Tensor tensor(std::initializer_list<std::initializer_list<Element>> list,
              std::optional<DType> dtype = none,
              std::source_location place = std::source_location::current()) {
  return detail::nested<Element>(list, dtype, place);
}
template <NativeElement Element>
Tensor tensor(
    std::initializer_list<std::initializer_list<std::initializer_list<Element>>>
        list,
    std::optional<DType> dtype = none,
    std::source_location place = std::source_location::current()) {
  return detail::nested<Element>(list, dtype, place);
}
template <NativeElement Element>
Tensor tensor(std::initializer_list<std::initializer_list<
                  std::initializer_list<std::initializer_list<Element>>>>
                  list,
              std::optional<DType> dtype = none,
              std::source_location place = std::source_location::current()) {
  return detail::nested<Element>(list, dtype, place);
}

Tensor zeros(const Shape &shape, DType dtype = f32,
             std::source_location place = std::source_location::current());
Tensor ones(const Shape &shape, DType dtype = f32,
            std::source_location place = std::source_location::current());
/// `value` everywhere; without a dtype that of the number.
Tensor full(const Shape &shape, const Operand &value,
            std::optional<DType> dtype = none);
Tensor zeros_like(const Operand &x, std::optional<DType> dtype = none);
Tensor ones_like(const Operand &x, std::optional<DType> dtype = none);
Tensor full_like(const Operand &x, const Operand &value,
                 std::optional<DType> dtype = none);

/// start, start + step, ... before stop. Throws ValueError for a step of 0.
Tensor arange(const Operand &start, const Operand &stop,
              const Operand &step = 1, std::optional<DType> dtype = none);
/// 0, 1, ... before stop.
Tensor arange(const Operand &stop, std::optional<DType> dtype = none);
/// `count` numbers at equal distances from start to stop, both included unless
/// `endpoint` is false.
Tensor linspace(const Operand &start, const Operand &stop, int64_t count,
                DType dtype = f32, bool endpoint = true);
/// A matrix with ones on diagonal k (above the main one if positive).
Tensor eye(int64_t rows, std::optional<int64_t> columns = none, int64_t k = 0,
           DType dtype = f32,
           std::source_location place = std::source_location::current());
/// The lower (upper) triangle of matrices, diagonal k included, zeros
/// elsewhere.
Tensor tril(const Operand &x, int64_t k = 0);
Tensor triu(const Operand &x, int64_t k = 0);
/// A new last dimension with 1 at the position that the integer x holds, 0
/// elsewhere; only zeros for a position outside [0, classes).
Tensor one_hot(const Operand &x, int64_t classes, DType dtype = f32);

} // namespace tessera
