// Attributes and operands of random ops.
#include "test/Fuzz/Makers.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::fuzz {

static bool isReal(RankedTensorType type) {
  return isa<FloatType>(type.getElementType());
}
static bool isNumber(RankedTensorType type) {
  return !type.getElementType().isInteger(1);
}

// Elementwise

static void makeCompare(Program &p) {
  Value a = p.any();
  auto type = tensorType(a);
  p.add<CompareOp>(type.clone(p.at().getI1Type()), Comparison(p.between(0, 5)),
                   a, p.ofType(type));
}

static void makeSelect(Program &p) {
  Value a = p.any();
  auto type = tensorType(a);
  Value predicate = p.ofType(type.clone(p.at().getI1Type()));
  p.add<SelectOp>(type, predicate, a, p.ofType(type));
}

static void makeConvert(Program &p) {
  Value x = p.any();
  p.add<ConvertOp>(tensorType(x).clone(p.element()), x);
}

// Generators

static void makeConstant(Program &p) {
  Type element = p.element();
  TypedAttr number;
  if (isa<FloatType>(element))
    number = p.at().getFloatAttr(element, double(p.between(-8, 8)) / 4);
  else if (element.isInteger(1))
    number = p.at().getIntegerAttr(element, p.between(0, 1));
  else
    number = p.at().getIntegerAttr(element, p.between(-5, 5));
  p.add<ConstantOp>(RankedTensorType::get(p.shape(p.between(0, 2)), element),
                    number);
}

static void makeIota(Program &p) {
  Shape shape = p.shape(p.between(1, 3));
  Type element = p.element();
  if (!element.isInteger(1))
    p.add<IotaOp>(RankedTensorType::get(shape, element),
                  p.between(0, int64_t(shape.size()) - 1));
}

static void makeExtent(Program &p) {
  Type element = p.element();
  if (!element.isInteger(1))
    p.add<ExtentOp>(
        RankedTensorType::get(p.shape(p.between(0, 2)), element),
        RankedTensorType::get(p.shape(p.between(0, 3)), p.at().getI1Type()));
}

static void makeRandomBits(Program &p) {
  Type i32 = p.at().getI32Type();
  Value key = p.ofType(RankedTensorType::get({2}, i32));
  p.add<RandomBitsOp>(RankedTensorType::get(p.shape(p.between(0, 3)), i32),
                      key);
}

// Views

static void makeBroadcast(Program &p) {
  Value x = p.any([](RankedTensorType t) { return t.getRank() < 4; });
  if (!x)
    return;
  Shape shape(tensorType(x).getShape());
  SmallVector<int64_t> dims;
  for (int64_t &size : shape)
    if (size == 1 && p.chance(0.7))
      size = p.size();
  for (int64_t i = 0; i < int64_t(shape.size()); ++i)
    dims.push_back(i);
  for (int64_t fresh = p.between(0, 2); fresh > 0; --fresh) {
    auto where = p.between(0, int64_t(shape.size()));
    shape.insert(shape.begin() + where, p.size());
    for (int64_t &dim : dims)
      dim += dim >= where;
  }
  if (p.fits(shape))
    p.add<BroadcastOp>(tensorType(x).clone(shape), x, dims);
}

static void makeReshape(Program &p) {
  Value x = p.any();
  Shape shape(tensorType(x).getShape());
  for (int64_t steps = p.between(1, 3); steps > 0; --steps) {
    int64_t rank = int64_t(shape.size()), at = p.between(0, rank);
    if (p.chance(0.3) && rank < 5) {
      shape.insert(shape.begin() + at, 1);
    } else if (rank >= 2 && at + 1 < rank) {
      shape[at] *= shape[at + 1];
      shape.erase(shape.begin() + at + 1);
    } else if (at < rank) {
      for (int64_t divisor : {7, 3, 4, 2, 5})
        if (shape[at] && shape[at] % divisor == 0 && rank < 5 &&
            p.chance(0.7)) {
          shape[at] /= divisor;
          shape.insert(shape.begin() + at + p.between(0, 1), divisor);
          break;
        }
    }
  }
  p.add<ReshapeOp>(tensorType(x).clone(shape), x);
}

