// Functions that rearrange elements.
#pragma once

#include "tessera/Index.h"
#include "tessera/Reduction.h"

namespace tessera {

/// The same elements in row-major order; one dimension may be -1 and follows
/// from the others.
Tensor reshape(const Operand &x, const Shape &shape);
/// Joins the dimensions from `first` to `last`.
Tensor flatten(const Operand &x, int64_t first = 0, int64_t last = -1);
/// Removes dimensions of size 1: those given, or all of them.
Tensor squeeze(const Operand &x, const Axes &axis = {});
/// Inserts dimensions of size 1 at these positions of the result.
Tensor expand_dims(const Operand &x, const Axes &axis);
/// Dimension i of the result is dimension axes[i] of x.
Tensor permute_dims(const Operand &x, const Shape &axes);
/// Swaps the last two dimensions.
Tensor matrix_transpose(const Operand &x);
Tensor swapaxes(const Operand &x, int64_t a, int64_t b);
Tensor moveaxis(const Operand &x, const Axes &source, const Axes &destination);
/// Reverses the order along axes.
Tensor flip(const Operand &x, const Axes &axis = {});
/// Shifts along an axis, elements that leave enter at the other end; without an
/// axis in row-major order.
Tensor roll(const Operand &x, int64_t shift,
            std::optional<int64_t> axis = none);
/// Each element `count` times in a row along an axis; without one of the
/// flattened tensor.
Tensor repeat(const Operand &x, int64_t count,
              std::optional<int64_t> axis = none);
/// The whole tensor repeated along each dimension.
Tensor tile(const Operand &x, const Shape &repetitions);
Tensor broadcast_to(const Operand &x, const Shape &shape);
/// Joins tensors along an existing axis; their dtypes are promoted.
Tensor concat(std::span<const Tensor> tensors, int64_t axis = 0,
              std::source_location place = std::source_location::current());
Tensor concat(std::initializer_list<Tensor> tensors, int64_t axis = 0,
              std::source_location place = std::source_location::current());
/// Joins tensors of one shape along a new axis.
Tensor stack(std::span<const Tensor> tensors, int64_t axis = 0,
             std::source_location place = std::source_location::current());
Tensor stack(std::initializer_list<Tensor> tensors, int64_t axis = 0,
             std::source_location place = std::source_location::current());
/// Cuts an axis into `parts` equal parts, or at the positions given.
std::vector<Tensor> split(const Operand &x, int64_t parts, int64_t axis = 0);
std::vector<Tensor> split(const Operand &x, const std::vector<int64_t> &at,
                          int64_t axis = 0);
/// The parts along an axis, without it.
std::vector<Tensor> unstack(const Operand &x, int64_t axis = 0);
/// Puts `value` before and after the elements, (before, after) for each
/// dimension.
Tensor pad(const Operand &x,
           const std::vector<std::pair<int64_t, int64_t>> &widths,
           const Operand &value = 0);
/// The elements on diagonal k of the last two dimensions.
Tensor diagonal(const Operand &x, int64_t k = 0);

/// The same value, constant for derivatives.
Tensor stop_gradient(const Operand &x);
/// The same as stop_gradient; the result keeps no history.
Tensor detach(const Operand &x);

} // namespace tessera
