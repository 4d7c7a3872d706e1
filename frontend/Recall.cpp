// Calls of public functions that were made before on operands of such types.
#include "frontend/Recording.h"

using namespace mlir;

namespace tessera::detail {

// What is no pointer to a type in a key: a number, or an operand given before.
static constexpr uint64_t kNumber = 1 << 8, kSame = 2 << 8;

void Recording::addToKey(const Tensor &tensor) {
  Operation *op = opOf(tensor);
  auto before = llvm::find(operandOps, op);
  key.push_back(before != operandOps.end()
                    ? kSame + uint64_t(before - operandOps.begin())
                    : reinterpret_cast<uintptr_t>(
                          op->getResult(0).getType().getAsOpaquePointer()));
  operandOps.push_back(op);
}

Tensor Recording::recall(ArrayRef<int64_t> parameters) {
  key.push_back(reinterpret_cast<uintptr_t>(theName));
  for (const Operand *operand : operands) {
    if (!operand)
      break;
    if (!operand->isScalar()) {
      addToKey(operand->tensor());
      continue;
    }
    key.push_back(kNumber + uint64_t(operand->scalar().dtype));
    operandOps.push_back(nullptr);
  }
  return recallKey(parameters);
}

Tensor Recording::recall(ArrayRef<const Operand *> list,
                         ArrayRef<int64_t> parameters) {
  if (list.size() > operands.size())
    return Tensor();
  llvm::copy(list, operands.begin());
  return recall(parameters);
}

Tensor Recording::recall(std::span<const Tensor> tensors,
                         ArrayRef<int64_t> parameters) {
  if (tensors.size() > 8)
    return Tensor();
  key.push_back(reinterpret_cast<uintptr_t>(theName));
  for (const Tensor &tensor : tensors)
    addToKey(tensor);
  return recallKey(parameters);
}

Tensor Recording::recallKey(ArrayRef<int64_t> parameters) {
  key.append(parameters.begin(), parameters.end());
  auto &known = theTrace.knownCall(key);
  return known && known->key == key ? repeat(*known) : Tensor();
}

Tensor Recording::repeat(const KnownCall &known) {
  SmallVector<uint64_t, 3> bits;
  for (const KnownCall::Step &step : known.steps)
    if (!step.name) {
      auto value =
          bitsOf(operands[size_t(step.operands[0])]->scalar(), step.dtype);
      if (!value)
        return Tensor(); // an error, which the function finds
      bits.push_back(*value);
    }
  SmallVector<Operation *, 16> made;
  auto operationOf = [&](int32_t index) {
    return index < 0 ? operandOps[size_t(-1 - index)] : made[size_t(index)];
  };
  const uint64_t *next = bits.begin();
  for (const KnownCall::Step &step : known.steps) {
    if (!step.name) {
      made.push_back(theTrace.inputFor(*next++, step.dtype, loc));
      continue;
    }
    SmallVector<Value, 4> inputs;
    for (int32_t operand : step.operands)
      inputs.push_back(operationOf(operand)->getResult(0));
    made.push_back(
        theTrace.append(loc, *step.name, step.type, inputs, step.attributes));
  }
  countNew();
  if (!theTrace.isPlain() || isGradOff())
    for (auto it = firstNew(), end = theTrace.block().end(); it != end; ++it)
      note(&*it);
  finished = true;
  Tensor result = theTrace.wrap(operationOf(known.result), device(),
                                known.shape, known.dtype);
  if (llvm::any_of(operandOps, [](Operation *op) {
        return op && op->getResult(0).use_empty();
      }))
    sweep();
  return result;
}

void Recording::remember(Operation *result) {
  auto known = std::make_unique<KnownCall>();
  llvm::SmallDenseMap<Operation *, int32_t> index;
  // Of operands that are one value, the first stands for all.
  for (size_t i = operandOps.size(); i-- > 0;)
    if (operandOps[i])
      index[operandOps[i]] = -1 - int32_t(i);
  for (auto it = firstNew(), end = theTrace.block().end(); it != end; ++it) {
    Operation *op = &*it;
    if (index.contains(op))
      continue;
    KnownCall::Step step;
    auto number =
        llvm::find_if(numbers, [&](auto &other) { return other.op == op; });
    if (number != numbers.end()) {
      auto operand = llvm::find(operands, number->operand);
      if (operand == operands.end())
        return;
      step.operands.push_back(int32_t(operand - operands.begin()));
      step.dtype = number->dtype;
    } else {
      if (isa<ir::InputOp>(op) || op->getNumRegions() > 0)
        return;
      step.name = op->getName();
      step.type = op->getResult(0).getType();
      step.attributes = op->getAttrDictionary();
      for (Value operand : op->getOperands()) {
        auto source = index.find(operand.getDefiningOp());
        if (source == index.end())
          return;
        step.operands.push_back(source->second);
      }
    }
    index[op] = int32_t(known->steps.size());
    known->steps.push_back(std::move(step));
  }
  auto found = index.find(result);
  if (found == index.end())
    return;
  known->result = found->second;
  known->shape = shapeOf(result->getResult(0));
  known->dtype = dtypeFor(result->getResult(0));
  known->key = key;
  theTrace.knownCall(key) = std::move(known);
}

} // namespace tessera::detail