static SmallVector<int64_t> permutation(Program &p, int64_t rank) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  for (int64_t i = rank - 1; i > 0; --i)
    std::swap(order[i], order[p.between(0, i)]);
  return order;
}

static void makeTranspose(Program &p) {
  Value x = p.any([](RankedTensorType t) { return t.getRank() >= 2; });
  if (!x)
    return;
  auto type = tensorType(x);
  auto order = permutation(p, type.getRank());
  auto shape = llvm::map_to_vector(
      order, [&](int64_t dim) { return type.getDimSize(dim); });
  p.add<TransposeOp>(type.clone(shape), x, order);
}

static void makeSlice(Program &p) {
  Value x = p.any([](RankedTensorType t) { return t.getRank() >= 1; });
  if (!x)
    return;
  Shape shape;
  SmallVector<int64_t> starts, strides;
  for (int64_t size : tensorType(x).getShape()) {
    if (size == 0 || p.chance(0.4)) {
      starts.push_back(0), strides.push_back(1), shape.push_back(size);
      continue;
    }
    int64_t start = p.between(0, size - 1), stride = p.between(1, 3);
    if (p.chance(0.6))
      stride = 1;
    bool backwards = p.chance(0.25);
    int64_t room = (backwards ? start : size - 1 - start) / stride + 1;
    starts.push_back(start);
    strides.push_back(backwards ? -stride : stride);
    shape.push_back(p.between(p.chance(0.05) ? 0 : 1, room));
  }
  p.add<SliceOp>(tensorType(x).clone(shape), x, starts, strides);
}

static void makePad(Program &p) {
  Value x = p.any([](RankedTensorType t) { return t.getRank() >= 1; });
  if (!x)
    return;
  auto type = tensorType(x);
  Shape shape;
  SmallVector<int64_t> low, high, interior;
  for (int64_t size : type.getShape()) {
    low.push_back(p.chance(0.5) ? p.between(0, 3) : 0);
    high.push_back(p.chance(0.5) ? p.between(0, 3) : 0);
    interior.push_back(p.chance(0.2) ? p.between(1, 2) : 0);
    shape.push_back(size + low.back() + high.back() +
                    std::max<int64_t>(size - 1, 0) * interior.back());
  }
  Value value = p.ofType(type.clone(ArrayRef<int64_t>()));
  p.add<PadOp>(type.clone(shape), x, value, low, high, interior);
}

static void makeConcat(Program &p) {
  Value x = p.any([](RankedTensorType t) { return t.getRank() >= 1; });
  if (!x)
    return;
  auto type = tensorType(x);
  int64_t dim = p.between(0, type.getRank() - 1);
  Shape shape(type.getShape());
  SmallVector<Value> inputs{x};
  for (int64_t more = p.between(1, 3); more > 0; --more) {
    Value other = p.any([&](RankedTensorType t) {
      Shape like(type.getShape());
      if (t.getRank() == type.getRank())
        like[dim] = t.getDimSize(dim);
      return t == type.clone(like);
    });
    inputs.push_back(other);
    shape[dim] += tensorType(other).getDimSize(dim);
  }
  if (p.fits(shape))
    p.add<ConcatOp>(type.clone(shape), inputs, dim);
}

/// A scalar for each dimension, inside the tensor and around it.
static SmallVector<Value> starts(Program &p, RankedTensorType type) {
  auto scalar = RankedTensorType::get({}, p.at().getI64Type());
  SmallVector<Value> values;
  for (int64_t size : type.getShape())
    values.push_back(p.chance(0.5) ? p.ofType(scalar)
                                   : p.argument(scalar, {{-1, size}}));
  return values;
}

