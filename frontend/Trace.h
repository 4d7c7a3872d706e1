// The program that a thread records, and who refers to which of its ops.
#pragma once

#include "dialects/Tessera/IR/Tessera.h"
#include "frontend/TensorImpl.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <deque>

namespace tessera::detail {

/// What the trace knows of an op beyond the op itself.
struct OpInfo {
  TensorImpl *impl = nullptr; ///< of the handles, if there are any
  uint32_t frame = 0;         ///< the innermost transform it is traced in
  bool onLeaf = false;        ///< depends on a leaf: keeps its history
  bool cut = false;           ///< recorded under NoGrad: no derivative passes
  bool released = false;      ///< backward() has given its history up
};

/// What an input op stands for.
struct InputInfo {
  ImplPtr impl;      ///< a materialised tensor; null for a number
  uint64_t bits = 0; ///< the number, in the dtype of the op
  /// Of the tensor; held here too, so that nobody overwrites them.
  runtime::Storage storage = {};
};

/// A transform that is tracing.
struct Frame {
  uint32_t id;
  const char *name;
  std::source_location place;
};

/// What a rule of an op may depend on, in one context: its name, attributes,
/// result type and up to three operand types.
using OpSignature = std::array<const void *, 6>;

/// The ops of one call of a public function, to be made again for operands of
/// the same types without asking a rule: formulas are long, and what they
/// unique in the context costs more than the ops.
struct KnownCall {
  /// An op, or the number that the call is given for an operand. Its operands
  /// are steps, or, from -1 downwards, operands of the call.
  struct Step {
    std::optional<mlir::OperationName> name; ///< none of a number
    mlir::Type type;
    mlir::DictionaryAttr attributes;
    llvm::SmallVector<int32_t, 3> operands;
    DType dtype = f32; ///< of a number
  };
  llvm::SmallVector<uint64_t, 12> key;
  llvm::SmallVector<Step, 4> steps;
  int32_t result = 0;
  Shape shape; ///< of the result, as is
  DType dtype = f32;
};

/// The ops that one thread has recorded and that are still needed. Values may
/// be released on other threads, so everything is guarded by `mutex`. Counted
/// by the thread and by the tensors recorded in it.
class Trace {
public:
  Trace();
  ~Trace();
  Trace(const Trace &) = delete;

  /// The trace that this thread records into.
  static Trace &current();

  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  void release();

  // All of the following under the lock.

  mlir::MLIRContext &context() { return *theContext; }
  mlir::OpBuilder &builder() { return *theBuilder; }
  mlir::Block &block() { return *module->getBody(); }
  /// Makes a fresh context if this one is empty and has been used long enough.
  void recycleIfDue();
  mlir::LocationAttr locate(std::source_location place);
  /// Whether an op of this signature was verified lately; notes that it will be
  /// if not.
  bool wasVerified(const OpSignature &signature);
  void forgetVerified() { verified.fill({}); }
  mlir::OperationName nameOf(unsigned index, llvm::StringRef name);
  mlir::RankedTensorType typeOf(DType dtype, const Shape &shape);
  /// Where a call with this key is remembered, if it is.
  std::unique_ptr<KnownCall> &knownCall(llvm::ArrayRef<uint64_t> key);

  /// The op that stands for a materialised tensor, made at `loc` if need be.
  mlir::Operation *inputFor(TensorImpl *impl, mlir::LocationAttr loc = {});
  /// An op that stands for a number, of which `bits` are the bytes.
  mlir::Operation *inputFor(uint64_t bits, DType dtype, mlir::LocationAttr loc);
  /// Creates an op at the end of the block.
  mlir::Operation *append(mlir::LocationAttr loc, mlir::OperationName name,
                          mlir::Type type, mlir::ValueRange operands,
                          mlir::DictionaryAttr attributes);
  /// The attributes of a broadcast from no dimensions.
  mlir::DictionaryAttr noDims();
  const InputInfo *inputInfo(mlir::Operation *op) const;

  OpInfo info(mlir::Operation *op) const { return infos.lookup(op); }
  /// Whether leaves, transforms and the like may concern ops recorded now.
  bool isPlain() const;
  OpInfo &makeInfo(mlir::Operation *op) { return infos[op]; }
  /// Whether a derivative of the op's result reaches a leaf.
  bool dependsOnLeaf(mlir::Operation *op) const;
  /// The leaf that the op stands for, if it does.
  std::shared_ptr<Leaf> leafOf(mlir::Operation *op) const;

  /// The innermost transform that is tracing a value, or 0.
  uint32_t activeFrame(mlir::Operation *op) const;
  const Frame *findFrame(uint32_t id) const;

  /// The bytes of an op's result, if they are known; null for inputs of a
  /// function being traced.
  runtime::Storage storageOf(mlir::Operation *op);
  bool hasStorage(mlir::Operation *op) const;

