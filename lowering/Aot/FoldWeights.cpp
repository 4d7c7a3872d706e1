// Transposes of constant weights, folded into the weights.
#include "lowering/Aot/FoldWeights.h"
#include "dialects/Tessera/IR/Tessera.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

/// The permutation of all uses, if they are transposes of one.
static std::optional<SmallVector<int64_t>> onlyPermutation(Value value) {
  std::optional<SmallVector<int64_t>> permutation;
  for (Operation *user : value.getUsers()) {
    auto transpose = dyn_cast<TransposeOp>(user);
    if (!transpose)
      return std::nullopt;
    SmallVector<int64_t> mine(transpose.getPermutation());
    if (permutation && *permutation != mine)
      return std::nullopt;
    permutation = mine;
  }
  return permutation;
}

/// Row-major bytes of `shape` as those of its transpose, whose dimension d is
/// dimension permutation[d] here.
static std::string permuted(StringRef bytes, ArrayRef<int64_t> shape,
                            ArrayRef<int64_t> permutation, int64_t width) {
  SmallVector<int64_t> strides(shape.size(), width);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  SmallVector<int64_t> index(shape.size(), 0);
  std::string result(bytes.size(), '\0');
  for (size_t to = 0; to < result.size(); to += size_t(width)) {
    int64_t from = 0;
    for (auto [d, i] : llvm::enumerate(index))
      from += i * strides[permutation[d]];
    std::copy_n(bytes.begin() + from, width, result.begin() + ptrdiff_t(to));
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < shape[permutation[d]])
        break;
      index[d] = 0;
    }
  }
  return result;
}

void foldWeightTransposes(func::FuncOp main, llvm::StringMap<Weight> &weights,
                          std::deque<std::string> &storage) {
  llvm::Expected<Interface> interface = interfaceOf(main);
  if (!interface) {
    llvm::consumeError(interface.takeError()); // somebody will tell of it
    return;
  }
  bool changed = false;
  for (auto [i, port] : llvm::enumerate(interface->arguments)) {
    BlockArgument argument = main.getArgument(unsigned(i));
    auto weight = weights.find(port.name);
    if (!port.isWeight || port.partner >= 0 || weight == weights.end() ||
        int64_t(weight->second.bytes.size()) != port.bytes())
      continue;
    auto permutation = onlyPermutation(argument);
    if (!permutation)
      continue;
    SmallVector<int64_t> shape;
    for (int64_t d : *permutation)
      shape.push_back(port.type.getDimSize(d));
    storage.push_back(permuted(weight->second.bytes, port.type.getShape(),
                               *permutation, port.elementBytes()));
    weight->second.bytes = storage.back();
    SmallVector<Operation *> transposes(argument.getUsers());
    argument.setType(RankedTensorType::get(shape, port.type.getElementType()));
    for (Operation *transpose : transposes) {
      transpose->getResult(0).replaceAllUsesWith(argument);
      transpose->erase();
    }
    changed = true;
  }
  if (changed)
    main.setType(FunctionType::get(main.getContext(),
                                   main.getBody().front().getArgumentTypes(),
                                   main.getResultTypes()));
}

} // namespace tessera::lowering