static Shape blockOf(Program &p, RankedTensorType type) {
  Shape block;
  for (int64_t size : type.getShape())
    block.push_back(p.between(std::min<int64_t>(size, 1), size));
  return block;
}

static void makeDynamicSlice(Program &p) {
  Value x = p.any([](RankedTensorType t) { return t.getRank() <= 3; });
  auto type = tensorType(x);
  Shape block = blockOf(p, type);
  p.add<DynamicSliceOp>(type.clone(block), x, starts(p, type));
}

static void makeDynamicUpdateSlice(Program &p) {
  Value x = p.any([](RankedTensorType t) { return t.getRank() <= 3; });
  auto type = tensorType(x);
  Value update = p.any([&](RankedTensorType t) {
    if (t.getRank() != type.getRank() ||
        t.getElementType() != type.getElementType())
      return false;
    for (int64_t i = 0; i < t.getRank(); ++i)
      if (t.getDimSize(i) > type.getDimSize(i))
        return false;
    return true;
  });
  p.add<DynamicUpdateSliceOp>(type, x, update, starts(p, type));
}

// Reductions and products

static void makeReduce(Program &p) {
  auto reduction = Reduction(p.between(0, 4));
  if (p.chance(0.4))
    reduction = Reduction::sum;
  Value x = p.any([](RankedTensorType t) { return t.getRank() >= 1; });
  // A sum or a product of bools is not asked for by any function.
  if (!x)
    return;
  auto type = tensorType(x);
  SmallVector<int64_t> dims;
  Shape shape;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (p.chance(0.5))
      dims.push_back(i);
    else
      shape.push_back(type.getDimSize(i));
  for (int64_t dim : dims)
    if (type.getDimSize(dim) == 0 && reduction != Reduction::sum &&
        reduction != Reduction::prod)
      return;
  Type element = reduction == Reduction::argmax ? p.at().getI64Type()
                                                : type.getElementType();
  p.add<ReduceOp>(RankedTensorType::get(shape, element), reduction, x, dims);
}

static void makeDotGeneral(Program &p) {
  Value a = p.any([&](RankedTensorType t) {
    return isNumber(t) && t.getRank() >= 1 && t.getRank() <= 4 &&
           (isReal(t) || p.chance(0.2));
  });
  if (!a)
    return;
  auto type = tensorType(a);
  // Each dimension of the first operand: batch, contracted or free.
  SmallVector<int64_t> aBatch, aContract;
  Shape shape, free;
  int64_t products = 1;
  for (int64_t dim : permutation(p, type.getRank())) {
    double role = p.random.unit();
    if (role < 0.2)
      aBatch.push_back(dim);
    else if (role < 0.65)
      aContract.push_back(dim);
  }
  // The second operand has its dimensions in any order.
  SmallVector<int64_t> sizes;
  for (int64_t dim : llvm::concat<int64_t>(aBatch, aContract))
    sizes.push_back(type.getDimSize(dim));
  for (int64_t count = p.between(0, 2); count > 0; --count)
    sizes.push_back(p.size());
  auto order = p.chance(0.5)
                   ? llvm::to_vector(llvm::seq<int64_t>(0, sizes.size()))
                   : permutation(p, int64_t(sizes.size()));
  SmallVector<int64_t> bBatch(aBatch.size()), bContract(aContract.size()),
      bShape;
  for (auto [at, which] : llvm::enumerate(order)) {
    bShape.push_back(sizes[which]);
    if (which < int64_t(aBatch.size()))
      bBatch[which] = int64_t(at);
    else if (which < int64_t(aBatch.size() + aContract.size()))
      bContract[which - int64_t(aBatch.size())] = int64_t(at);
  }
  for (int64_t size : type.getShape())
    products *= std::max<int64_t>(size, 1);
  for (int64_t size :
       ArrayRef(sizes).drop_front(aBatch.size() + aContract.size()))
    products *= std::max<int64_t>(size, 1);
  if (!p.fits(bShape) || products > p.mostProducts())
    return;
  Value b = p.ofType(type.clone(bShape));
  SmallVector<NamedAttribute> named;
  for (auto [name, dims] :
       {std::pair("a_batch", &aBatch), std::pair("b_batch", &bBatch),
        std::pair("a_contract", &aContract),
        std::pair("b_contract", &bContract)})
    named.push_back(
        p.at().getNamedAttr(name, p.at().getDenseI64ArrayAttr(*dims)));
  SmallVector<Type> result;
  if (succeeded(DotGeneralOp::inferReturnTypes(
          p.at().getContext(), std::nullopt, ValueRange{a, b},
          p.at().getDictionaryAttr(named), OpaqueProperties(nullptr),
          RegionRange(), result)))
    p.add(OperationName(DotGeneralOp::getOperationName(), p.at().getContext()),
          result.front(), {a, b}, named);
}