  /// The tensor of an op's result: the handle that exists, or a new one.
  Tensor wrap(mlir::Operation *op, const Device &device);
  Tensor wrap(mlir::Operation *op, const Device &device, const Shape &shape,
              DType dtype);
  /// Called when the last handle is gone.
  void dropHandle(TensorImpl *impl);
  /// Keeps the bytes of a value beside its op, which stays as history.
  void keepValue(mlir::Operation *op, runtime::Storage storage);
  /// Puts an input with these bytes in the place of an op: its history is given
  /// up.
  void replaceByInput(mlir::Operation *op, runtime::Storage storage,
                      const std::shared_ptr<const Cut> &cut,
                      const Device &device);
  /// Erases an op without users or handles, but not its operands.
  void erase(mlir::Operation *op);
  /// Erases the op, and then its operands, unless they have users or handles.
  void eraseIfUnused(mlir::Operation *op);

  std::mutex mutex;
  /// Destroyed after unlocking, since that may lock another trace, or run a
  /// user's function that releases memory.
  llvm::SmallVector<InputInfo, 4> graveyard;
  llvm::SmallVector<runtime::Storage, 4> buried;

  /// Diagnostics of the dialect since they were last taken.
  std::string diagnostics;
  /// Transforms that are tracing, outermost first.
  std::vector<Frame> frames;
  /// The transforms that ended last, for error texts.
  std::deque<Frame> endedFrames;
  uint32_t lastFrame = 0;
  /// The last backward() that gave up history.
  std::source_location lastRelease;
  bool hasReleased = false;
  /// Whether anything was recorded under NoGrad in this context.
  bool hasCuts = false;
  /// Told of each op that goes, if set.
  llvm::function_ref<void(mlir::Operation *)> onErase;
  /// Identities of interned parts of ops in this context (Slice.cpp).
  llvm::DenseMap<std::tuple<const void *, const void *, const void *>, uint32_t>
      kindMemo;
  llvm::DenseMap<const void *, uint32_t> typeMemo;
  /// A trace of more ops is cut at the next call outside of transforms.
  static constexpr size_t kMostOps = 8192;
  size_t limit = kMostOps;
  /// The op before which the trace was cut last: its name and its place.
  std::pair<const void *, const void *> lastCut = {};
  size_t ops = 0;      ///< in the block
  size_t recorded = 0; ///< since the context was made

private:
  /// Small tables, each entry of which holds what came there last.
  struct KnownPlace {
    const char *file = nullptr;
    uint32_t line = 0, column = 0;
    mlir::LocationAttr location;
  };

  struct KnownType {
    mlir::RankedTensorType type;
    DType dtype = f32;
  };
  /// Inputs come and go with almost every op, so some that are out of the block
  /// are kept to be used again.
  struct Spares {
    const void *type = nullptr;
    std::array<mlir::Operation *, 2> ops = {};
  };

  mlir::Operation *makeInput(mlir::LocationAttr loc, mlir::Type type);
  Spares &sparesFor(mlir::Type type);
  /// Whether an input that is out of the block was kept.
  bool keepSpare(mlir::Operation *input);
  void openContext();
  void closeContext();
  void forget(mlir::Operation *op);

  std::atomic<uint32_t> references{1};
  std::unique_ptr<mlir::MLIRContext> theContext;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<mlir::OpBuilder> theBuilder;
  llvm::DenseMap<mlir::Operation *, OpInfo> infos;
  llvm::DenseMap<mlir::Operation *, InputInfo> inputs;
  llvm::DenseMap<TensorImpl *, mlir::Operation *> inputOf;
  llvm::DenseMap<mlir::Operation *, runtime::Storage> values;
  std::array<KnownPlace, 512> locations;
  std::array<OpSignature, 512> verified = {};
  std::vector<std::optional<mlir::OperationName>> names;
  std::optional<mlir::OperationName> inputName;
  mlir::DictionaryAttr noAttributes, broadcastScalar;
  std::array<KnownType, 128> types;
  std::array<Spares, 64> spares;
  std::array<std::unique_ptr<KnownCall>, 512> knownCalls;
};

/// Locks a trace; what it gives up is destroyed after unlocking.
class TraceLock {
public:
  explicit TraceLock(Trace &trace) : trace(trace) { trace.mutex.lock(); }
  ~TraceLock() {
    if (trace.graveyard.empty() && trace.buried.empty()) {
      trace.mutex.unlock();
      return;
    }
    auto inputs = std::move(trace.graveyard);
    auto storages = std::move(trace.buried);
    trace.mutex.unlock();
  }
  TraceLock(const TraceLock &) = delete;

private:
  Trace &trace;
};

/// How many ops this thread's trace holds.
size_t recordedOps();

/// A number's bits in a dtype; nothing for an integer that does not fit.
std::optional<uint64_t> bitsOf(const Scalar &scalar, DType dtype);

} // namespace tessera::detail
