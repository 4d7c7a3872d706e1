// What kernels must give: the tree written down plainly, and everything else op
// by op.
#include "KernelMaker.h"
#include "lowering/CPU/Emit.h"
#include "lowering/Reference/Interpreter.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace tessera::ir;
using namespace tessera::lowering;

namespace tessera::test {

//===- The tree ----------------------------------------------------------===//

/// Sums or products of the contract: chunks of 1,024; groups of four
/// neighbours; 16 lanes.
template <typename T, typename Fn>
static T tree(std::vector<T> x, T identity, Fn fn) {
  while (true) {
    std::vector<T> results;
    for (size_t begin = 0; begin < x.size(); begin += 1024) {
      T lanes[16];
      std::fill(std::begin(lanes), std::end(lanes), identity);
      auto at = [&](size_t i) {
        return i < 1024 && begin + i < x.size() ? x[begin + i] : identity;
      };
      for (size_t g = 0; g < 256 && begin + 4 * g < x.size(); ++g)
        lanes[g % 16] = fn(lanes[g % 16], fn(fn(at(4 * g), at(4 * g + 1)),
                                             fn(at(4 * g + 2), at(4 * g + 3))));
      for (size_t half : {8, 4, 2, 1})
        for (size_t l = 0; l < half; ++l)
          lanes[l] = fn(lanes[l], lanes[l + half]);
      results.push_back(lanes[0]);
    }
    if (results.size() == 1)
      return results[0];
    x = std::move(results);
  }
}

template <typename T> static bool isNaN(T x) { return x != x; }

/// The larger, any NaN first, and +0 above -0.
template <typename T> static T larger(T a, T b) {
  if (isNaN(a) || isNaN(b))
    return isNaN(a) ? a : b;
  if constexpr (std::is_floating_point_v<T>)
    if (a == b)
      return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <typename T> static T negated(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return -x;
  else
    return ~x;
}

template <typename T>
static T combineAll(Reduction reduction, const std::vector<T> &x) {
  auto add = [](T a, T b) -> T {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return T(uint64_t(a) + uint64_t(b));
  };
  auto multiply = [](T a, T b) -> T {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return T(uint64_t(a) * uint64_t(b));
  };
  switch (reduction) {
  case Reduction::sum:
    return x.empty()
               ? T(0)
               : tree(x, std::is_floating_point_v<T> ? T(-0.0) : T(0), add);
  case Reduction::prod:
    return x.empty() ? T(1) : tree(x, T(1), multiply);
  default: {
    bool least = reduction == Reduction::min;
    T best = least ? negated(x[0]) : x[0];
    for (T value : x)
      best = larger(best, least ? negated(value) : value);
    return least ? negated(best) : best;
  }
  }
}

template <typename T> static int64_t firstBest(const std::vector<T> &x) {
  size_t best = 0;
  for (size_t i = 0; i < x.size() && !isNaN(x[best]); ++i)
    if (isNaN(x[i]) || x[i] > x[best])
      best = i;
  return best;
}

template <typename T>
static Bytes reduceTensor(ReduceOp op, const Bytes &bytes) {
  auto from = tensorType(op.getX()).getShape(),
       to = tensorType(op.getY()).getShape();
  std::vector<std::vector<T>> elements(ShapedType::getNumElements(to));
  for (int64_t i = 0, n = ShapedType::getNumElements(from); i < n; ++i) {
    int64_t rest = i, result = 0, stride = 1;
    for (int64_t dim = from.size(); dim-- > 0; rest /= from[dim])
      if (!llvm::is_contained(op.getDims(), dim)) {
        result += rest % from[dim] * stride;
        stride *= from[dim];
      }
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    elements[result].push_back(value);
  }
  bool positional = op.getReduction() == Reduction::argmax;
  Bytes result(elements.size() * (positional ? 8 : sizeof(T)));
  for (auto [i, x] : llvm::enumerate(elements)) {
    if (positional) {
      int64_t value = firstBest(x);
      std::memcpy(result.data() + i * 8, &value, 8);
    } else {
      T value = combineAll(op.getReduction(), x);
      std::memcpy(result.data() + i * sizeof(T), &value, sizeof(T));
    }
  }
  return result;
}

static Bytes reduceTensor(ReduceOp op, const Bytes &bytes) {
  Type element = tensorType(op.getX()).getElementType();
  if (element.isF32())
    return reduceTensor<float>(op, bytes);
  if (element.isF64())
    return reduceTensor<double>(op, bytes);
  switch (element.getIntOrFloatBitWidth()) {
  case 1: {
    Bytes result = reduceTensor<uint8_t>(op, bytes);
    if (op.getReduction() == Reduction::sum ||
        op.getReduction() == Reduction::prod)
      for (uint8_t &byte : result)
        byte &= 1;
    if (op.getReduction() == Reduction::min)
      for (uint8_t &byte : result)
        byte = byte != 0;
    return result;
  }
  case 8:
    return reduceTensor<int8_t>(op, bytes);
  case 16:
    return reduceTensor<int16_t>(op, bytes);
  case 32:
    return reduceTensor<int32_t>(op, bytes);
  default:
    return reduceTensor<int64_t>(op, bytes);
  }
}

//===- Op by op ----------------------------------------------------------===//

/// A function of one op, with or without a kernel around it.
static func::FuncOp functionOf(Operation *op, ModuleOp module, bool inKernel) {
  OpBuilder b(module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  auto type = b.getFunctionType(op->getOperandTypes(), op->getResultTypes());
  auto function = func::FuncOp::create(b, op->getLoc(), "main", type);
  b.setInsertionPointToEnd(function.addEntryBlock());
  KernelOp kernel;
  Block *block = &function.getBody().front();
  if (inKernel) {
    SmallVector<Type> types(op->getResultTypes());
    SmallVector<Value> inputs(function.getArguments());
    kernel = KernelOp::create(b, op->getLoc(), types, KernelKind::loop, inputs);
    block = &kernel.getBody().emplaceBlock();
    block->addArguments(
        op->getOperandTypes(),
        SmallVector<Location>(op->getNumOperands(), op->getLoc()));
    OpBuilder inside = OpBuilder::atBlockEnd(block);
    IRMapping map;
    map.map(op->getOperands(), block->getArguments());
    YieldOp::create(inside, op->getLoc(), inside.clone(*op, map)->getResults());
    func::ReturnOp::create(b, op->getLoc(), kernel.getOutputs());
    return function;
  }
  IRMapping map;
  map.map(op->getOperands(), function.getArguments());
  func::ReturnOp::create(b, op->getLoc(), b.clone(*op, map)->getResults());
  return function;
}

static Bytes evaluateOp(Operation *op, const std::vector<Bytes> &operands,
                        const TargetInfo &target) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduceTensor(reduce, operands[0]);
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  bool isFunction =
      isa<ExpOp, LogOp, TanhOp, SinOp, CosOp, ErfOp, PowOp, RsqrtOp>(op);
  func::FuncOp function = functionOf(op, *module, isFunction);
  if (!isFunction) {
    auto results = interpret(function, operands);
    EXPECT_TRUE(succeeded(results));
    return (*results)[0];
  }
  KernelOp kernel = *function.getOps<KernelOp>().begin();
  return compileKernel(kernel, target)->run(operands)[0];
}

std::vector<Bytes> evaluateKernel(KernelOp kernel,
                                  const std::vector<Bytes> &inputs,
                                  const TargetInfo &target) {
  Block &block = kernel.getBody().front();
  llvm::DenseMap<Value, Bytes> values;
  for (auto [argument, bytes] : llvm::zip(block.getArguments(), inputs))
    values[argument] = bytes;
  for (Operation &op : block.without_terminator()) {
    std::vector<Bytes> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values[operand]);
    values[op.getResult(0)] = evaluateOp(&op, operands, target);
  }
  std::vector<Bytes> outputs;
  for (Value value : block.getTerminator()->getOperands())
    outputs.push_back(values[value]);
  return outputs;
}

//===- Numbers -----------------------------------------------------------===//

template <typename T>
static void fillReal(Bytes &bytes, std::mt19937 &random, bool special) {
  std::normal_distribution<T> normal(0, 2);
  static const T specials[] = {T(0),
                               T(-0.0),
                               T(INFINITY),
                               T(-INFINITY),
                               T(NAN),
                               -T(NAN),
                               std::numeric_limits<T>::denorm_min(),
                               std::numeric_limits<T>::max()};
  // Whole tensors of few special numbers, and others with a few in between.
  int rate = special ? (random() % 2 ? 2 : 300) : 0,
      kinds = 1 + random() % std::size(specials);
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    T value = normal(random);
    if (rate && random() % rate == 0)
      value = specials[random() % kinds];
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
}

Bytes randomTensor(RankedTensorType type, uint32_t seed, bool special) {
  std::mt19937 random(seed);
  Type element = type.getElementType();
  int64_t width = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  Bytes bytes(type.getNumElements() * width);
  if (element.isF32())
    fillReal<float>(bytes, random, special);
  else if (element.isF64())
    fillReal<double>(bytes, random, special);
  else if (element.isInteger(1))
    for (uint8_t rate = random() % 4; uint8_t &byte : bytes)
      byte = rate == 0 ? 0 : rate == 1 ? 1 : random() % 2;
  else
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = special ? random() : i % width == 0 ? random() % 100 : 0;
  return bytes;
}

template <typename T>
static int64_t countRealDifferences(const Bytes &got, const Bytes &want) {
  int64_t count = 0;
  for (size_t i = 0; i < got.size(); i += sizeof(T)) {
    T a, b;
    std::memcpy(&a, got.data() + i, sizeof(T));
    std::memcpy(&b, want.data() + i, sizeof(T));
    bool same = std::memcmp(&a, &b, sizeof(T)) == 0 || (isNaN(a) && isNaN(b));
    if (!same && count < 3)
      ADD_FAILURE() << "element " << i / sizeof(T) << " is " << a
                    << " instead of " << b;
    count += !same;
  }
  return count;
}

int64_t countDifferences(RankedTensorType type, const Bytes &got,
                         const Bytes &want) {
  if (got.size() != want.size())
    return -1;
  if (type.getElementType().isF32())
    return countRealDifferences<float>(got, want);
  if (type.getElementType().isF64())
    return countRealDifferences<double>(got, want);
  int64_t width = std::max<int64_t>(1, type.getElementTypeBitWidth() / 8),
          count = 0;
  for (size_t i = 0; i < got.size(); i += width)
    count += std::memcmp(got.data() + i, want.data() + i, width) != 0;
  return count;
}

} // namespace tessera::test
