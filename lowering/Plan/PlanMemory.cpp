// Memory planning over the list of kernels: live ranges, then offsets, the
// largest value first, each at the lowest offset where it fits between the
// values that live at the same time.
#include "lowering/Plan/PlanMemory.h"
#include "dialects/Tessera/IR/Symbols.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/CodeGen/UserPlace.h"
#include "lowering/Plan/InPlace.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

static constexpr int64_t kAlignment = 64;
/// What each symbol adds to `tessera.arena`, times its size.
static constexpr llvm::StringLiteral kArenaPer = "tessera.arena_per";

namespace {
/// One piece of memory and when it is in use: the values that overwrite each
/// other in it.
struct LiveRange {
  SmallVector<Value, 2> values;
  int64_t bytes, first, last;
  int64_t offset = 0;
  int64_t result = -1; ///< Which result's buffer it is; -1 for the arena.
  SmallVector<int64_t> per = {}; ///< Of the offset, see PlaceAttr.
};
} // namespace

/// The memory of the kernels' outputs, with the numbers of the kernels that
/// write it first and read it last.
static std::vector<LiveRange>
liveRanges(func::FuncOp function,
           const llvm::MapVector<Value, int64_t> &results) {
  std::vector<LiveRange> ranges;
  llvm::DenseMap<Value, size_t> rangeOf;
  int64_t step = 0;
  for (KernelOp kernel : function.getOps<KernelOp>()) {
    for (Value input : kernel.getInputs())
      if (auto it = rangeOf.find(storedValue(input)); it != rangeOf.end())
        ranges[it->second].last = step;
    for (auto [i, output] : llvm::enumerate(kernel.getOutputs())) {
      int64_t input = kernel.overwrittenInput(i);
      Value overwritten =
          input < 0 ? Value() : storedValue(kernel.getInputs()[input]);
      if (!rangeOf.contains(overwritten)) {
        rangeOf[output] = ranges.size();
        ranges.push_back({{}, byteSize(tensorType(output)), step, step});
      } else {
        rangeOf[output] = rangeOf[overwritten];
      }
      LiveRange &range = ranges[rangeOf[output]];
      range.values.push_back(output);
      if (auto it = results.find(output); it != results.end())
        range.result = it->second;
    }
    ++step;
  }
  return ranges;
}

