// The members of Tensor: what it is, and how its elements are read.
#include "frontend/Devices.h"
#include "frontend/Elements.h"
#include "frontend/Evaluate.h"
#include "frontend/Recording.h"

#include <cstring>

namespace tessera {
using namespace detail;

static const TensorImpl &checked(const ImplPtr &impl, const char *name) {
  if (!impl)
    throw ValueError({}, name, "the tensor is empty");
  return *impl;
}

const Shape &Tensor::shape() const { return checked(impl, "shape").shape; }
DType Tensor::dtype() const { return checked(impl, "dtype").dtype; }
Device Tensor::device() const { return checked(impl, "device").device; }

int64_t Tensor::shape(int64_t axis) const {
  const Shape &dims = shape();
  int64_t rank = int64_t(dims.size());
  if (axis < -rank || axis >= rank)
    throw IndexError({}, "shape",
                     "there is no axis " + std::to_string(axis) + ": " +
                         typeText(*this));
  return dims[size_t(axis < 0 ? axis + rank : axis)];
}

// Bytes in

static size_t checkedBytes(const Shape &shape, DType dtype, const char *name,
                           std::source_location place) {
  auto bytes = runtime::byteSize(shape, dtype);
  if (!bytes)
    throw ShapeError(errorPlace(place), name,
                     "a dimension is negative, or the tensor is too large: " +
                         typeText(dtype, shape));
  return *bytes;
}

static runtime::Storage allocate(size_t bytes, const char *name,
                                 std::source_location place) {
  try {
    return runtime::Storage::allocate(bytes);
  } catch (const std::bad_alloc &error) {
    throw OutOfMemory(errorPlace(place), name, error.what());
  }
}

Tensor Tensor::fromBytes(const void *data, size_t count, const Shape &shape,
                         DType dtype, std::source_location place) {
  size_t bytes = checkedBytes(shape, dtype, "from", place);
  if (count != size_t(shape.elements()))
    throw ShapeError(errorPlace(place), "from",
                     std::to_string(count) + " values for the shape " +
                         shape.str());
  runtime::Storage storage = allocate(bytes, "from", place);
  if (bytes)
    std::memcpy(storage.data(), data, bytes);
  return madeHere(std::move(storage), shape, dtype, "from", place);
}

Tensor Tensor::borrowBytes(const void *data, const Shape &shape, DType dtype,
                           std::function<void()> release,
                           std::source_location place) {
  size_t bytes = checkedBytes(shape, dtype, "borrow", place);
  // Nothing writes to a storage that is not from the allocator.
  auto storage = runtime::Storage::borrow(const_cast<void *>(data), bytes,
                                          std::move(release));
  return madeHere(std::move(storage), shape, dtype, "borrow", place);
}

Tensor Tensor::fromScalar(const Scalar &value, std::source_location place) {
  uint64_t bits = *bitsOf(value, value.dtype);
  Tensor tensor = fromBytes(&bits, 1, {}, value.dtype, place);
  tensor.handle()->isNumber = true;
  return tensor;
}

// Bytes out

/// The bytes for one look at them, of which no copy stays.
static runtime::Storage bytesToRead(const Tensor &tensor, const char *name,
                                    std::source_location place) {
  return bytesOn(storageOf(tensor, name, place), Device(), name, place);
}

const Tensor &Tensor::eval(std::source_location place) const {
  evaluate({*this}, "eval", place);
  return *this;
}

void Tensor::copyTo(void *to, size_t count, DType as, const char *name,
                    std::source_location place) const {
  runtime::Storage storage = bytesToRead(*this, name, place);
  if (size_t(size()) != count)
    throw ShapeError(errorPlace(place), name,
                     "there is not one element: " + typeText(*this));
  if (!convertElements(storage.data(), dtype(), to, as, count))
    throw TypeError(errorPlace(place), name,
                    "the elements cannot be read as " +
                        std::string(runtime::nameOf(as)) + ": " +
                        typeText(*this));
}

const void *Tensor::dataAs(DType as, std::source_location place) const {
  const runtime::Storage &storage = hostBytesOf(*this, "span", place);
  if (dtype() != as)
    throw TypeError(errorPlace(place), "span",
                    "the elements are not of type " +
                        std::string(runtime::nameOf(as)) + ": " +
                        typeText(*this));
  return storage.data();
}

std::span<const std::byte> Tensor::bytes(std::source_location place) const {
  const runtime::Storage &storage = hostBytesOf(*this, "bytes", place);
  return {static_cast<const std::byte *>(storage.data()), storage.bytes()};
}

void eval(std::span<const Tensor> tensors, std::source_location place) {
  evaluate(llvm::ArrayRef(tensors.data(), tensors.size()), "eval", place);
}

static void evalAll(std::initializer_list<const Operand *> operands) {
  std::vector<Tensor> tensors;
  for (const Operand *operand : operands)
    if (!operand->isScalar())
      tensors.push_back(operand->tensor());
  eval(tensors, (*operands.begin())->place());
}

void eval(const Operand &a) { evalAll({&a}); }
void eval(const Operand &a, const Operand &b) { evalAll({&a, &b}); }
void eval(const Operand &a, const Operand &b, const Operand &c) {
  evalAll({&a, &b, &c});
}
void eval(const Operand &a, const Operand &b, const Operand &c,
          const Operand &d) {
  evalAll({&a, &b, &c, &d});
}

// Other dtypes and devices

Tensor Tensor::astype(DType to, std::source_location place) const {
  Operand x(*this, place);
  Recording r("astype", x);
  if (Tensor known = r.recall(int(to)); known.defined())
    return known;
  return r.finish(r.convert(r.expr(r.value(*this)), to));
}

Tensor Tensor::to(const Device &device, std::source_location place) const {
  if (checked(impl, "to").device == device)
    return *this;
  checkDevice(device, "to", place);
  return makeTensor(bytesOn(storageOf(*this, "to", place), device, "to", place),
                    shape(), dtype(), device);
}

} // namespace tessera
