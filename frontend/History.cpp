// Derivatives of recorded values, leaves, and when history ends.
#include "frontend/History.h"

#include "dialects/Tessera/Transforms/Autodiff.h"
#include "frontend/Evaluate.h"
#include "frontend/Formula.h"
#include "frontend/Operands.h"
#include "tessera/Autodiff.h"
#include "tessera/Elementwise.h"
#include "tessera/Scope.h"

using namespace mlir;

namespace tessera {
namespace detail {

namespace {
/// Walks back from values, operands before users are not promised.
class Walk {
public:
  /// `enter` decides whether to go on to an op's operands.
  template <typename Enter> static void run(ValueRange from, Enter enter) {
    llvm::DenseSet<Operation *> seen;
    SmallVector<Operation *, 32> work;
    for (Value value : from)
      work.push_back(value.getDefiningOp());
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      if (!seen.insert(op).second || !enter(op))
        continue;
      for (Value operand : op->getOperands())
        work.push_back(operand.getDefiningOp());
    }
  }
};
} // namespace

SmallVector<Value> findBarriers(Trace &trace, ValueRange outputs,
                                ValueRange inputs) {
  SmallVector<Value> barriers;
  if (!trace.hasCuts)
    return barriers;
  llvm::DenseSet<Value> sources(inputs.begin(), inputs.end());
  Walk::run(outputs, [&](Operation *op) {
    Value value = op->getResult(0);
    if (sources.contains(value))
      return false;
    bool isCut = trace.info(op).cut;
    if (isCut)
      barriers.push_back(value);
    return !isCut;
  });
  return barriers;
}

static std::string text(std::source_location place) {
  return std::string(place.file_name()) + ":" + std::to_string(place.line());
}

//===-- grad of recorded values
//--------------------------------------------===//

namespace {
/// One call grad(loss, ws...).
class RecordedGradient {
public:
  RecordedGradient(const Operand &loss, std::span<const Tensor> ws)
      : r("grad", loss.place(), pointers(loss, ws)), loss(loss.tensor()),
        ws(ws) {}

  std::vector<Tensor> run() {
    if (loss.ndim() != 0 || !runtime::isFloat(loss.dtype()))
      r.fail<ShapeError>("the value is no scalar: " + typeText(loss));
    Value y = r.value(loss);
    SmallVector<Value> inputs;
    for (const Tensor &w : ws) {
      if (!runtime::isFloat(w.dtype()))
        r.fail<TypeError>("only floats have derivatives: " + typeText(w));
      inputs.push_back(r.value(w));
    }
    checkPaths(y, inputs);
    SmallVector<Value> all = inputs;
    llvm::append_range(all, findBarriers(r.trace(), y, inputs));
    Value one =
        ir::detail::full(r.builder(), r.location(), ir::tensorType(y), 1.0);
    SmallVector<Value> grads = ir::buildVjp(r.builder(), y, all, one);
    grads.truncate(inputs.size());
    // A path whose derivative is zero, such as one through floor.
    for (auto [grad, input] : llvm::zip(grads, inputs))
      if (!grad)
        grad = ir::detail::full(r.builder(), r.location(),
                                ir::tensorType(input), 0.0);
    return r.finish(ValueRange(grads));
  }

private:
  static SmallVector<const Tensor *> pointers(const Operand &loss,
                                              std::span<const Tensor> ws) {
    SmallVector<const Tensor *> all{&loss.tensor()};
    for (const Tensor &w : ws)
      all.push_back(&w);
    return all;
  }

  /// Throws unless a derivative can reach every input.
  void checkPaths(Value y, ArrayRef<Value> inputs) {
    llvm::DenseSet<Operation *> wanted, found;
    for (Value input : inputs)
      wanted.insert(input.getDefiningOp());
    SmallVector<const Cut *> cuts;
    Walk::run(y, [&](Operation *op) {
      if (wanted.contains(op))
        found.insert(op);
      if (auto *input = r.trace().inputInfo(op); input && input->impl)
        if (const Cut *cut = input->impl->cut.get())
          cuts.push_back(cut);
      return !op->hasTrait<ir::NonDifferentiable>() && !r.trace().info(op).cut;
    });
    for (auto [i, input] : llvm::enumerate(inputs))
      if (!found.contains(input.getDefiningOp()))
        failAt(i, cuts);
  }