static int64_t assignOffsets(MutableArrayRef<LiveRange> ranges) {
  SmallVector<LiveRange *> bySize;
  for (LiveRange &range : ranges)
    if (range.result < 0 && !isSymbolic(range.bytes))
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

/// Places values whose size depends on a symbol after the others: slots, one
/// after another, each of which is used by values that do not live at once, the
/// largest of which comes first. An offset is rounded down to the alignment at
/// run time, for which there is a gap before each slot. Returns what each
/// symbol adds to the arena, and adds the rest to `arena`.
static SmallVector<int64_t>
assignGrowingOffsets(MutableArrayRef<LiveRange> ranges, int64_t &arena) {
  SmallVector<LiveRange *> bySize;
  for (LiveRange &range : ranges)
    if (range.result < 0 && isSymbolic(range.bytes))
      bySize.push_back(&range);
  llvm::sort(bySize, [](LiveRange *a, LiveRange *b) {
    return std::pair(-a->bytes, a) < std::pair(-b->bytes, b);
  });
  struct Slot {
    Extent bytes;
    SmallVector<LiveRange *> users;
  };
  std::vector<Slot> slots;
  for (LiveRange *range : bySize) {
    Extent bytes = extentOf(range->bytes);
    auto slot = llvm::find_if(slots, [&](const Slot &slot) {
      return slot.bytes.symbol == bytes.symbol &&
             slot.bytes.coefficient >= bytes.coefficient &&
             slot.bytes.constant >= bytes.constant &&
             llvm::none_of(slot.users, [&](LiveRange *user) {
               return user->first <= range->last && range->first <= user->last;
             });
    });
    if (slot == slots.end())
      slot = slots.insert(slots.end(), {bytes, {}});
    slot->users.push_back(range);
  }
  SmallVector<int64_t> per(StandIns::count(), 0);
  for (const Slot &slot : slots) {
    arena += kAlignment;
    for (LiveRange *user : slot.users) {
      user->offset = arena;
      user->per = per;
    }
    arena +=
        llvm::alignTo(std::max<int64_t>(slot.bytes.constant, 0), kAlignment);
    per[slot.bytes.symbol] += slot.bytes.coefficient;
  }
  if (slots.empty())
    per.clear();
  return per;
}

void planMemory(func::FuncOp function) {
  decideInPlace(function);
  MLIRContext *context = function.getContext();
  llvm::MapVector<Value, int64_t> results;
  for (auto [i, operand] : llvm::enumerate(
           function.getBody().front().getTerminator()->getOperands()))
    results[storedValue(operand)] = i;
  std::vector<LiveRange> ranges = liveRanges(function, results);
  int64_t arena = assignOffsets(ranges);
  SmallVector<int64_t> per = assignGrowingOffsets(ranges, arena);
  llvm::DenseMap<Value, Attribute> places;
  for (const LiveRange &range : ranges)
    for (Value value : range.values)
      places[value] =
          range.result >= 0
              ? PlaceAttr::get(context, Space::result, range.result)
              : PlaceAttr::get(context, Space::arena, range.offset, range.per);
  for (KernelOp kernel : function.getOps<KernelOp>()) {
    auto list = llvm::map_to_vector(kernel.getOutputs(), [&](Value output) {
      return places.lookup(output);
    });
    kernel.setPlacesAttr(ArrayAttr::get(context, list));
  }
  function->setAttr("tessera.arena",
                    IntegerAttr::get(IntegerType::get(context, 64), arena));
  if (!per.empty())
    function->setAttr(kArenaPer, DenseI64ArrayAttr::get(context, per));
}

/// What each symbol adds to the arena.
static ArrayRef<int64_t> arenaPer(func::FuncOp function) {
  auto per = function->getAttrOfType<DenseI64ArrayAttr>(kArenaPer);
  return per ? per.asArrayRef() : ArrayRef<int64_t>();
}

/// Whether an output's place holds it: a result of its size, or the arena.
static bool fits(PlaceAttr place, Value output, func::FuncOp function,
                 int64_t arena) {
  int64_t offset = place.getOffset(), bytes = byteSize(tensorType(output));
  if (offset < 0)
    return false;
  if (place.getSpace() == Space::arena && isSymbolic(bytes)) {
    ArrayRef<int64_t> per = arenaPer(function), before = place.getPer();
    Extent size = extentOf(bytes);
    return before.size() == per.size() && size.symbol < per.size() &&
           llvm::all_of(
               llvm::zip(before, per),
               [](auto pair) {
                 return std::get<0>(pair) >= 0 &&
                        std::get<0>(pair) <= std::get<1>(pair);
               }) &&
           before[size.symbol] + size.coefficient <= per[size.symbol] &&
           offset + size.constant <= arena;
  }
  if (place.getSpace() == Space::arena)
    return offset % kAlignment == 0 && bytes <= arena - offset;
  ArrayRef<Type> results = function.getResultTypes();
  return offset < int64_t(results.size()) &&
         byteSize(cast<RankedTensorType>(results[offset])) == bytes;
}

/// Where a value lies that a kernel overwrites: as a kernel's output where that
/// was placed, as an argument in the result that takes its bytes.
static PlaceAttr placeOf(Value value, func::FuncOp function) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument) {
    auto kernel = value.getDefiningOp<KernelOp>();
    return cast<PlaceAttr>(
        (*kernel.getPlaces())[cast<OpResult>(value).getResultNumber()]);
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto alias = function.getResultAttrOfType<IntegerAttr>(i, kAlias);
        alias && alias.getInt() == argument.getArgNumber())
      return PlaceAttr::get(function.getContext(), Space::result, i);
  return nullptr;
}

static LogicalResult verifyPlaces(KernelOp kernel, func::FuncOp function,
                                  int64_t arena) {
  for (auto [i, output] : llvm::enumerate(kernel.getOutputs())) {
    auto place = cast<PlaceAttr>((*kernel.getPlaces())[i]);
    if (!fits(place, output, function, arena))
      return kernel.emitError("has an output that its place does not hold");
    int64_t input = kernel.overwrittenInput(i);
    if (input >= 0 &&
        placeOf(storedValue(kernel.getInputs()[input]), function) != place)
      return kernel.emitError("overwrites an input that lies elsewhere than "
                              "its output");
  }
  return success();
}

/// Results that take an argument's bytes are of its size, each of another
/// argument that is donated.
static LogicalResult verifyAliases(func::FuncOp function) {
  llvm::SmallDenseSet<int64_t> taken;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto alias = function.getResultAttrOfType<IntegerAttr>(i, kAlias);
    if (!alias)
      continue;
    int64_t argument = alias.getInt();
    if (argument < 0 || argument >= int64_t(function.getNumArguments()) ||
        !function.getArgAttr(argument, kDonate) ||
        !taken.insert(argument).second ||
        byteSize(tensorType(function.getArgument(argument))) !=
            byteSize(cast<RankedTensorType>(function.getResultTypes()[i])))
      return function.emitError("result ")
             << i << " takes the bytes of argument " << argument
             << ", which does not give them to it";
  }
  return success();
}

