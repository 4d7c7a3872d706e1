// The tensor: an immutable value, recorded or materialised.
#pragma once

#include "tessera/DType.h"
#include "tessera/Error.h"
#include "tessera/Shape.h"

#include <functional>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

namespace tessera {

class Index;
class Operand;
class Tensor;
class Variable;

/// "No value": all axes, or the default end of a slice.
inline constexpr std::nullopt_t none = std::nullopt;

namespace detail {

struct TensorImpl;
void retain(TensorImpl *impl) noexcept;
void release(TensorImpl *impl) noexcept;

/// A counted reference to what a tensor's handles share.
class ImplPtr {
public:
  ImplPtr() = default;
  /// Takes over a reference that the caller holds.
  explicit ImplPtr(TensorImpl *owned) : impl(owned) {}
  ImplPtr(const ImplPtr &other) : impl(other.impl) {
    if (impl)
      retain(impl);
  }
  ImplPtr(ImplPtr &&other) noexcept
      : impl(std::exchange(other.impl, nullptr)) {}
  ImplPtr &operator=(ImplPtr other) noexcept {
    std::swap(impl, other.impl);
    return *this;
  }
  ~ImplPtr() {
    if (impl)
      release(impl);
  }
  TensorImpl *get() const { return impl; }
  TensorImpl *operator->() const { return impl; }
  TensorImpl &operator*() const { return *impl; }
  explicit operator bool() const { return impl; }

private:
  TensorImpl *impl = nullptr;
};

/// A C++ number given where a tensor could be.
struct Scalar {
  runtime::DTypeKind kind;
  /// The dtype it has on its own: f32 for a floating-point number of any size.
  DType dtype;
  int64_t integer = 0;
  double real = 0;

  template <typename Number>
    requires std::is_arithmetic_v<Number>
  static Scalar of(Number value) {
    using runtime::DTypeKind;
    if constexpr (std::is_same_v<Number, bool>)
      return {DTypeKind::Bool, boolean, value, double(value)};
    else if constexpr (std::is_integral_v<Number>)
      return {DTypeKind::Signed, sizeof(Number) <= 4 ? i32 : i64,
              int64_t(value), double(value)};
    else
      return {DTypeKind::Float, f32, 0, double(value)};
  }
};

} // namespace detail

/// A handle to an immutable value. A copy shares the value. Nothing is computed
/// until a value is looked at: eval, item, to_vector, span and printing are the
/// evaluation points. Handles may be copied and destroyed on any thread.
class Tensor {
public:
  /// An empty handle; using it is a ValueError.
  Tensor() = default;

  /// A number as a tensor without dimensions.
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  Tensor(Number value,
         std::source_location place = std::source_location::current())
      : Tensor(fromScalar(detail::Scalar::of(value), place)) {}

  /// A tensor of `shape` with a copy of `values` in row-major order. Throws
  /// ShapeError unless there are as many values as the shape needs.
  template <std::ranges::contiguous_range Values>
    requires NativeElement<std::ranges::range_value_t<Values>>
  static Tensor
  from(const Values &values, const Shape &shape,
       std::source_location place = std::source_location::current()) {
    using Element = std::ranges::range_value_t<Values>;
    return fromBytes(std::ranges::data(values), std::ranges::size(values),
                     shape, dtypeOf<Element>, place);
  }

  /// A tensor that shows `data`, which must hold the elements of `shape` and
  /// not change, until `release` is called; then nothing uses them any more.
  template <NativeElement Element>
  static Tensor
  borrow(const Element *data, const Shape &shape,
         std::function<void()> release = {},
         std::source_location place = std::source_location::current()) {
    return borrowBytes(data, shape, dtypeOf<Element>, std::move(release),
                       place);
  }

  /// Whether the handle is not empty.
  bool defined() const { return bool(impl); }

