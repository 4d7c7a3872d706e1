// Tracing of functions into programs, and their calls.
#include "tessera/Jit.h"

#include "frontend/Cells.h"
#include "frontend/Evaluate.h"
#include "frontend/Program.h"
#include "frontend/Recording.h"
#include "runtime/Allocator.h"

using namespace mlir;

namespace tessera::detail {

//===-- Signatures --===//

void sign(Signature &signature, const Tensor &tensor) {
  if (!tensor.defined()) {
    signature.push_back(~uint64_t(0));
    return;
  }
  const Shape &shape = tensor.handle()->shape;
  signature.push_back(uint64_t(tensor.handle()->dtype) << 32 | shape.size());
  for (int64_t size : shape)
    signature.push_back(uint64_t(size));
}

void sign(Signature &signature, const Variable &variable) {
  signature.push_back(reinterpret_cast<uintptr_t>(variable.cell().get()));
  sign(signature, variable.value());
}

void signBytes(Signature &signature, const void *data, size_t bytes) {
  signature.push_back(bytes);
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const char *>(data) + i,
                std::min<size_t>(8, bytes - i));
    signature.push_back(word);
  }
}

bool mustInline(std::span<const Tensor> arguments) {
  Trace &trace = Trace::current();
  if (!trace.frames.empty() ||
      default_device().kind() == runtime::DeviceKind::Reference)
    return true;
  for (const Tensor &argument : arguments) {
    TensorImpl *impl = argument.handle().get();
    if (!impl || impl->device.kind() == runtime::DeviceKind::Reference)
      return true;
    bool plain = impl->ready.load(std::memory_order_acquire) && !impl->trace &&
                 !impl->leaf;
    if (!plain && argument.requires_grad())
      return true;
  }
  return false;
}

//===-- Programs --===//

namespace {

/// Where a program finds the bytes of an input.
struct Source {
  enum Kind { Argument, Variable, Bound } kind;
  size_t index = 0; ///< of the argument or the variable
  runtime::Storage bytes;
};

struct Output {
  Shape shape;
  DType dtype;
};

class CompiledProgram : public JitProgram {
public:
  std::vector<Tensor> run(std::span<const Tensor> arguments, int threads,
                          std::source_location place) const override {
    llvm::SmallVector<runtime::Storage, 16> inputs,
        outputs(this->outputs.size());
    for (const Source &source : sources)
      inputs.push_back(bytesOf(source, arguments, place));
    try {
      runtime::Status status = executable->run(inputs, outputs, threads);
      if (!status.ok())
        throw InternalError(errorPlace(place), "jit",
                            "the compiled program failed with code " +
                                std::to_string(status.code));
    } catch (const runtime::OutOfMemoryError &error) {
      throw OutOfMemory(errorPlace(place), "jit", error.what());
    }
    std::vector<Tensor> results;
    results.reserve(numResults);
    for (size_t i = 0; i < outputs.size(); ++i) {
      Tensor tensor = makeTensor(std::move(outputs[i]), this->outputs[i].shape,
                                 this->outputs[i].dtype, Device());
      if (i < numResults)
        results.push_back(std::move(tensor));
      else
        written[i - numResults]->store(std::move(tensor));
    }
    return results;
  }

  std::vector<Source> sources;
  std::vector<std::shared_ptr<Cell>> cells, written;
  std::vector<Output> outputs; ///< results, then written variables
  size_t numResults = 0;
  std::shared_ptr<runtime::Executable> executable;

private:
  runtime::Storage bytesOf(const Source &source,
                           std::span<const Tensor> arguments,
                           std::source_location place) const {
    if (source.kind == Source::Bound)
      return source.bytes;
    Tensor tensor = source.kind == Source::Argument
                        ? arguments[source.index]
                        : cells[source.index]->load();
    checkVariable(source, tensor, place);
    return storageOf(tensor, "jit", place);
  }

  /// A variable that changed its type since the trace needs another program.
  void checkVariable(const Source &source, const Tensor &tensor,
                     std::source_location place) const {
    if (source.kind != Source::Variable)
      return;
    const Output &expected = cellTypes[source.index];
    if (!tensor.defined() || tensor.handle()->dtype != expected.dtype ||
        tensor.handle()->shape != expected.shape)
      throw ValueError(
          errorPlace(place), "jit",
          "a variable that the function captures has changed its type since "
          "it was traced: " +
              typeText(expected.dtype, expected.shape) + " and " +
              (tensor.defined() ? typeText(tensor) : "nothing"));
  }

public:
  std::vector<Output> cellTypes;
};

} // namespace

//===-- Tracing --===//

struct JitTrace::State {
  State(std::span<const Tensor> arguments, std::source_location place)
      : place(place), transform("jit", place, arguments, /*stand=*/true) {
    marker = transform.standFor(Tensor(0.f, place));
    transform.cells().state().capture =
        [this](const std::shared_ptr<Cell> &cell) { return capture(cell); };
  }