LogicalResult verifyPlan(func::FuncOp function) {
  auto arena = function->getAttrOfType<IntegerAttr>("tessera.arena");
  if (!arena || arena.getInt() < 0)
    return function.emitError(
        "the plan stage needs the size of the arena, `tessera.arena`");
  llvm::SmallBitVector written(function.getNumResults());
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (isa<ReshapeOp>(op))
      continue;
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel || !kernel.getPlaces())
      return op.emitError(
          "the plan stage holds only kernels with places, and reshapes");
    if (failed(verifyPlaces(kernel, function, arena.getInt())))
      return failure();
    for (auto place : kernel.getPlaces()->getAsRange<PlaceAttr>())
      if (place.getSpace() == Space::result)
        written.set(place.getOffset());
  }
  if (!written.all())
    return function.emitError("no kernel writes result ")
           << written.find_first_unset();
  return verifyAliases(function);
}

/// Of workspaces that no two launches use at once the largest counts.
static void addWorkspace(Plan &plan, runtime::SizeFormula bytes) {
  if (bytes == runtime::SizeFormula() ||
      llvm::is_contained(plan.workspaces, bytes))
    return;
  plan.workspaces.push_back(std::move(bytes));
}

static std::string placeText(KernelOp kernel) {
  FileLineColLoc place = userPlace(kernel.getLoc());
  return place ? (place.getFilename().strref() + ":" + Twine(place.getLine()))
                     .str()
               : "";
}

Plan makePlan(func::FuncOp function, ArrayRef<ArrayRef<LaunchInfo>> kernels) {
  Plan plan;
  plan.arenaBytes =
      function->getAttrOfType<IntegerAttr>("tessera.arena").getInt();
  int64_t workspace = plan.arenaBytes,
          numArguments = function.getNumArguments();
  BufferRef after{BufferRef::Arena, 0, workspace};
  plan.symbols = StandIns::count();
  if (plan.symbols > 0) {
    plan.numBuffers = numArguments + function.getNumResults();
    // Workspaces begin where the arena, rounded up, ends.
    plan.arenaBytes = after.offset = llvm::alignTo(workspace, kAlignment) + 63;
    plan.arenaPer = after.per = arenaPer(function).vec();
    if (after.per.empty())
      after.offset = workspace;
  }
  for (int64_t i = 0; i < function.getNumResults(); ++i) {
    auto alias = function.getResultAttrOfType<IntegerAttr>(i, kAlias);
    plan.aliases.push_back(alias ? alias.getInt() : -1);
  }
  llvm::DenseMap<Value, BufferRef> where;
  for (BlockArgument argument : function.getArguments())
    where[argument] = {BufferRef::Buffer, argument.getArgNumber(), 0};
  for (auto [kernel, launches] :
       llvm::zip(function.getOps<KernelOp>(), kernels)) {
    std::vector<BufferRef> buffers;
    for (Value input : kernel.getInputs())
      buffers.push_back(where.lookup(storedValue(input)));
    for (auto [i, place] :
         llvm::enumerate(kernel.getPlaces()->getAsRange<PlaceAttr>())) {
      bool isResult = place.getSpace() == Space::result;
      BufferRef &ref = where[kernel.getOutputs()[i]];
      ref = isResult ? BufferRef{BufferRef::Buffer,
                                 numArguments + place.getOffset(), 0}
                     : BufferRef{BufferRef::Arena, 0, place.getOffset(),
                                 place.getPer().vec()};
      if (kernel.overwrittenInput(i) < 0)
        buffers.push_back(ref);
    }
    for (const LaunchInfo &launch : launches) {
      PlanLaunch call{launch.symbol, launch.tiles, buffers, launch.tileTerms,
                      placeText(kernel)};
      if (launch.hasWorkspace())
        call.buffers.push_back(after);
      if (launch.takesDims)
        call.buffers.push_back({BufferRef::Dims, 0, 0});
      if (plan.symbols > 0)
        addWorkspace(plan, {launch.workspaceBytes, launch.workspaceTerms});
      else
        plan.arenaBytes = std::max<int64_t>(plan.arenaBytes,
                                            workspace + launch.workspaceBytes);
      if (launch.tiles > 0 || !launch.tileTerms.empty())
        plan.launches.push_back(std::move(call));
    }
  }
  if (plan.symbols > 0 && plan.workspaces.empty())
    plan.arenaBytes = workspace;
  return plan;
}

} // namespace tessera::lowering