  [[noreturn]] void failAt(size_t i, ArrayRef<const Cut *> cuts) {
    std::string which =
        ws.size() == 1 ? "the tensor" : "tensor " + std::to_string(i + 1);
    std::shared_ptr<const void> life = ws[i].handle()->life();
    for (const Cut *cut : cuts)
      for (auto &ancestor : cut->ancestors)
        if (ancestor.lock() == life)
          throw TraceError(
              errorPlace(r.place()), "grad",
              "the history that leads to " + which + " (" + typeText(ws[i]) +
                  ") was dropped when a value between was evaluated",
              {text(cut->place) + ": evaluated here by " + cut->what +
               "; requires_grad(true) before keeps the history"});
    r.fail<ValueError>("the value never depended on " + which + ": " +
                       typeText(ws[i]));
  }

  Recording r;
  const Tensor &loss;
  std::span<const Tensor> ws;
};

//===-- backward
//-----------------------------------------------------------===//

/// One call loss.backward().
class Backward {
public:
  Backward(const Tensor &loss, std::source_location place)
      : r("backward", place, {&loss}), loss(loss) {}

  /// The leaves, and a gradient for each.
  std::vector<Tensor> run(bool retainGraph,
                          std::vector<std::shared_ptr<Leaf>> &leaves) {
    if (loss.ndim() != 0 || !runtime::isFloat(loss.dtype()))
      r.fail<ShapeError>("the value is no scalar: " + typeText(loss));
    Value y = r.value(loss);
    findLeaves(y, leaves);
    if (isReleased)
      throw TraceError(errorPlace(r.place()), "backward",
                       "the history of the value has been given up",
                       {text(r.trace().lastRelease) +
                        ": by this backward(), or one before; "
                        "backward(true) keeps it"});
    if (leaves.empty())
      r.fail<ValueError>("the value depends on no tensor with "
                         "requires_grad(true)");
    SmallVector<Value> all = inputs;
    llvm::append_range(all, findBarriers(r.trace(), y, inputs));
    Value one =
        ir::detail::full(r.builder(), r.location(), ir::tensorType(y), 1.0);
    SmallVector<Value> grads = ir::buildVjp(r.builder(), y, all, one);
    std::vector<std::shared_ptr<Leaf>> reached;
    SmallVector<Value> made;
    for (auto [leaf, grad] : llvm::zip(leaves, grads))
      if (grad) {
        reached.push_back(leaf);
        made.push_back(grad);
      }
    leaves = std::move(reached);
    std::vector<Tensor> tensors = r.finish(ValueRange(made));
    if (!retainGraph)
      release();
    return tensors;
  }

private:
  void findLeaves(Value y, std::vector<std::shared_ptr<Leaf>> &leaves) {
    Trace &trace = r.trace();
    Walk::run(y, [&](Operation *op) {
      if (std::shared_ptr<Leaf> leaf = trace.leafOf(op)) {
        leaves.push_back(leaf);
        inputs.push_back(op->getResult(0));
        return false;
      }
      auto *input = trace.inputInfo(op);
      if (input && input->impl && input->impl->cut)
        isReleased |= input->impl->cut->isRelease;
      isReleased |= trace.info(op).released;
      if (!trace.dependsOnLeaf(op))
        return false;
      history.push_back(op);
      return true;
    });
  }

