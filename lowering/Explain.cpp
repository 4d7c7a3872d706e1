// Costs by shapes, and the page that explains a plan.
#include "lowering/Explain.h"
#include "dialects/Tessera/IR/Symbols.h"
#include "lowering/CodeGen/UserPlace.h"
#include "lowering/Dump.h"
#include "lowering/Pipeline.h"
#include "lowering/Plan/PlanMemory.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

//===-- Costs --===//

static int64_t flopsOf(Operation &op) {
  if (op.getNumResults() != 1)
    return 0;
  RankedTensorType result = tensorType(op.getResult(0));
  if (auto product = dyn_cast<DotGeneralOp>(op)) {
    int64_t terms = 1;
    for (int64_t dim : product.getAContract())
      terms *= tensorType(product.getA()).getDimSize(dim);
    return isa<FloatType>(result.getElementType())
               ? 2 * terms * result.getNumElements()
               : 0;
  }
  if (op.getNumOperands() == 0)
    return 0;
  RankedTensorType operand = tensorType(op.getOperand(0));
  if (isa<ReduceOp>(op))
    return isa<FloatType>(operand.getElementType()) ? operand.getNumElements()
                                                    : 0;
  bool onFloats = llvm::any_of(op.getOperandTypes(), [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  });
  return isa<ScalarOpInterface>(op) && onFloats ? result.getNumElements() : 0;
}

Cost costOf(KernelOp kernel) {
  Cost cost;
  for (Operation &op : kernel.getBody().front())
    cost.flops += flopsOf(op);
  for (Value value : kernel.getInputs())
    cost.bytes += byteSize(tensorType(value));
  for (Value value : kernel.getOutputs())
    cost.bytes += byteSize(tensorType(value));
  return cost;
}

Cost costOf(func::FuncOp function) {
  Cost sum;
  for (KernelOp kernel : function.getOps<KernelOp>()) {
    Cost cost = costOf(kernel);
    sum.flops += cost.flops;
    sum.bytes += cost.bytes;
  }
  return sum;
}

//===-- The page --===//

/// 1234567 as 1,234,567.
static std::string grouped(int64_t number) {
  if (isSymbolic(number))
    return sizeText(number);
  std::string digits = std::to_string(number);
  for (int64_t at = int64_t(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(at, ",");
  return digits;
}

static std::string counted(int64_t number, StringRef what) {
  return grouped(number) + " " + what.str() + (number == 1 ? "" : "s");
}

static std::string text(Cost cost) {
  return grouped(cost.flops) + " FLOPs, " + counted(cost.bytes, "byte");
}

/// The user's lines that a location comes from, in order: `f.cpp:3, 4`.
static std::string linesOf(Location loc) {
  SmallVector<Location> parts{loc};
  if (auto fused = dyn_cast<FusedLoc>(loc))
    parts.assign(fused.getLocations().begin(), fused.getLocations().end());
  llvm::MapVector<StringRef, SmallVector<unsigned>> lines;
  for (Location part : parts)
    if (FileLineColLoc place = userPlace(part)) {
      auto &known = lines[place.getFilename().getValue()];
      if (!llvm::is_contained(known, place.getLine()))
        known.push_back(place.getLine());
    }
  std::string result;
  for (auto &[file, numbers] : lines) {
    llvm::sort(numbers);
    result +=
        (result.empty() ? "" : "; ") + file.str() + ":" +
        llvm::join(llvm::map_range(
                       numbers, [](unsigned n) { return std::to_string(n); }),
                   ", ");
  }
  return result;
}

namespace {
class Page {
public:
  Page(func::FuncOp function, ArrayRef<KernelTime> times)
      : function(function), times(times), out(page) {
    for (BlockArgument argument : function.getArguments())
      where[argument] = "argument " + std::to_string(argument.getArgNumber());
  }

  std::string write() {
    auto kernels = llvm::to_vector(function.getOps<KernelOp>());
    int64_t arena =
        function->getAttrOfType<IntegerAttr>("tessera.arena").getInt();
    out << counted(function.getNumArguments(), "argument") << ", "
        << counted(function.getNumResults(), "result") << ", "
        << counted(kernels.size(), "kernel") << ", " << text(costOf(function))
        << ", an arena of " << counted(arena, "byte") << "\n";
    for (auto [i, kernel, job] : llvm::enumerate(kernels, jobs()))
      describe(kernel, job, i < times.size() ? &times[i] : nullptr);
    return std::move(page);
  }

private:
  /// Names and keys as the compilation gives them.
  std::vector<KernelJob> jobs() { return kernelJobs(function, {}); }

  void describe(KernelOp kernel, const KernelJob &job, const KernelTime *time) {
    out << "\n" << job.name;
    if (std::string lines = linesOf(kernel.getLoc()); !lines.empty())
      out << " (" << lines << ")";
    auto [first, isNew] = firstOfKey.try_emplace(job.key, job.name);
    if (!isNew)
      out << ", the same code as " << first->second;
    SmallVector<StringRef> ops;
    for (Operation &op : kernel.getBody().front().without_terminator())
      ops.push_back(op.getName().stripDialect());
    out << "\n  computes " << llvm::join(ops, ", ") << "\n";
    for (Value input : kernel.getInputs())
      out << "  reads    " << typeText(input.getType()) << ", "
          << placeOf(input) << "\n";
    for (auto [output, place] :
         llvm::zip_equal(kernel.getOutputs(),
                         kernel.getPlaces()->getAsRange<PlaceAttr>())) {
      where[output] =
          (place.getSpace() == Space::result ? "result " : "arena at ") +
          grouped(place.getOffset());
      out << "  writes   " << typeText(output.getType()) << ", "
          << where[output] << "\n";
    }
    out << "  costs    " << text(costOf(kernel)) << "\n";
    if (time)
      out << llvm::format("  takes    %.3g us, %.2f of what the %s allows\n",
                          time->seconds * 1e6, time->fraction,
                          time->boundByMemory ? "memory" : "arithmetic");
    if (auto reasons = kernel.getReasons())
      for (StringRef reason : reasons->getAsValueRange<StringAttr>())
        out << "  because  " << reason << "\n";
  }

  std::string placeOf(Value value) {
    while (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getX();
    return where.lookup(value);
  }

  func::FuncOp function;
  ArrayRef<KernelTime> times;
  std::string page;
  llvm::raw_string_ostream out;
  llvm::DenseMap<Value, std::string> where;
  llvm::StringMap<std::string> firstOfKey;
};
} // namespace

std::string explain(func::FuncOp function, ArrayRef<KernelTime> times) {
  return Page(function, times).write();
}

} // namespace tessera::lowering