  const Shape &shape() const;
  /// The size of one dimension, counted from the end if it is negative. Throws
  /// IndexError.
  int64_t shape(int64_t axis) const;
  int64_t ndim() const { return int64_t(shape().size()); }
  /// The number of elements.
  int64_t size() const { return shape().elements(); }
  DType dtype() const;
  Device device() const;

  /// The transpose of a matrix. Throws ShapeError unless there are two
  /// dimensions.
  Tensor T(std::source_location place = std::source_location::current()) const;
  /// The elements converted to another dtype: floats to integers truncate and
  /// saturate, NaN gives 0, integers wrap, numbers other than 0 are true.
  Tensor
  astype(DType dtype,
         std::source_location place = std::source_location::current()) const;
  /// The same value on another device. Evaluates it.
  Tensor to(const Device &device,
            std::source_location place = std::source_location::current()) const;

  /// The tensor at one index of the first dimension.
  Tensor operator[](const Index &index) const;
  /// A part of the tensor: integers remove a dimension, slices keep it,
  /// `ellipsis` stands for all dimensions not named, `newaxis` inserts one, and
  /// a tensor of bools as the only index picks elements, which evaluates both.
  Tensor index(const Index &i0) const;
  Tensor index(const Index &i0, const Index &i1) const;
  Tensor index(const Index &i0, const Index &i1, const Index &i2) const;
  Tensor index(const Index &i0, const Index &i1, const Index &i2,
               const Index &i3) const;
  Tensor index(const Index &i0, const Index &i1, const Index &i2,
               const Index &i3, const Index &i4) const;
  Tensor index(std::span<const Index> items) const;
  /// A tensor with the elements at an index replaced by `value`, which
  /// broadcasts to their shape.
  Tensor set(const Index &i0, const Operand &value) const;
  Tensor set(const Index &i0, const Index &i1, const Operand &value) const;
  Tensor set(const Index &i0, const Index &i1, const Index &i2,
             const Operand &value) const;
  Tensor set(const Index &i0, const Index &i1, const Index &i2, const Index &i3,
             const Operand &value) const;
  Tensor set(std::span<const Index> items, const Operand &value) const;
  /// A tensor with `value` added to the elements at an index.
  Tensor add_at(const Index &i0, const Operand &value) const;
  Tensor add_at(const Index &i0, const Index &i1, const Operand &value) const;
  Tensor add_at(const Index &i0, const Index &i1, const Index &i2,
                const Operand &value) const;
  Tensor add_at(const Index &i0, const Index &i1, const Index &i2,
                const Index &i3, const Operand &value) const;
  Tensor add_at(std::span<const Index> items, const Operand &value) const;

  /// Computes the value, unless that has been done. Throws TraceError inside a
  /// transform.
  const Tensor &
  eval(std::source_location place = std::source_location::current()) const;

  /// The only element, as a number that can hold every value of the dtype.
  /// Evaluates. Throws ShapeError if there are several, TypeError for a float
  /// as an integer.
  template <NativeElement Number>
    requires std::is_arithmetic_v<Number>
  Number
  item(std::source_location place = std::source_location::current()) const {
    Number value;
    copyTo(&value, 1, dtypeOf<Number>, "item", place);
    return value;
  }

  /// The elements in row-major order. Evaluates. Throws as item does.
  template <NativeElement Number>
    requires std::is_arithmetic_v<Number>
  std::vector<Number> to_vector(
      std::source_location place = std::source_location::current()) const {
    size_t count = defined() ? size_t(size()) : 0;
    if constexpr (std::is_same_v<Number, bool>) {
      std::vector<uint8_t> bytes(count);
      copyTo(bytes.data(), count, boolean, "to_vector", place);
      return std::vector<bool>(bytes.begin(), bytes.end());
    } else {
      std::vector<Number> values(count);
      copyTo(values.data(), count, dtypeOf<Number>, "to_vector", place);
      return values;
    }
  }

