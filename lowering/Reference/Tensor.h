// Tensors of the interpreter, and the families of ops it evaluates.
#ifndef TESSERA_LOWERING_REFERENCE_TENSOR_H
#define TESSERA_LOWERING_REFERENCE_TENSOR_H

#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/Reference/Interpreter.h"
#include "lowering/Reference/Numbers.h"
#include <optional>

namespace tessera::lowering::reference {

/// Bytes of one element in memory; a bool takes one.
inline int64_t bytesOf(mlir::Type element) {
  return withElementType(element, [](auto x) { return int64_t(sizeof(x)); });
}

/// A dense row-major tensor.
class Tensor {
public:
  explicit Tensor(mlir::Type type)
      : type(llvm::cast<mlir::RankedTensorType>(type)),
        bytes(this->type.getNumElements() * elementBytes()) {}
  Tensor(mlir::Type type, TensorBytes bytes)
      : type(llvm::cast<mlir::RankedTensorType>(type)),
        bytes(std::move(bytes)) {}

  mlir::RankedTensorType getType() const { return type; }
  mlir::Type element() const { return type.getElementType(); }
  llvm::ArrayRef<int64_t> shape() const { return type.getShape(); }
  int64_t size() const { return type.getNumElements(); }
  int64_t elementBytes() const { return bytesOf(element()); }
  TensorBytes &raw() { return bytes; }
  const TensorBytes &raw() const { return bytes; }

  template <typename T> llvm::MutableArrayRef<T> as() {
    return llvm::MutableArrayRef<T>(reinterpret_cast<T *>(bytes.data()),
                                    size_t(size()));
  }
  template <typename T> llvm::ArrayRef<T> as() const {
    return llvm::ArrayRef<T>(reinterpret_cast<const T *>(bytes.data()),
                             size_t(size()));
  }
  /// Element `to` of this tensor becomes element `from` of a tensor of the same
  /// element type.
  void copyElement(int64_t to, const Tensor &source, int64_t from) {
    int64_t width = elementBytes();
    std::copy_n(source.bytes.begin() + from * width, width,
                bytes.begin() + to * width);
  }

private:
  mlir::RankedTensorType type;
  TensorBytes bytes;
};

using Index = llvm::SmallVector<int64_t>;
using Operands = llvm::ArrayRef<const Tensor *>;

/// The row-major position of an index.
int64_t positionOf(llvm::ArrayRef<int64_t> index,
                   llvm::ArrayRef<int64_t> shape);
/// Calls `fn` with each index of a shape and its position, in row-major order.
void forEachIndex(
    llvm::ArrayRef<int64_t> shape,
    llvm::function_ref<void(llvm::ArrayRef<int64_t> index, int64_t position)>
        fn);
/// The sizes of some dimensions.
llvm::SmallVector<int64_t> sizesOf(llvm::ArrayRef<int64_t> shape,
                                   llvm::ArrayRef<int64_t> dims);
/// The dimensions of a tensor of `rank` that are in neither list.
llvm::SmallVector<int64_t> otherDims(int64_t rank, llvm::ArrayRef<int64_t> a,
                                     llvm::ArrayRef<int64_t> b = {});

/// The elements in row-major order of the dimensions in `lists`, outermost
/// first, which together are all of them.
template <typename T>
llvm::SmallVector<Compute<T>>
elementsAlong(const Tensor &x, llvm::ArrayRef<llvm::ArrayRef<int64_t>> lists) {
  llvm::SmallVector<int64_t> dims;
  for (auto list : lists)
    llvm::append_range(dims, list);
  llvm::SmallVector<Compute<T>> elements;
  Index source(dims.size());
  forEachIndex(
      sizesOf(x.shape(), dims), [&](llvm::ArrayRef<int64_t> index, int64_t) {
        for (auto [dim, i] : llvm::zip(dims, index))
          source[dim] = i;
        elements.push_back(
            static_cast<Compute<T>>(x.as<T>()[positionOf(source, x.shape())]));
      });
  return elements;
}

/// The result of an op of the family, or nothing for an op of another one.
std::optional<Tensor> evaluateElementwise(mlir::Operation *op,
                                          Operands operands);
std::optional<Tensor> evaluateReduction(mlir::Operation *op, Operands operands);
std::optional<Tensor> evaluateProduct(mlir::Operation *op, Operands operands);
std::optional<Tensor> evaluateShape(mlir::Operation *op, Operands operands);
std::optional<Tensor> evaluateGenerator(mlir::Operation *op, Operands operands);

} // namespace tessera::lowering::reference

#endif
