// Products of matrices and tensors.
#pragma once

#include "tessera/Tensor.h"

#include <string_view>

namespace tessera {

/// The matrix product of the last two dimensions, for each index of the ones
/// before, which broadcast. A vector counts as a row on the left and as a
/// column on the right, and its dimension vanishes. Integers wrap.
Tensor matmul(const Operand &x, const Operand &y);
/// The products summed over the last `axes` dimensions of x and the first of y.
Tensor tensordot(const Operand &x, const Operand &y, int64_t axes = 2);
/// The products summed over pairs of dimensions.
Tensor tensordot(const Operand &x, const Operand &y, const Shape &x_axes,
                 const Shape &y_axes);
/// The products summed over one axis; the others broadcast.
Tensor vecdot(const Operand &x, const Operand &y, int64_t axis = -1);
/// The product of each element of vector x with each of vector y.
Tensor outer(const Operand &x, const Operand &y);
/// Products and sums by labels, as in `einsum("bij,bjk->bik", {x, y})`: labels
/// that the result lacks are summed over; without an arrow the result has the
/// labels that occur once, in alphabetical order; an ellipsis stands for
/// dimensions that broadcast.
Tensor einsum(std::string_view equation, std::span<const Tensor> operands,
              std::source_location place = std::source_location::current());
Tensor einsum(std::string_view equation, std::initializer_list<Tensor> operands,
              std::source_location place = std::source_location::current());

} // namespace tessera