  /// Stands an input for a variable.
  Tensor capture(const std::shared_ptr<Cell> &cell) {
    Tensor value = cell->load();
    if (!value.defined())
      return value;
    Tensor input = transform.standFor(value);
    program->cells.push_back(cell);
    program->cellTypes.push_back({value.shape(), value.dtype()});
    cellInputs.push_back(input);
    return input;
  }

  SmallVector<Operation *> opsOf(std::span<const Tensor> tensors) {
    Trace &trace = Trace::current();
    SmallVector<Operation *> ops;
    for (const Tensor &tensor : tensors)
      ops.push_back(tensor.handle()->op && tensor.handle()->trace == &trace
                        ? tensor.handle()->op
                        : trace.inputFor(tensor.handle().get()));
    return ops;
  }

  /// Values recorded before the tracing that the function used: they are
  /// computed now, since a captured tensor is bound.
  std::vector<Tensor> capturedValues(const Slice &slice) {
    Trace &trace = Trace::current();
    Operation *first = marker.handle()->op;
    llvm::SetVector<Operation *> captured;
    for (Operation *op : slice.ops)
      if (first->isBeforeInBlock(op))
        for (Value operand : op->getOperands())
          if (Operation *def = operand.getDefiningOp();
              def->isBeforeInBlock(first) && !isa<ir::InputOp>(def) &&
              !trace.hasStorage(def))
            captured.insert(def);
    for (Operation *op : slice.outputs)
      if (op->isBeforeInBlock(first) && !isa<ir::InputOp>(op) &&
          !trace.hasStorage(op))
        captured.insert(op);
    std::vector<Tensor> values;
    for (Operation *op : captured)
      values.push_back(trace.wrap(op, default_device()));
    return values;
  }

  Source sourceOf(Operation *op) {
    for (auto [i, input] : llvm::enumerate(transform.inputs()))
      if (input.handle()->op == op)
        return {Source::Argument, i, {}};
    for (auto [i, input] : llvm::enumerate(cellInputs))
      if (input.handle()->op == op)
        return {Source::Variable, i, {}};
    return {Source::Bound, 0, Trace::current().storageOf(op)};
  }

  /// Ends the tracing, with captured values evaluated; what the program gives:
  /// the results, then the variables that were written.
  std::vector<Tensor> end(std::span<const Tensor> results);

  std::source_location place;
  std::shared_ptr<CompiledProgram> program =
      std::make_shared<CompiledProgram>();
  Transform transform;
  Tensor marker; ///< of the place in the trace where the tracing began
  std::vector<Tensor> cellInputs;
};

JitTrace::JitTrace(std::span<const Tensor> arguments,
                   std::source_location place)
    : state(std::make_unique<State>(arguments, place)) {}

JitTrace::~JitTrace() = default;

const std::vector<Tensor> &JitTrace::inputs() const {
  return state->transform.inputs();
}

std::vector<Tensor> JitTrace::State::end(std::span<const Tensor> results) {
  std::vector<Tensor> roots(results.begin(), results.end());
  for (auto &[cell, value] : transform.cells().writes()) {
    program->written.push_back(cell);
    roots.push_back(value);
  }
  program->numResults = results.size();
  for (const Tensor &root : roots) {
    check(root.defined(), "the function returns an empty tensor", "jit", place);
    program->outputs.push_back({root.shape(), root.dtype()});
  }
  transform.end(roots);
  Trace &trace = Trace::current();
  std::vector<Tensor> captured;
  {
    TraceLock lock(trace);
    captured = capturedValues(makeSlice(trace, opsOf(roots)));
  }
  if (!captured.empty())
    evaluate(captured, "jit", place);
  return roots;
}

std::shared_ptr<const JitProgram>
JitTrace::finish(std::span<const Tensor> results) {
  std::vector<Tensor> roots = state->end(results);
  CompiledProgram &program = *state->program;
  Trace &trace = Trace::current();
  TraceLock lock(trace);
  Slice slice = makeSlice(trace, state->opsOf(roots));
  for (Operation *op : slice.inputs)
    program.sources.push_back(state->sourceOf(op));
  if (!roots.empty())
    program.executable = executableFor(trace, slice, state->place);
  // What the function wrote is written by the program, when it runs.
  return state->program;
}

Lowered JitTrace::lower(std::span<const Tensor> results) {
  std::vector<Tensor> roots = state->end(results);
  check(!roots.empty(), "the function returns and assigns nothing", "lower",
        state->place);
  Trace &trace = Trace::current();
  TraceLock lock(trace);
  return lowerSlice(makeSlice(trace, state->opsOf(roots)), state->place);
}

} // namespace tessera::detail
