// How a tensor's shared part ends, and what error texts call it.
#include "frontend/TensorImpl.h"

#include "frontend/Trace.h"

namespace tessera::detail {

std::atomic<bool> leavesExist{false};

TensorImpl::~TensorImpl() = default;

std::shared_ptr<const void> TensorImpl::life() {
  // Seldom called, so one lock for all.
  static std::mutex mutex;
  std::lock_guard guard(mutex);
  if (!lifeToken)
    lifeToken = std::make_shared<int>();
  return lifeToken;
}

void retain(TensorImpl *impl) noexcept {
  impl->references.fetch_add(1, std::memory_order_relaxed);
}

bool tryRetain(TensorImpl *impl) noexcept {
  uint32_t count = impl->references.load(std::memory_order_relaxed);
  while (count != 0)
    if (impl->references.compare_exchange_weak(count, count + 1))
      return true;
  return false;
}

void release(TensorImpl *impl) noexcept {
  if (impl->references.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  Trace *trace = impl->trace;
  if (trace) {
    TraceLock lock(*trace);
    if (impl->op)
      trace->dropHandle(impl);
  }
  delete impl;
  if (trace)
    trace->release();
}

Tensor makeTensor(runtime::Storage storage, const Shape &shape, DType dtype,
                  const Device &device) {
  auto *impl = new TensorImpl(shape, dtype, device);
  impl->storage = std::move(storage);
  impl->ready.store(true, std::memory_order_release);
  return Tensor(ImplPtr(impl));
}

std::string typeText(DType dtype, const Shape &shape) {
  return std::string(runtime::nameOf(dtype)) + shape.str();
}

std::string typeText(const Tensor &tensor) {
  return tensor.defined() ? typeText(tensor.dtype(), tensor.shape())
                          : "an empty tensor";
}

std::string typeText(const Operand &operand) {
  if (!operand.isScalar())
    return typeText(operand.tensor());
  const Scalar &scalar = operand.scalar();
  switch (scalar.kind) {
  case runtime::DTypeKind::Bool:
    return scalar.integer ? "true" : "false";
  case runtime::DTypeKind::Float: {
    std::string text(32, '\0');
    text.resize(size_t(snprintf(text.data(), text.size(), "%g", scalar.real)));
    return text;
  }
  default:
    return std::to_string(scalar.integer);
  }
}

} // namespace tessera::detail

namespace tessera {

std::string Shape::str() const {
  std::string text = "[";
  for (size_t i = 0; i < count; ++i)
    text += (i ? "," : "") + std::to_string((*this)[i]);
  return text + "]";
}

std::ostream &operator<<(std::ostream &os, const Shape &shape) {
  return os << shape.str();
}

} // namespace tessera
