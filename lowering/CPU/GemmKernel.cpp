// A kernel region with one product: hands the Gemm emitter its operands, in
// memory or as the ops before the product, and the ops after it as its
// epilogue.
#include "dialects/Tessera/IR/NarrowFloats.h"
#include "lowering/CPU/Emit.h"
#include "lowering/CPU/Gemm.h"
#include "lowering/Kernels/FusedBody.h"
#include "lowering/Kernels/Launch.h"
#include "lowering/Kernels/ProductKernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::cpu {

namespace {

class GemmKernelEmitter {
public:
  explicit GemmKernelEmitter(const ProductKernel &source)
      : source(source), kernel(source.kernel), shape(source.shape) {}

  void emit(StringRef name, const TargetInfo &target, ModuleOp module) {
    GemmKernel gemm;
    gemm.name = name.str();
    gemm.shape = shape;
    gemm.a = operand(0);
    gemm.b = operand(1);
    gemm.isBF16 = isBF16(0) && isBF16(1);
    for (Value input : kernel.getInputs())
      gemm.buffers.push_back(flatMemRef(tensorType(input)));
    for (auto [i, output] : llvm::enumerate(kernel.getOutputs())) {
      int64_t overwritten = kernel.overwrittenInput(i);
      outputBuffer.push_back(overwritten < 0 ? gemm.buffers.size()
                                             : overwritten);
      if (overwritten >= 0)
        continue;
      gemm.result = outputBuffer.back();
      gemm.buffers.push_back(flatMemRef(tensorType(output)));
    }
    gemm.store = [this](auto &&...args) { store(args...); };
    gemm.heavyStore = llvm::range_size(kernel.getBody().front()) > 6;
    emitGemm(module, kernel.getLoc(), gemm, factsOf(target));
  }

private:
  bool isBF16(unsigned number) {
    Value narrow = narrowSource(source.operand(number));
    return narrow && tensorType(narrow).getElementType().isBF16();
  }

  GemmOperand operand(unsigned number) {
    GemmOperand operand;
    operand.buffer = inputOf(source.operand(number));
    if (operand.buffer < 0)
      operand.load = [this, number](auto &&...args) {
        return load(number, args...);
      };
    return operand;
  }

  /// The elements [batch, row, col .. col + lanes) of a computed operand, in
  /// the order in which it would lie in memory; zeros where `mask` has no lane.
  Value load(unsigned number, OpBuilder &builder, Location loc,
             ValueRange buffers, Value batch, Value row, Value col,
             int64_t lanes, Value mask) {
    LaneMath lane(builder, loc);
    FusedBody body(kernel, buffers.take_front(kernel.getInputs().size()));
    Value value = source.operand(number);
    LaneIndex column{col, lanes > 1 ? 1 : 0, 1};
    auto index = source.operandIndex(lane, number, {batch, 0, 1}, {row, 0, 1},
                                     column, lanes);
    auto type = VectorType::get(
        {lanes}, registerType(tensorType(value).getElementType()));
    Value result;
    if (succeeded(index)) {
      FusedBody::Frame frame(body, builder, mask);
      result = frame.at(value, *index, lanes);
      if (lanes == 1)
        result = vector::BroadcastOp::create(builder, loc, type, result);
    } else {
      SmallVector<Value> elements;
      for (int64_t l = 0; l < lanes; ++l) {
        LaneIndex at = laneOf(builder, loc, column, l, mask);
        FusedBody::Frame frame(body, builder);
        auto where = *source.operandIndex(lane, number, {batch, 0, 1},
                                          {row, 0, 1}, at, 1);
        elements.push_back(frame.at(value, where, 1));
      }
      result = vector::FromElementsOp::create(builder, loc, type, elements);
    }
    if (!mask)
      return result;
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    return arith::SelectOp::create(builder, loc, mask, result, zero);
  }

  /// One lane of an index; a lane that does not exist looks where the first
  /// one does.
  static LaneIndex laneOf(OpBuilder &builder, Location loc, LaneIndex index,
                          int64_t l, Value mask) {
    Value moved =
        LaneMath(builder, loc).addConstant(index, l * index.step).base;
    if (mask && index.step != 0)
      moved = arith::SelectOp::create(
          builder, loc, extract(builder, loc, mask, l), moved, index.base);
    return {moved, 0, 1};
  }