template <typename Op> static void makeAlongDim(Program &p) {
  Value x =
      p.any([](RankedTensorType t) { return isReal(t) && t.getRank() >= 1; });
  if (x)
    p.add<Op>(x.getType(), x,
              uint64_t(p.between(0, tensorType(x).getRank() - 1)));
}

static void makeCrossEntropy(Program &p) {
  Value x =
      p.any([](RankedTensorType t) { return isReal(t) && t.getRank() >= 1; });
  if (!x)
    return;
  auto type = tensorType(x);
  Type index = p.chance(0.5) ? p.at().getI32Type() : p.at().getI64Type();
  auto shape = type.getShape().drop_back();
  auto labelType = RankedTensorType::get(shape, index);
  Value labels =
      p.chance(0.2)
          ? p.ofType(labelType)
          : p.argument(labelType,
                       {{0, std::max<int64_t>(type.getShape().back() - 1, 0)}});
  p.add<CrossEntropyOp>(type.clone(shape), x, labels);
}

ArrayRef<Maker> makers() {
  static const Maker table[] = {
      {CompareOp::getOperationName(), makeCompare},
      {SelectOp::getOperationName(), makeSelect},
      {ConvertOp::getOperationName(), makeConvert},
      {ConstantOp::getOperationName(), makeConstant},
      {IotaOp::getOperationName(), makeIota},
      {ExtentOp::getOperationName(), makeExtent},
      {RandomBitsOp::getOperationName(), makeRandomBits},
      {BroadcastOp::getOperationName(), makeBroadcast},
      {BroadcastOp::getOperationName(), makeBroadcast},
      {ReshapeOp::getOperationName(), makeReshape},
      {TransposeOp::getOperationName(), makeTranspose},
      {SliceOp::getOperationName(), makeSlice},
      {PadOp::getOperationName(), makePad},
      {ConcatOp::getOperationName(), makeConcat},
      {DynamicSliceOp::getOperationName(), makeDynamicSlice},
      {DynamicUpdateSliceOp::getOperationName(), makeDynamicUpdateSlice},
      {ReduceOp::getOperationName(), makeReduce},
      {ReduceOp::getOperationName(), makeReduce},
      {ReduceOp::getOperationName(), makeReduce},
      {DotGeneralOp::getOperationName(), makeDotGeneral},
      {DotGeneralOp::getOperationName(), makeDotGeneral},
      {SoftmaxOp::getOperationName(), makeAlongDim<SoftmaxOp>},
      {LogSoftmaxOp::getOperationName(), makeAlongDim<LogSoftmaxOp>},
      {CrossEntropyOp::getOperationName(), makeCrossEntropy},
  };
  return table;
}

const Maker *makerOf(OperationName op) {
  for (const Maker &maker : makers())
    if (maker.op == op.getStringRef())
      return &maker;
  return nullptr;
}

} // namespace tessera::fuzz
