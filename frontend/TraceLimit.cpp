// What bounds a trace that nobody evaluates: its older half is computed.
#include "frontend/Evaluate.h"

#include <numeric>

using namespace mlir;

namespace tessera::detail {

// The newest ops keep their history whatever happens.
static constexpr size_t kKeptOps = Trace::kMostOps / 2;

namespace {
/// The ops of a trace in order, and which of them must be computed so that
/// those before `boundary` can go.
class OlderHalf {
public:
  explicit OlderHalf(Trace &trace) : trace(trace) {
    for (Operation &op : trace.block()) {
      index[&op] = uint32_t(ops.size());
      ops.push_back(&op);
    }
    isKnown.resize(ops.size());
    devices.resize(ops.size());
    for (size_t i = 0; i < ops.size(); ++i)
      look(i);
  }

  bool isEmpty() const { return ops.size() <= kKeptOps; }

  /// Values that newer ops or handles need, by device.
  std::vector<std::pair<Device, SmallVector<Operation *>>> needed() {
    size_t boundary = findBoundary();
    std::vector<std::pair<Device, SmallVector<Operation *>>> groups;
    for (size_t i = 0; i < boundary; ++i) {
      if (!isCandidate(i) || !isNeeded(i, boundary))
        continue;
      Device device = deviceOf(i);
      auto group = llvm::find_if(
          groups, [&](auto &other) { return other.first == device; });
      if (group == groups.end())
        group = groups.insert(group, {device, {}});
      group->second.push_back(ops[i]);
    }
    return groups;
  }

private:
  /// A value is known if no argument of a function that was traced, or of one
  /// that will be called again, stands behind it.
  void look(size_t i) {
    Operation *op = ops[i];
    isKnown[i] = trace.hasStorage(op) || !isa<ir::InputOp>(op);
    for (Value operand : op->getOperands()) {
      uint32_t source = index.lookup(operand.getDefiningOp());
      isKnown[i] = isKnown[i] && isKnown[source];
      if (!devices[i])
        devices[i] = devices[source];
    }
    auto *input = trace.inputInfo(op);
    TensorImpl *impl =
        input && input->impl ? input->impl.get() : trace.info(op).impl;
    if (impl)
      devices[i] = impl->device;
  }

  bool isCandidate(size_t i) const {
    return isKnown[i] && !isa<ir::InputOp>(ops[i]) && !trace.hasStorage(ops[i]);
  }

  bool isNeeded(size_t i, size_t boundary) const {
    return trace.info(ops[i]).impl ||
           llvm::any_of(ops[i]->getUsers(), [&](Operation *user) {
             uint32_t at = index.lookup(user);
             return at >= boundary || !isKnown[at];
           });
  }

  /// Without an input or a handle, that of the ops that use the value.
  Device deviceOf(size_t i) const {
    if (devices[i])
      return *devices[i];
    for (Operation *user : ops[i]->getUsers())
      if (auto &device = devices[index.lookup(user)])
        return *device;
    return default_device();
  }

  /// Where the fewest bytes cross from older to newer ops, so that a loop is
  /// cut between two of its steps; of several such places that of the cut
  /// before. Then the next halves have the structure of this one, and need no
  /// compiler.
  size_t findBoundary() const {
    size_t last = ops.size() - kKeptOps, first = last - last / 4;
    std::vector<int64_t> crossing = bytesCrossing(last);
    int64_t least =
        *std::min_element(crossing.begin() + ptrdiff_t(first), crossing.end());
    std::optional<size_t> best;
    for (size_t i = last; i >= first; --i) {
      if (crossing[i] != least)
        continue;
      if (placeOf(i) == trace.lastCut) {
        best = i;
        break;
      }
      if (!best)
        best = i;
    }
    trace.lastCut = placeOf(*best);
    return *best;
  }

  std::pair<const void *, const void *> placeOf(size_t i) const {
    return {ops[i]->getName().getAsOpaquePointer(),
            ops[i]->getLoc().getAsOpaquePointer()};
  }

  /// For each op up to `last`, what ops before it give to it and later ones.
  std::vector<int64_t> bytesCrossing(size_t last) const {
    std::vector<int64_t> change(last + 2);
    for (size_t i = 0; i < last; ++i) {
      if (!isCandidate(i))
        continue;
      size_t end = trace.info(ops[i]).impl ? last : i;
      for (Operation *user : ops[i]->getUsers())
        end = std::max<size_t>(end, index.lookup(user));
      int64_t bytes =
          ir::tensorType(ops[i]->getResult(0)).getNumElements() * 8 + 64;
      change[i + 1] += bytes;
      change[std::min(end, last) + 1] -= bytes;
    }
    std::partial_sum(change.begin(), change.end(), change.begin());
    change.pop_back();
    return change;
  }

  Trace &trace;
  std::vector<Operation *> ops;
  llvm::DenseMap<Operation *, uint32_t> index;
  std::vector<bool> isKnown;
  std::vector<std::optional<Device>> devices;
};
} // namespace

void cutOlderHalf(Trace &trace, const char *name, std::source_location place) {
  OlderHalf half(trace);
  if (!half.isEmpty())
    for (auto &[device, ops] : half.needed())
      evaluateOps(trace, ops, device, name, "the limit of 8,192 recorded ops",
                  place);
  // What stays belongs to leaves, or to functions that are still called.
  trace.limit = std::max(Trace::kMostOps, trace.ops + kKeptOps);
}

} // namespace tessera::detail