  /// Computes and stores the kernel's outputs for the products in `acc`.
  void store(OpBuilder &builder, Location loc, ValueRange buffers, Value batch,
             Value row, Value col, Value acc, Value mask) {
    LaneMath lane(builder, loc);
    int64_t lanes = cast<VectorType>(acc.getType()).getNumElements();
    bool alongRows = shape.n == 1 || storesAlongRows(shape);
    LaneIndex i{row, alongRows ? 1 : 0, 1}, j{col, alongRows ? 0 : 1, 1};
    LaneIndex position =
        lane.add(lane.mulConstant({batch, 0, 1}, shape.m * shape.n),
                 lane.add(lane.mulConstant(i, shape.n), j));
    FusedBody body(kernel, buffers.take_front(kernel.getInputs().size()));
    auto supplied = [&](Value scalarOrVector) {
      body.supply(source.result(), [=](auto &&...) { return scalarOrVector; });
    };
    SmallVector<Value> values;
    auto index = source.resultIndex(lane, {batch, 0, 1}, i, j, lanes);
    if (succeeded(index)) {
      // A vector of one lane is a scalar to the body.
      supplied(lanes == 1 ? extract(builder, loc, acc, 0) : acc);
      FusedBody::Frame frame(body, builder, mask);
      for (Value value : source.yielded())
        values.push_back(frame.at(value, *index, lanes));
    } else {
      values = laneByLane(builder, loc, body, batch, i, j, acc, mask, supplied);
    }
    if (lanes > 1 && position.step != 1)
      return scatter(builder, loc, values, buffers, position, mask);
    for (auto [value, output] : llvm::zip(values, outputBuffer))
      storeLanes(builder, loc, value, buffers[output], position.base, false,
                 lanes == 1 ? Value() : mask);
  }

  /// Stores lanes that are no neighbours in memory.
  void scatter(OpBuilder &builder, Location loc, ArrayRef<Value> values,
               ValueRange buffers, LaneIndex position, Value mask) {
    LaneMath lane(builder, loc);
    int64_t lanes = cast<VectorType>(values[0].getType()).getNumElements();
    for (int64_t l = 0; l < lanes; ++l) {
      Value at = lane.addConstant(position, l * position.step).base;
      OpBuilder::InsertionGuard guard(builder);
      if (mask) {
        auto guarded = scf::IfOp::create(builder, loc,
                                         extract(builder, loc, mask, l), false);
        builder.setInsertionPointToStart(guarded.thenBlock());
      }
      for (auto [value, output] : llvm::zip(values, outputBuffer))
        storeLanes(builder, loc, extract(builder, loc, value, l),
                   buffers[output], at);
    }
  }

  static Value extract(OpBuilder &builder, Location loc, Value vector,
                       int64_t lane) {
    return vector::ExtractOp::create(builder, loc, vector,
                                     ArrayRef<int64_t>{lane});
  }

  /// For free dimensions that lanes do not walk evenly: each lane by itself.
  SmallVector<Value> laneByLane(OpBuilder &builder, Location loc,
                                FusedBody &body, Value batch, LaneIndex i,
                                LaneIndex j, Value acc, Value mask,
                                llvm::function_ref<void(Value)> supplied) {
    LaneMath lane(builder, loc);
    int64_t lanes = cast<VectorType>(acc.getType()).getNumElements();
    SmallVector<SmallVector<Value>> elements(source.yielded().size());
    for (int64_t l = 0; l < lanes; ++l) {
      auto at = [&](LaneIndex index) {
        return laneOf(builder, loc, index, l, mask);
      };
      supplied(extract(builder, loc, acc, l));
      FusedBody::Frame frame(body, builder);
      auto index = *source.resultIndex(lane, {batch, 0, 1}, at(i), at(j), 1);
      for (auto [value, list] : llvm::zip(source.yielded(), elements))
        list.push_back(frame.at(value, index, 1));
    }
    SmallVector<Value> vectors;
    for (auto &list : elements)
      vectors.push_back(vector::FromElementsOp::create(
          builder, loc, VectorType::get({lanes}, list.front().getType()),
          list));
    return vectors;
  }

  const ProductKernel &source;
  KernelOp kernel;
  const GemmShape &shape;
  SmallVector<int64_t> outputBuffer; ///< For each output, its argument.
};

} // namespace

LogicalResult emitGemm(KernelOp kernel, StringRef name,
                       const TargetInfo &target, ModuleOp module) {
  FailureOr<ProductKernel> source = ProductKernel::of(kernel);
  if (failed(source))
    return failure();
  GemmKernelEmitter(*source).emit(name, target, module);
  return success();
}

} // namespace tessera::lowering::cpu
