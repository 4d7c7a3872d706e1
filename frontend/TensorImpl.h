// What the handles of one tensor share.
#pragma once

#include "runtime/Storage.h"
#include "tessera/Tensor.h"

#include <atomic>
#include <mutex>

namespace mlir {
class Operation;
}

namespace tessera::detail {

class Trace;

/// What makes a tensor a leaf: the gradient that backward() adds to.
struct Leaf {
  std::mutex mutex;
  Tensor gradient;
};

/// Whether any tensor of this process was ever made a leaf.
extern std::atomic<bool> leavesExist;

/// One evaluation, or backward(), that dropped the history of values.
struct Cut {
  std::source_location place;
  const char *what;       ///< "item", "eval", ...
  bool isRelease = false; ///< by backward()
  /// The tensors with handles that the results depended on.
  std::vector<std::weak_ptr<const void>> ancestors;
};

/// A value is recorded (an op of a trace, no storage), materialised (storage),
/// or both while its history is kept. Members other than the atomic ones are
/// written before the impl is shared, or under the lock of its trace.
struct TensorImpl {
  TensorImpl(const Shape &shape, DType dtype, const Device &device)
      : shape(shape), dtype(dtype), device(device) {}
  ~TensorImpl();

  std::atomic<uint32_t> references{1};
  /// Set once `storage` may be read, which then does not change.
  std::atomic<bool> ready{false};
  /// Set once a call has used the tensor up: `storage` is empty.
  std::atomic<bool> donated{false};
  const Shape shape;
  const DType dtype;
  const Device device;
  runtime::Storage storage;
  /// Of a tensor on a GPU, once somebody has looked at it: its bytes on the
  /// host. See hostBytes().
  runtime::Storage mirror;
  /// Whether it was made from one C++ number.
  bool isNumber = false;
  /// The trace that recorded the value, or null; never cleared, so that a
  /// thread that finds the value recorded can lock its owner.
  Trace *trace = nullptr;
  mlir::Operation *op = nullptr;
  /// The transform that traced the value, or 0.
  uint32_t frame = 0;
  std::shared_ptr<Leaf> leaf;
  /// The evaluation that dropped this value's history, if one did.
  std::shared_ptr<const Cut> cut;

  /// The call that has used the tensor up.
  std::source_location donation;

  /// A token that lives as long as this impl, made when first asked for.
  std::shared_ptr<const void> life();

private:
  std::shared_ptr<const void> lifeToken;
};

/// A materialised tensor.
Tensor makeTensor(runtime::Storage storage, const Shape &shape, DType dtype,
                  const Device &device);

/// Takes another reference unless the last one is gone.
bool tryRetain(TensorImpl *impl) noexcept;

/// "f32[2,3]"
std::string typeText(DType dtype, const Shape &shape);
std::string typeText(const Tensor &tensor);
std::string typeText(const Operand &operand);

} // namespace tessera::detail