  /// The elements in place, valid as long as a handle to this tensor is.
  /// Evaluates. Throws TypeError unless Element is the dtype's type.
  template <NativeElement Element>
  std::span<const Element>
  span(std::source_location place = std::source_location::current()) const {
    const void *data = dataAs(dtypeOf<Element>, place);
    return {static_cast<const Element *>(data), size_t(size())};
  }

  /// The bytes of the elements, valid as long as a handle to this tensor is.
  /// Evaluates.
  std::span<const std::byte>
  bytes(std::source_location place = std::source_location::current()) const;

  /// Makes the tensor a leaf, for all handles to it: values computed from it
  /// keep their history, and backward() adds to its gradient. Throws TypeError
  /// unless it is of floats.
  Tensor &
  requires_grad(bool on,
                std::source_location place = std::source_location::current());
  /// Whether the tensor is a leaf or depends on one.
  bool requires_grad() const;
  /// The gradient of a leaf; empty before the first backward().
  Tensor grad() const;
  void zero_grad();
  /// Adds the gradient of this scalar to each leaf it depends on, and gives up
  /// its history unless `retain_graph`.
  void
  backward(bool retain_graph = false,
           std::source_location place = std::source_location::current()) const;

  Tensor &operator+=(const Operand &y);
  Tensor &operator-=(const Operand &y);
  Tensor &operator*=(const Operand &y);
  Tensor &operator/=(const Operand &y);

  /// For the library.
  explicit Tensor(detail::ImplPtr impl) : impl(std::move(impl)) {}
  const detail::ImplPtr &handle() const { return impl; }

private:
  static Tensor fromScalar(const detail::Scalar &value,
                           std::source_location place);
  static Tensor fromBytes(const void *data, size_t count, const Shape &shape,
                          DType dtype, std::source_location place);
  static Tensor borrowBytes(const void *data, const Shape &shape, DType dtype,
                            std::function<void()> release,
                            std::source_location place);
  void copyTo(void *to, size_t count, DType dtype, const char *name,
              std::source_location place) const;
  const void *dataAs(DType dtype, std::source_location place) const;

  detail::ImplPtr impl;
};

/// What an op takes: a tensor, or a number, which takes the dtype of the tensor
/// it meets; and the place of the call.
class Operand {
public:
  Operand(const Tensor &tensor,
          std::source_location place = std::source_location::current())
      : theTensor(tensor), thePlace(place) {}
  Operand(Tensor &&tensor,
          std::source_location place = std::source_location::current())
      : theTensor(std::move(tensor)), thePlace(place) {}
  Operand(const Variable &variable,
          std::source_location place = std::source_location::current());
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  Operand(Number value,
          std::source_location place = std::source_location::current())
      : number(true), theScalar(detail::Scalar::of(value)), thePlace(place) {}

  bool isScalar() const { return number; }
  const Tensor &tensor() const { return theTensor; }
  const detail::Scalar &scalar() const { return theScalar; }
  std::source_location place() const { return thePlace; }

private:
  bool number = false;
  Tensor theTensor;
  detail::Scalar theScalar = {};
  std::source_location thePlace;
};

/// Computes several values at once.
void eval(const Operand &a);
void eval(const Operand &a, const Operand &b);
void eval(const Operand &a, const Operand &b, const Operand &c);
void eval(const Operand &a, const Operand &b, const Operand &c,
          const Operand &d);
void eval(std::span<const Tensor> tensors,
          std::source_location place = std::source_location::current());

namespace detail {
/// A tensor to print, and the place of the statement.
struct Printed {
  Printed(const Tensor &tensor,
          std::source_location place = std::source_location::current())
      : tensor(tensor), place(place) {}
  const Tensor &tensor;
  std::source_location place;
};
} // namespace detail

/// Prints the elements, evaluating them: `[[1, 2], [3, 4]]` over several lines.
/// Of more than a thousand, three at each end of a dimension.
std::ostream &operator<<(std::ostream &os, const detail::Printed &printed);

} // namespace tessera
