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
/// A value that a kernel reads or writes.
struct Access {
  std::string type, place;
};

/// What there is to say of a kernel.
struct Description {
  std::string name, lines, sameAs;
  SmallVector<StringRef> ops;
  std::vector<Access> reads, writes;
  Cost cost;
  SmallVector<StringRef> reasons;
};

class Describer {
public:
  explicit Describer(func::FuncOp function) : function(function) {
    for (BlockArgument argument : function.getArguments())
      where[argument] = "argument " + std::to_string(argument.getArgNumber());
  }

  std::vector<Description> kernels() {
    std::vector<Description> all;
    // Names and keys as the compilation gives them.
    for (auto [kernel, job] :
         llvm::zip_equal(function.getOps<KernelOp>(), kernelJobs(function, {})))
      all.push_back(describe(kernel, job));
    return all;
  }

private:
  Description describe(KernelOp kernel, const KernelJob &job) {
    Description is;
    is.name = job.name;
    is.lines = linesOf(kernel.getLoc());
    auto [first, isNew] = firstOfKey.try_emplace(job.key, job.name);
    if (!isNew)
      is.sameAs = first->second;
    for (Operation &op : kernel.getBody().front().without_terminator())
      is.ops.push_back(op.getName().stripDialect());
    for (Value input : kernel.getInputs())
      is.reads.push_back({typeText(input.getType()), placeOf(input)});
    for (auto [output, place] :
         llvm::zip_equal(kernel.getOutputs(),
                         kernel.getPlaces()->getAsRange<PlaceAttr>())) {
      where[output] =
          (place.getSpace() == Space::result ? "result " : "arena at ") +
          grouped(place.getOffset());
      is.writes.push_back({typeText(output.getType()), where[output]});
    }
    is.cost = costOf(kernel);
    if (auto reasons = kernel.getReasons())
      is.reasons = llvm::to_vector(reasons->getAsValueRange<StringAttr>());
    return is;
  }

  std::string placeOf(Value value) {
    while (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getX();
    return where.lookup(value);
  }

  func::FuncOp function;
  llvm::DenseMap<Value, std::string> where;
  llvm::StringMap<std::string> firstOfKey;
};
} // namespace

static int64_t arenaOf(func::FuncOp function) {
  return function->getAttrOfType<IntegerAttr>("tessera.arena").getInt();
}

static void print(llvm::raw_ostream &out, const Description &kernel,
                  const KernelTime *time) {
  out << "\n" << kernel.name;
  if (!kernel.lines.empty())
    out << " (" << kernel.lines << ")";
  if (!kernel.sameAs.empty())
    out << ", the same code as " << kernel.sameAs;
  out << "\n  computes " << llvm::join(kernel.ops, ", ") << "\n";
  for (const Access &read : kernel.reads)
    out << "  reads    " << read.type << ", " << read.place << "\n";
  for (const Access &write : kernel.writes)
    out << "  writes   " << write.type << ", " << write.place << "\n";
  out << "  costs    " << text(kernel.cost) << "\n";
  if (time)
    out << llvm::format("  takes    %.3g us, %.2f of what the %s allows\n",
                        time->seconds * 1e6, time->fraction,
                        time->boundByMemory ? "memory" : "arithmetic");
  for (StringRef reason : kernel.reasons)
    out << "  because  " << reason << "\n";
}

std::string explain(func::FuncOp function, ArrayRef<KernelTime> times) {
  std::vector<Description> kernels = Describer(function).kernels();
  std::string page;
  llvm::raw_string_ostream out(page);
  out << counted(function.getNumArguments(), "argument") << ", "
      << counted(function.getNumResults(), "result") << ", "
      << counted(kernels.size(), "kernel") << ", " << text(costOf(function))
      << ", an arena of " << counted(arenaOf(function), "byte") << "\n";
  for (auto [i, kernel] : llvm::enumerate(kernels))
    print(out, kernel, i < times.size() ? &times[i] : nullptr);
  return page;
}

//===-- The same as JSON --===//

static llvm::json::Value jsonOf(int64_t size) {
  return isSymbolic(size) ? llvm::json::Value(sizeText(size))
                          : llvm::json::Value(size);
}

static llvm::json::Array jsonOf(ArrayRef<Access> accesses) {
  llvm::json::Array array;
  for (const Access &access : accesses)
    array.push_back(
        llvm::json::Object{{"type", access.type}, {"place", access.place}});
  return array;
}

llvm::json::Object explainAsJson(func::FuncOp function,
                                 ArrayRef<KernelTime> times) {
  llvm::json::Array kernels;
  for (auto [i, kernel] : llvm::enumerate(Describer(function).kernels())) {
    llvm::json::Object object{{"name", kernel.name},
                              {"lines", kernel.lines},
                              {"computes", llvm::json::Array(kernel.ops)},
                              {"reads", jsonOf(kernel.reads)},
                              {"writes", jsonOf(kernel.writes)},
                              {"flops", jsonOf(kernel.cost.flops)},
                              {"bytes", jsonOf(kernel.cost.bytes)},
                              {"because", llvm::json::Array(kernel.reasons)}};
    if (!kernel.sameAs.empty())
      object["same_code_as"] = kernel.sameAs;
    if (i < times.size()) {
      object["us"] = times[i].seconds * 1e6;
      object["fraction"] = times[i].fraction;
      object["bound_by"] = times[i].boundByMemory ? "memory" : "arithmetic";
    }
    kernels.push_back(std::move(object));
  }
  Cost cost = costOf(function);
  return llvm::json::Object{{"flops", jsonOf(cost.flops)},
                            {"bytes", jsonOf(cost.bytes)},
                            {"arena", jsonOf(arenaOf(function))},
                            {"kernels", std::move(kernels)}};
}

} // namespace tessera::lowering
