// Memory planning over the list of kernels: live ranges, then offsets, the
// largest value first, each at the lowest offset where it fits between the
// values that live at the same time.
#include "lowering/Plan/PlanMemory.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

static constexpr int64_t kAlignment = 64;

int64_t byteSize(RankedTensorType type) {
  return type.getNumElements() *
         std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
}

/// The kernel output or argument that a value is, seen through reshapes.
static Value stored(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  return value;
}

namespace {
struct LiveRange {
  Value value;
  int64_t bytes, first, last;
  int64_t offset = 0;
};
} // namespace

/// Values between kernels, with the numbers of the kernels that write them and
/// last read them.
static SmallVector<LiveRange> liveRanges(func::FuncOp function,
                                         const llvm::DenseSet<Value> &results) {
  llvm::MapVector<Value, LiveRange> ranges;
  int64_t step = 0;
  for (KernelOp kernel : function.getOps<KernelOp>()) {
    for (Value input : kernel.getInputs())
      if (auto it = ranges.find(stored(input)); it != ranges.end())
        it->second.last = step;
    for (Value output : kernel.getOutputs())
      if (!results.contains(output))
        ranges[output] = {output, byteSize(tensorType(output)), step, step};
    ++step;
  }
  SmallVector<LiveRange> list;
  for (auto &[value, range] : ranges)
    list.push_back(range);
  return list;
}

static int64_t assignOffsets(MutableArrayRef<LiveRange> ranges) {
  SmallVector<LiveRange *> bySize;
  for (LiveRange &range : ranges)
    bySize.push_back(&range);
  llvm::sort(bySize, [](LiveRange *a, LiveRange *b) {
    return std::pair(-a->bytes, a) < std::pair(-b->bytes, b);
  });
  SmallVector<LiveRange *> placed; // By offset.
  int64_t total = 0;
  for (LiveRange *range : bySize) {
    int64_t offset = 0;
    for (LiveRange *other : placed) {
      bool together =
          other->first <= range->last && range->first <= other->last;
      if (!together)
        continue;
      if (offset + range->bytes <= other->offset)
        break;
      offset = std::max<int64_t>(
          offset, llvm::alignTo(other->offset + other->bytes, kAlignment));
    }
    range->offset = offset;
    total = std::max<int64_t>(total,
                              llvm::alignTo(offset + range->bytes, kAlignment));
    placed.insert(llvm::upper_bound(placed, range,
                                    [](LiveRange *a, LiveRange *b) {
                                      return a->offset < b->offset;
                                    }),
                  range);
  }
  return total;
}

void planMemory(func::FuncOp function) {
  llvm::DenseMap<Value, Attribute> places;
  llvm::DenseSet<Value> results;
  MLIRContext *context = function.getContext();
  for (auto [i, operand] : llvm::enumerate(
           function.getBody().front().getTerminator()->getOperands())) {
    places[stored(operand)] = PlaceAttr::get(context, Space::result, i);
    results.insert(stored(operand));
  }
  SmallVector<LiveRange> ranges = liveRanges(function, results);
  int64_t arena = assignOffsets(ranges);
  for (const LiveRange &range : ranges)
    places[range.value] = PlaceAttr::get(context, Space::arena, range.offset);
  for (KernelOp kernel : function.getOps<KernelOp>()) {
    auto list = llvm::map_to_vector(kernel.getOutputs(), [&](Value output) {
      return places.lookup(output);
    });
    kernel.setPlacesAttr(ArrayAttr::get(context, list));
  }
  function->setAttr("tessera.arena",
                    IntegerAttr::get(IntegerType::get(context, 64), arena));
}

LogicalResult verifyPlan(func::FuncOp function) {
  auto arena = function->getAttrOfType<IntegerAttr>("tessera.arena");
  if (!arena || arena.getInt() < 0)
    return function.emitError(
        "the plan stage needs the size of the arena, `tessera.arena`");
  ArrayRef<Type> results = function.getResultTypes();
  auto fits = [&](PlaceAttr place, int64_t bytes) {
    int64_t offset = place.getOffset();
    if (offset < 0)
      return false;
    if (place.getSpace() == Space::result)
      return offset < int64_t(results.size()) &&
             byteSize(cast<RankedTensorType>(results[offset])) == bytes;
    return offset % kAlignment == 0 && bytes <= arena.getInt() - offset;
  };
  llvm::SmallBitVector written(results.size());
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (isa<ReshapeOp>(op))
      continue;
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel || !kernel.getPlaces())
      return op.emitError(
          "the plan stage holds only kernels with places, and reshapes");
    for (auto [place, output] :
         llvm::zip(kernel.getPlaces()->getAsRange<PlaceAttr>(),
                   kernel.getOutputs())) {
      if (!fits(place, byteSize(tensorType(output))))
        return op.emitError("has an output that its place does not hold");
      if (place.getSpace() == Space::result)
        written.set(place.getOffset());
    }
  }
  if (!written.all())
    return function.emitError("no kernel writes result ")
           << written.find_first_unset();
  return success();
}

Plan makePlan(func::FuncOp function,
              ArrayRef<std::shared_ptr<const CompiledObject>> kernels) {
  Plan plan;
  plan.arenaBytes =
      function->getAttrOfType<IntegerAttr>("tessera.arena").getInt();
  int64_t workspace = plan.arenaBytes,
          numArguments = function.getNumArguments();
  llvm::DenseMap<Value, BufferRef> where;
  for (BlockArgument argument : function.getArguments())
    where[argument] = {BufferRef::Buffer, argument.getArgNumber(), 0};
  for (auto [kernel, object] :
       llvm::zip(function.getOps<KernelOp>(), kernels)) {
    std::vector<BufferRef> buffers;
    for (Value input : kernel.getInputs())
      buffers.push_back(where.lookup(stored(input)));
    for (auto [output, place] :
         llvm::zip(kernel.getOutputs(),
                   kernel.getPlaces()->getAsRange<PlaceAttr>())) {
      bool isResult = place.getSpace() == Space::result;
      where[output] = isResult
                          ? BufferRef{BufferRef::Buffer,
                                      numArguments + place.getOffset(), 0}
                          : BufferRef{BufferRef::Arena, 0, place.getOffset()};
      buffers.push_back(where[output]);
    }
    for (const LaunchInfo &launch : object->launches) {
      PlanLaunch call{launch.symbol, launch.tiles, buffers};
      if (launch.workspaceBytes > 0)
        call.buffers.push_back({BufferRef::Arena, 0, workspace});
      plan.arenaBytes =
          std::max<int64_t>(plan.arenaBytes, workspace + launch.workspaceBytes);
      if (launch.tiles > 0)
        plan.launches.push_back(std::move(call));
    }
  }
  return plan;
}

} // namespace tessera::lowering