  /// From now on the ops are like any others, and values that are known take
  /// the place of their ops.
  void release() {
    Trace &trace = r.trace();
    auto cut = std::make_shared<const Cut>(
        Cut{userPlace(r.place()), "backward", true, {}});
    for (Operation *op : history) {
      OpInfo &info = trace.makeInfo(op);
      info.onLeaf = false;
      info.released = true;
    }
    trace.hasReleased = true;
    trace.lastRelease = userPlace(r.place());
    SmallVector<Operation *> known;
    for (Operation *op : history)
      if (trace.hasStorage(op))
        known.push_back(op);
    // Users before operands, so that ops are not found gone.
    llvm::sort(known, [](Operation *a, Operation *b) {
      return b->isBeforeInBlock(a);
    });
    llvm::DenseSet<Operation *> waiting(known.begin(), known.end());
    auto gone = [&](Operation *op) { waiting.erase(op); };
    trace.onErase = gone;
    for (Operation *op : known)
      if (waiting.contains(op))
        trace.replaceByInput(op, trace.storageOf(op), cut, r.device());
    trace.onErase = nullptr;
  }

  Recording r;
  const Tensor &loss;
  SmallVector<Value> inputs;
  SmallVector<Operation *> history;
  bool isReleased = false;
};
} // namespace
} // namespace detail

using namespace detail;

std::vector<Tensor> grad(const Operand &loss, std::span<const Tensor> ws) {
  return RecordedGradient(loss, ws).run();
}

Tensor grad(const Operand &loss, const Tensor &w) {
  return std::move(grad(loss, std::span(&w, 1)).front());
}

void Tensor::backward(bool retain_graph, std::source_location place) const {
  std::vector<std::shared_ptr<Leaf>> leaves;
  std::vector<Tensor> grads;
  NoGrad guard; // gradients themselves keep no history
  grads = Backward(*this, place).run(retain_graph, leaves);
  for (size_t i = 0; i < leaves.size(); ++i) {
    std::lock_guard lock(leaves[i]->mutex);
    Tensor &sum = leaves[i]->gradient;
    sum = sum.defined() ? add(Operand(sum, place), Operand(grads[i], place))
                        : grads[i];
  }
}

//===-- Leaves
//-------------------------------------------------------------===//

Tensor &Tensor::requires_grad(bool on, std::source_location place) {
  if (!impl)
    throw ValueError(errorPlace(place), "requires_grad", "the tensor is empty");
  if (!runtime::isFloat(dtype()))
    throw TypeError(errorPlace(place), "requires_grad",
                    "only floats have derivatives: " + typeText(*this));
  leavesExist = true;
  auto apply = [&] {
    if (on != bool(impl->leaf))
      impl->leaf = on ? std::make_shared<Leaf>() : nullptr;
  };
  if (!impl->trace) {
    apply();
    return *this;
  }
  std::shared_ptr<Leaf> old = impl->leaf; // not destroyed under the lock
  TraceLock lock(*impl->trace);
  apply();
  if (impl->op)
    impl->trace->makeInfo(impl->op).onLeaf = on;
  return *this;
}

bool Tensor::requires_grad() const {
  if (!impl)
    throw ValueError({}, "requires_grad", "the tensor is empty");
  if (impl->leaf)
    return true;
  if (!impl->trace)
    return false;
  TraceLock lock(*impl->trace);
  return impl->op && impl->trace->dependsOnLeaf(impl->op);
}

static Leaf &leafOf(const Tensor &x, const char *name) {
  if (!x.defined())
    throw ValueError({}, name, "the tensor is empty");
  if (!x.handle()->leaf)
    throw ValueError(
        {}, name, "the tensor is no leaf, see requires_grad: " + typeText(x));
  return *x.handle()->leaf;
}

Tensor Tensor::grad() const {
  Leaf &leaf = leafOf(*this, "grad");
  std::lock_guard lock(leaf.mutex);
  return leaf.gradient;
}

void Tensor::zero_grad() {
  Leaf &leaf = leafOf(*this, "zero_grad");
  Tensor old;
  std::lock_guard lock(leaf.mutex);
  std::swap(old, leaf.gradient);
}

} // namespace tessera
