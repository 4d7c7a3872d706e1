// Evaluation: which values are computed together, and what stays of the trace.
#include "frontend/Evaluate.h"

#include "frontend/Devices.h"
#include "frontend/Program.h"
#include "frontend/Recording.h"

#include <set>

using namespace mlir;

namespace tessera::detail {

// A value with a handle that is no larger than this is stored along with what
// was asked for, since it costs next to nothing.
static constexpr int64_t kSmallBytes = 4096;

/// Whether computing the value again would cost much more than reading it.
static bool isExpensive(Operation *op) {
  return isa<ir::DotGeneralOp, ir::ReduceOp, ir::RandomBitsOp,
             ir::DecomposeOpInterface>(op);
}

static bool isSmall(Operation *op) {
  auto type = ir::tensorType(op->getResult(0));
  return type.getNumElements() *
             int64_t(runtime::bytesOf(dtypeFor(type.getElementType()))) <=
         kSmallBytes;
}

/// Values beside the roots that an evaluation keeps: those that somebody can
/// still ask for, and those that a backward pass would need again.
static bool shouldKeep(Trace &trace, Operation *op) {
  OpInfo info = trace.info(op);
  if (info.impl && (isSmall(op) || isExpensive(op)))
    return true;
  return info.onLeaf && isExpensive(op);
}

/// Whom the results depend on, as far as there are handles: what grad() needs
/// to tell a cut path from one that never was.
static std::shared_ptr<const Cut> makeCut(Trace &trace, const Slice &slice,
                                          const char *what,
                                          std::source_location place) {
  auto cut = std::make_shared<Cut>(Cut{userPlace(place), what, false, {}});
  SmallVector<const Cut *, 4> older;
  for (Operation *op : slice.inputs)
    if (auto *input = trace.inputInfo(op); input && input->impl) {
      cut->ancestors.push_back(input->impl->life());
      if (input->impl->cut && !input->impl->cut->ancestors.empty())
        older.push_back(input->impl->cut.get());
    }
  for (Operation *op : slice.ops)
    if (TensorImpl *impl = trace.info(op).impl)
      cut->ancestors.push_back(impl->life());
  if (older.empty())
    return cut;
  // Each once: programs that feed each other would else double them every time.
  std::set<std::weak_ptr<const void>, std::owner_less<>> seen(
      cut->ancestors.begin(), cut->ancestors.end());
  for (const Cut *before : older)
    for (auto &life : before->ancestors)
      if (!life.expired() && seen.insert(life).second)
        cut->ancestors.push_back(life);
  return cut;
}

static void store(Trace &trace, Slice &slice,
                  std::vector<runtime::Storage> results, const Device &device,
                  const char *what, std::source_location place) {
  std::shared_ptr<const Cut> cut = makeCut(trace, slice, what, place);
  std::shared_ptr<const Cut> released;
  if (trace.hasReleased)
    released = std::make_shared<const Cut>(
        Cut{trace.lastRelease, "backward", true, {}});
  llvm::DenseMap<Operation *, runtime::Storage> byOp;
  SmallVector<Operation *> latestFirst;
  for (auto [op, result] : llvm::zip(slice.outputs, results))
    if (byOp.try_emplace(op, std::move(result)).second)
      latestFirst.push_back(op);
  // Users first: when an op goes, what only it needed goes with it.
  llvm::sort(latestFirst, [&](Operation *a, Operation *b) {
    return slice.position.lookup(a) > slice.position.lookup(b);
  });
  for (Operation *op : latestFirst) {
    runtime::Storage &bytes = byOp[op];
    OpInfo info = trace.info(op);
    if (trace.dependsOnLeaf(op) && !trace.leafOf(op))
      trace.keepValue(op, std::move(bytes));
    else
      trace.replaceByInput(op, std::move(bytes),
                           info.cut        ? nullptr
                           : info.released ? released
                                           : cut,
                           device);
  }
}

void evaluateOps(Trace &trace, ArrayRef<Operation *> ops, const Device &device,
                 const char *what, const char *cause,
                 std::source_location place) {
  Slice slice = makeSlice(trace, ops);
  size_t roots = slice.outputs.size();
  for (Operation *op : slice.ops)
    if (shouldKeep(trace, op) &&
        !llvm::is_contained(ArrayRef(slice.outputs).take_front(roots), op))
      slice.outputs.push_back(op);
  std::vector<runtime::Storage> inputs;
  for (Operation *op : slice.inputs)
    inputs.push_back(trace.storageOf(op));
  auto results = run(trace, slice, std::move(inputs), device, what, place);
  store(trace, slice, std::move(results), device, cause, place);
}

/// Evaluates values of one trace on one device; the trace is locked.
static void evaluateIn(Trace &trace, ArrayRef<TensorImpl *> impls,
                       const char *what, std::source_location place) {
  SmallVector<Operation *> roots;
  for (TensorImpl *impl : impls) {
    if (impl->ready.load(std::memory_order_acquire))
      continue; // another thread has evaluated it meanwhile
    checkNotTraced(*impl, trace, what, place);
    roots.push_back(impl->op);
  }
  if (!roots.empty())
    evaluateOps(trace, roots, impls.front()->device, what, what, place);
}

void evaluate(ArrayRef<Tensor> tensors, const char *what,
              std::source_location place) {
  SmallVector<TensorImpl *> pending;
  for (const Tensor &tensor : tensors) {
    TensorImpl *impl = tensor.handle().get();
    if (!impl)
      throw ValueError(errorPlace(place), what, "the tensor is empty");
    checkNotDonated(*impl, what, place);
    if (!impl->ready.load(std::memory_order_acquire))
      pending.push_back(impl);
  }
  while (!pending.empty()) {
    Trace &trace = *pending.front()->trace;
    Device device = pending.front()->device;
    auto belongs = [&](TensorImpl *impl) {
      return impl->trace == &trace && impl->device == device;
    };
    SmallVector<TensorImpl *> now;
    llvm::copy_if(pending, std::back_inserter(now), belongs);
    llvm::erase_if(pending, belongs);
    TraceLock lock(trace);
    evaluateIn(trace, now, what, place);
  }
}

const runtime::Storage &storageOf(const Tensor &tensor, const char *what,
                                  std::source_location place) {
  TensorImpl *impl = tensor.handle().get();
  if (!impl || !impl->ready.load(std::memory_order_acquire))
    evaluate({tensor}, what, place);
  return impl->storage;
}

const runtime::Storage &hostBytesOf(const Tensor &tensor, const char *what,
                                    std::source_location place) {
  const runtime::Storage &storage = storageOf(tensor, what, place);
  if (storage.device().isHostMemory())
    return storage;
  runtime::Storage copy = bytesOn(storage, Device(), what, place);
  // Seldom called, so one lock for all; a mirror that is there stays.
  static std::mutex mutex;
  std::lock_guard guard(mutex);
  runtime::Storage &mirror = tensor.handle()->mirror;
  if (!mirror)
    mirror = std::move(copy);
  return mirror;
}

// Values inside transforms

static std::string text(std::source_location place) {
  return std::string(place.file_name()) + ":" + std::to_string(place.line());
}

/// Where an op was recorded, for a note; empty if that is unknown.
static std::string recordedAt(LocationAttr location) {
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return recordedAt(call.getCaller());
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
  return "";
}

void checkNotDonated(const TensorImpl &impl, const char *what,
                     std::source_location place) {
  if (!impl.donated.load(std::memory_order_acquire)) [[likely]]
    return;
  throw ValueError(
      errorPlace(place), what,
      "the tensor was donated to a call, which has used it up: " +
          typeText(impl.dtype, impl.shape),
      {text(impl.donation) + ": the function that was called is made here"});
}

void checkNotTraced(const TensorImpl &impl, Trace &trace, const char *what,
                    std::source_location place) {
  if (!impl.frame && trace.frames.empty())
    return;
  checkTraced(impl, trace, what, place);
  uint32_t id = trace.activeFrame(impl.op);
  const Frame *frame = trace.findFrame(id);
  if (!frame)
    return;
  std::vector<std::string> notes;
  if (std::string where = recordedAt(impl.op->getLoc()); !where.empty())
    notes.push_back(where + ": the value was recorded here");
  notes.push_back(text(frame->place) + ": " + frame->name + " traces it");
  throw TraceError(
      errorPlace(place), what,
      std::string("a value that ") + frame->name +
          " traces has no elements yet: " + typeText(impl.dtype, impl.shape),
      std::move(notes));
}

void checkTraced(const TensorImpl &impl, Trace &trace, const char *what,
                 std::source_location place) {
  if (!impl.frame || trace.findFrame(impl.frame))
    return;
  std::vector<std::string> notes;
  std::string name = "a transform";
  for (const Frame &ended : trace.endedFrames)
    if (ended.id == impl.frame) {
      name = ended.name;
      notes.push_back(text(ended.place) + ": " + name + " was called here");
    }
  throw TraceError(errorPlace(place), what,
                   "a value that " + name +
                       " traced is used after the end of it: " +
                       typeText(impl.dtype, impl.shape),
                   std::move(notes));
}

} // namespace tessera::detail
