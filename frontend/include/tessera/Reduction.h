// Functions that combine the elements along axes.
#pragma once

#include "tessera/Tensor.h"

#include <concepts>

namespace tessera {

/// Which axes: one, a list, or all. Negative ones count from the end.
class Axes {
public:
  Axes() = default;
  Axes(std::nullopt_t) {}
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  Axes(Integer axis) : given(true), axes{int64_t(axis)} {}
  Axes(std::initializer_list<int64_t> axes) : given(true), axes(axes) {}
  Axes(const std::vector<int64_t> &axes) : given(true), axes(axes) {}

  bool all() const { return !given; }
  const Shape &list() const { return axes; }

private:
  bool given = false;
  Shape axes;
};

/// Integers and bools are summed and multiplied in i64. The sum of nothing is
/// 0, the product 1.
Tensor sum(const Operand &x, const Axes &axis = {}, bool keepdims = false);
Tensor prod(const Operand &x, const Axes &axis = {}, bool keepdims = false);
/// NaN if an element is NaN. Throws ShapeError over no elements.
Tensor max(const Operand &x, const Axes &axis = {}, bool keepdims = false);
Tensor min(const Operand &x, const Axes &axis = {}, bool keepdims = false);
/// Of integers and bools in f32.
Tensor mean(const Operand &x, const Axes &axis = {}, bool keepdims = false);
/// The mean squared distance from the mean, computed in two passes; the sum is
/// divided by the number of elements less `correction`.
Tensor var(const Operand &x, const Axes &axis = {}, double correction = 0,
           bool keepdims = false);
/// The square root of var. Call it as tessera::std: beside `using namespace
/// tessera` the bare name is also that of a namespace.
Tensor std(const Operand &x, const Axes &axis = {}, double correction = 0,
           bool keepdims = false);
/// Whether an element (every element) is not 0.
Tensor any(const Operand &x, const Axes &axis = {}, bool keepdims = false);
Tensor all(const Operand &x, const Axes &axis = {}, bool keepdims = false);
/// The position (i64) of the first NaN, else of the first largest (smallest)
/// element along an axis; among all elements in row-major order without one.
Tensor argmax(const Operand &x, std::optional<int64_t> axis = none,
              bool keepdims = false);
Tensor argmin(const Operand &x, std::optional<int64_t> axis = none,
              bool keepdims = false);
/// log(sum(exp(x))) without overflow.
Tensor logsumexp(const Operand &x, const Axes &axis = {},
                 bool keepdims = false);

} // namespace tessera
