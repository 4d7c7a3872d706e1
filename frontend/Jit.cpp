// Tracing of functions into programs, and their calls.
#include "tessera/Jit.h"

#include "dialects/Tessera/Transforms/Generalise.h"
#include "frontend/CompiledProgram.h"
#include "frontend/Evaluate.h"
#include "frontend/Program.h"
#include "frontend/ProgramFile.h"
#include "frontend/Recording.h"
#include "lowering/CodeGen/UserPlace.h"
#include "runtime/Allocator.h"
#include "tessera/Creation.h"

using namespace mlir;

namespace tessera::detail {

//===-- Signatures --===//

void sign(JitCall &call, const Tensor &tensor) {
  TensorImpl *impl = tensor.handle().get();
  if (!impl) {
    call.signature.push_back(~uint64_t(0));
    return;
  }
  call.signature.push_back(uint64_t(impl->dtype) << 32 | impl->shape.size());
  std::span<const int64_t> sizes(impl->shape);
  if (call.symbolic && !sizes.empty()) {
    if (call.batch < 0)
      call.batch = sizes[0];
    if (sizes[0] == call.batch) {
      call.signature.push_back(~uint64_t(1));
      sizes = sizes.subspan(1);
    }
  }
  for (int64_t size : sizes)
    call.signature.push_back(uint64_t(size));
}

void sign(JitCall &call, const Variable &variable) {
  call.signature.push_back(reinterpret_cast<uintptr_t>(variable.cell().get()));
  bool symbolic = std::exchange(call.symbolic, false);
  sign(call, variable.value());
  call.symbolic = symbolic;
}

/// Whether an argument has the batch size of a symbolic call.
static bool hasBatch(const JitCall &call, const Tensor &tensor) {
  TensorImpl *impl = tensor.handle().get();
  return call.symbolic && impl && !impl->shape.empty() &&
         impl->shape[0] == call.batch;
}

std::pair<int64_t, int64_t> tracedBatches(const JitCall &call) {
  // Sizes of 0 and 1 are treated in ways of their own. The second is such that
  // what is divided, rounded or limited differs in another way than the sizes.
  int64_t one = call.batch >= 2 ? call.batch : 6;
  return {one, 2 * one + 3};
}

void signBytes(JitCall &call, const void *data, size_t bytes) {
  call.signature.push_back(bytes);
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const char *>(data) + i,
                std::min<size_t>(8, bytes - i));
    call.signature.push_back(word);
  }
}

void checkPositions(const std::vector<size_t> &positions, size_t count,
                    const char *name, std::source_location place) {
  for (size_t position : positions)
    if (position >= count)
      throw ValueError(errorPlace(place), name,
                       "argument " + std::to_string(position) +
                           " is to be donated, but a call has " +
                           std::to_string(count));
}

bool mustInline(const JitCall &call) {
  Trace &trace = Trace::current();
  if (!trace.frames.empty() ||
      default_device().kind() == runtime::DeviceKind::Reference)
    return true;
  for (const Tensor *argument : call.tensors.items()) {
    TensorImpl *impl = argument->handle().get();
    if (!impl || impl->device.kind() == runtime::DeviceKind::Reference)
      return true;
    bool plain = impl->ready.load(std::memory_order_acquire) && !impl->trace &&
                 !impl->leaf;
    if (!plain && argument->requires_grad())
      return true;
  }
  return false;
}

//===-- Programs --===//

namespace {

/// One call of a program.
class ProgramCall {
public:
  ProgramCall(const CompiledProgram &program, const JitCall &call,
              std::source_location place)
      : program(program), call(call), place(place),
        inputs(program.sources.size()), outputs(program.outputs.size()) {}

  /// Gives back what a call that has failed borrowed and took.
  ~ProgramCall() {
    for (auto [source, written] : borrowed)
      program.written[written]->settle(rest(source));
    for (Taken &item : taken)
      restore(item);
  }

  void run(int threads) {
    bind();
    borrow();
    if (call.donated.size() > 0)
      take();
    try {
      runtime::Status status =
          program.executable->run(inputs, outputs, threads, dims());
      if (!status.ok())
        throw InternalError(errorPlace(place), program.name,
                            "the compiled program failed with code " +
                                std::to_string(status.code));
    } catch (const runtime::OutOfMemoryError &error) {
      throw OutOfMemory(errorPlace(place), program.name, error.what());
    } catch (const std::length_error &error) {
      throw OutOfMemory(errorPlace(place), program.name, error.what());
    } catch (const std::invalid_argument &error) {
      throw ShapeError(errorPlace(place), program.name, error.what());
    }
    taken.clear();
  }

  void finish(std::span<Tensor> results) {
    for (size_t i = 0; i < results.size(); ++i)
      results[i] = output(i);
    // Loans first: to wait for other cells with one in hand could be for ever.
    for (auto [source, written] : borrowed)
      program.written[written]->settle(output(program.numResults + written));
    borrowed.clear();
    for (size_t i = 0; i < program.written.size(); ++i)
      if (outputs[program.numResults + i])
        program.written[i]->store(output(program.numResults + i));
  }

private:
  const int64_t *dims() const {
    if (!program.symbolic)
      return nullptr;
    return call.dims ? call.dims : &call.batch;
  }

  Tensor output(size_t i) {
    const ValueType &type = program.outputs[i];
    if (!program.symbolic)
      return makeTensor(std::move(outputs[i]), type.shape, type.dtype,
                        Device());
    std::vector<int64_t> shape =
        program.executable->info().outputs[i].shapeAt(dims());
    return makeTensor(std::move(outputs[i]), Shape(std::move(shape)),
                      type.dtype, Device());
  }

  /// Finds the bytes of all inputs that are no loans.
  void bind() {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Source &source = program.sources[i];
      if (source.kind == Source::Argument)
        inputs[i] = storageOf(*call.tensors[source.index], program.name, place);
      else if (source.kind == Source::Variable)
        bindVariable(i, program.cells[source.index]->load());
      else
        inputs[i] = source.bytes;
    }
  }

  /// A variable that changed its type since the trace needs another program.
  void bindVariable(size_t i, const Tensor &value) {
    const ValueType &expected = program.cellTypes[program.sources[i].index];
    if (!value.defined() || value.handle()->dtype != expected.dtype ||
        value.handle()->shape != expected.shape)
      throw ValueError(
          errorPlace(place), program.name,
          "a variable that the function captures has changed its type since "
          "it was traced: " +
              typeText(expected.dtype, expected.shape) + " and " +
              (value.defined() ? typeText(value) : "nothing"));
    inputs[i] = storageOf(value, program.name, place);
  }

  // What results may overwrite

  void borrow() {
    for (const CompiledProgram::Loan &loan : program.loans) {
      const ValueType &type =
          program.cellTypes[program.sources[loan.source].index];
      Tensor shared;
      inputs[loan.source] =
          program.written[loan.written]->borrow(type.dtype, type.shape, shared);
      if (inputs[loan.source])
        borrowed.push_back(loan);
      else
        bindVariable(loan.source, shared);
    }
  }

  /// Leaves the bytes of donated arguments to `inputs` alone.
  void take() {
    for (uint32_t argument : call.donated.items()) {
      TensorImpl *impl = call.tensors[argument]->handle().get();
      if (impl->donated.load(std::memory_order_relaxed))
        continue; // given twice
      auto source = llvm::find_if(program.sources, [&](const Source &source) {
        return source.kind == Source::Argument && source.index == argument;
      });
      size_t input = size_t(source - program.sources.begin());
      storageOf(*call.tensors[argument], program.name, place);
      impl->donation = program.made;
      impl->donated.store(true, std::memory_order_release);
      impl->ready.store(false, std::memory_order_release);
      taken.push_back({impl, input, std::move(impl->storage)});
      if (input < inputs.size())
        taken.back().unread = {};
    }
  }

  struct Taken {
    TensorImpl *impl;
    size_t input;
    runtime::Storage unread; ///< bytes that are no input
  };

  void restore(Taken &item) {
    item.impl->storage =
        item.unread ? std::move(item.unread) : rest(item.input);
    item.impl->donated.store(false, std::memory_order_release);
    item.impl->ready.store(true, std::memory_order_release);
  }

  /// The bytes of an input after a call that has failed.
  runtime::Storage rest(size_t input) {
    if (inputs[input])
      return inputs[input];
    auto &infos = program.executable->info().outputs;
    for (size_t i = 0; i < infos.size(); ++i)
      if (infos[i].aliasOf == int(input))
        return outputs[i];
    return {};
  }

  const CompiledProgram &program;
  const JitCall &call;
  std::source_location place;
  llvm::SmallVector<runtime::Storage, 16> inputs, outputs;
  llvm::SmallVector<CompiledProgram::Loan, 8> borrowed;
  llvm::SmallVector<Taken, 2> taken;
};

} // namespace

void CompiledProgram::lend(size_t source, size_t index) {
  sources[source].kind = Source::Loan;
  auto byAddress = [&](const Loan &a, const Loan &b) {
    return written[a.written] < written[b.written];
  };
  Loan loan{source, index};
  loans.insert(llvm::upper_bound(loans, loan, byAddress), loan);
}

void CompiledProgram::run(const JitCall &call, std::span<Tensor> results,
                          int threads, std::source_location place) const {
  if (!executable)
    return;
  ProgramCall programCall(*this, call, place);
  programCall.run(threads);
  programCall.finish(results);
}

//===-- Tracing --===//

struct JitTrace::State {
  State(const JitCall &call, std::span<const Tensor> arguments,
        const char *name, std::source_location place)
      : name(name), place(place),
        donated(call.donated.items().begin(), call.donated.items().end()),
        transform(name, place, arguments, /*stand=*/true) {
    program->name = name;
    program->made = place;
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
    cellValues.push_back(value);
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

  /// The traced ops, with the sources of their inputs noted and donations
  /// marked.
  Slice slice(std::span<const Tensor> roots) {
    Slice slice = makeSlice(Trace::current(), opsOf(roots));
    for (Operation *op : slice.inputs)
      program->sources.push_back(sourceOf(op));
    donate(slice);
    return slice;
  }

  /// Lets outputs take the memory of donated arguments, and of variables that
  /// are written.
  void donate(Slice &slice) {
    for (auto [i, source] : llvm::enumerate(program->sources)) {
      if (source.kind == Source::Variable) {
        auto written =
            llvm::find(program->written, program->cells[source.index]);
        if (written == program->written.end())
          continue;
        program->lend(i, size_t(written - program->written.begin()));
      } else if (source.kind != Source::Argument ||
                 !llvm::is_contained(donated, source.index)) {
        continue;
      }
      slice.donated.push_back(unsigned(i));
    }
  }

  /// Stands inputs for the variables that were written and not read. One that
  /// has no value before the call is not read by any call before it is written:
  /// it is local to the call.
  void captureWritten();
  /// A context for what was traced, the same for both of two tracings.
  std::shared_ptr<MLIRContext> makeContext() {
    if (!context)
      context =
          first
              ? first->makeContext()
              : std::make_shared<MLIRContext>(MLIRContext::Threading::DISABLED);
    return context;
  }
  /// The function in a module of another context.
  TracedFunction copy(std::span<const Tensor> roots);
  /// The program for any batch size, from this tracing's for its size and the
  /// other's.
  OwningOpRef<ModuleOp> generalised(ModuleOp mine, ModuleOp other,
                                    int64_t otherBatch);
  /// Makes the function of the first tracing, with what this one found, that
  /// for any batch size.
  void uniteFunctions();

  const char *name;
  std::source_location place;
  std::vector<size_t> donated; ///< arguments' positions
  std::shared_ptr<CompiledProgram> program =
      std::make_shared<CompiledProgram>();
  Transform transform;
  Tensor marker; ///< of the place in the trace where the tracing began
  std::vector<std::shared_ptr<Cell>> locals; ///< not to be written
  std::vector<Tensor> cellInputs; ///< what stands for `program->cells`
  std::vector<Tensor> cellValues; ///< what they held when they were read
  // Of one of two tracings: the batch size, the other one if this is the
  // second, and what was traced, in a context that both share.
  int64_t batch = -1;
  State *first = nullptr;
  std::shared_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  TracedFunction traced;
};

JitTrace::JitTrace(const JitCall &call, const char *name,
                   std::source_location place, int64_t batch, JitTrace *first) {
  std::vector<Tensor> arguments;
  for (const Tensor *tensor : call.tensors.items()) {
    arguments.push_back(*tensor);
    if (batch < 0 || !hasBatch(call, *tensor))
      continue;
    Shape shape = tensor->handle()->shape;
    shape[0] = batch;
    arguments.back() = zeros(shape, tensor->handle()->dtype, place);
  }
  state = std::make_unique<State>(call, arguments, name, place);
  state->batch = batch;
  state->first = first ? first->state.get() : nullptr;
  check(batch < 0 || call.batch >= 0,
        "no argument is a tensor of a dimension, which a symbolic batch size "
        "could be",
        name, place);
}

JitTrace::~JitTrace() = default;

const std::vector<Tensor> &JitTrace::inputs() const {
  return state->transform.inputs();
}

std::vector<Tensor> JitTrace::State::end(std::span<const Tensor> results) {
  std::vector<Tensor> roots(results.begin(), results.end());
  for (auto &[cell, value] : transform.cells().writes()) {
    if (llvm::is_contained(locals, cell))
      continue;
    program->written.push_back(cell);
    roots.push_back(value);
  }
  program->numResults = results.size();
  for (const Tensor &root : roots) {
    check(root.defined(), "the function returns an empty tensor", name, place);
    checkNotDonated(*root.handle(), name, place);
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
    evaluate(captured, name, place);
  return roots;
}

std::shared_ptr<const JitProgram>
JitTrace::finish(std::span<const Tensor> results) {
  std::vector<Tensor> roots = state->end(results);
  Trace &trace = Trace::current();
  TraceLock lock(trace);
  Slice slice = state->slice(roots);
  if (!roots.empty())
    state->program->executable = executableFor(trace, slice, state->place);
  // What the function wrote is written by the program, when it runs.
  return state->program;
}

void JitTrace::finishHalf(std::span<const Tensor> results) {
  std::vector<Tensor> roots = state->end(results);
  Trace &trace = Trace::current();
  TraceLock lock(trace);
  Slice slice = state->slice(roots);
  if (!roots.empty())
    state->module = copySlice(slice, *state->makeContext());
}

/// Inputs of two tracings are the same, and so is what is bound to them.
static bool areAlike(const Source &a, const Source &b) {
  if (a.kind != b.kind || a.index != b.index ||
      a.bytes.bytes() != b.bytes.bytes())
    return false;
  return a.bytes.data() == b.bytes.data() || a.bytes.bytes() == 0 ||
         std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.bytes()) == 0;
}

static constexpr char kDependsOnBatch[] =
    "a number or tensor that the function makes depends on the batch size: it "
    "is compiled once for all of them";

std::shared_ptr<const JitProgram> JitTrace::unite(JitTrace &first,
                                                  JitTrace &second) {
  State &a = *first.state, &b = *second.state;
  CompiledProgram &program = *a.program;
  const CompiledProgram &other = *b.program;
  auto refuse = [&](const std::string &what) {
    throw TraceError(errorPlace(a.place), a.name, what);
  };
  if (program.cells != other.cells || program.written != other.written)
    refuse("the function reads or assigns other variables for other batch "
           "sizes");
  if (program.sources.size() != other.sources.size() ||
      !std::equal(program.sources.begin(), program.sources.end(),
                  other.sources.begin(), areAlike))
    refuse(kDependsOnBatch);
  if (!a.module)
    return a.program;
  OwningOpRef<ModuleOp> module = a.generalised(*a.module, *b.module, b.batch);
  program.symbolic = true;
  program.executable = compileSymbolic(*module, a.place);
  return a.program;
}

OwningOpRef<ModuleOp> JitTrace::State::generalised(ModuleOp mine,
                                                   ModuleOp other,
                                                   int64_t otherBatch) {
  std::string text;
  llvm::raw_string_ostream out(text);
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    if (auto place = lowering::userPlace(diagnostic.getLocation()))
      out << place.getFilename().getValue() << ":" << place.getLine() << ": ";
    out << diagnostic;
    return success();
  });
  auto module = ir::generalise(mine, other, batch, otherBatch, "batch");
  if (failed(module))
    throw TraceError(errorPlace(place), name, text);
  return std::move(*module);
}

Lowered JitTrace::lower(std::span<const Tensor> results) {
  std::vector<Tensor> roots = state->end(results);
  check(!roots.empty(), "the function returns and assigns nothing", "lower",
        state->place);
  Trace &trace = Trace::current();
  TraceLock lock(trace);
  return lowerSlice(state->slice(roots), state->place);
}

//===-- Copying for a file --===//

void JitTrace::State::captureWritten() {
  for (auto &[cell, value] : transform.cells().writes()) {
    if (!llvm::is_contained(program->cells, cell) && !capture(cell).defined())
      locals.push_back(cell);
  }
}

TracedFunction JitTrace::State::copy(std::span<const Tensor> roots) {
  TracedFunction traced;
  traced.context = makeContext();
  Trace &trace = Trace::current();
  TraceLock lock(trace);
  Slice slice = makeSlice(trace, opsOf(roots));
  SmallVector<Operation *> used = std::exchange(slice.inputs, {});
  // Arguments in the order of the call, used or not, then variables in the
  // order in which the function came to them, then what it captures.
  for (auto [i, input] : llvm::enumerate(transform.inputs())) {
    if (llvm::is_contained(donated, i))
      slice.donated.push_back(unsigned(slice.inputs.size()));
    slice.inputs.push_back(input.handle()->op);
    traced.inputs.push_back({Source::Argument, nullptr, -1, {}});
  }
  for (auto [i, input] : llvm::enumerate(cellInputs)) {
    std::shared_ptr<Cell> &cell = program->cells[i];
    auto written = llvm::find(program->written, cell);
    int update = -1;
    if (written != program->written.end()) {
      update = int(written - program->written.begin());
      slice.donated.push_back(unsigned(slice.inputs.size()));
    } else if (!llvm::is_contained(used, input.handle()->op)) {
      continue;
    }
    slice.inputs.push_back(input.handle()->op);
    traced.inputs.push_back(
        {Source::Variable, cell, update, cellValues[i].handle()->storage});
  }
  for (Operation *op : used) {
    if (llvm::is_contained(slice.inputs, op))
      continue;
    const InputInfo *info = trace.inputInfo(op);
    bool isNumber = info && (!info->impl || info->impl->isNumber);
    slice.inputs.push_back(op);
    traced.inputs.push_back(
        {Source::Bound, nullptr, -1, trace.storageOf(op), isNumber});
  }
  traced.module = copySlice(slice, *traced.context);
  return traced;
}

void JitTrace::write(const ExportRequest &request,
                     std::span<const Tensor> results) {
  state->captureWritten();
  std::vector<Tensor> roots = state->end(results);
  check(!roots.empty(), "the function returns and assigns nothing", state->name,
        state->place);
  evaluate(state->cellValues, state->name, state->place);
  state->traced = state->copy(roots);
  state->traced.numResults = results.size();
  if (state->batch < 0)
    return writeProgram(request, state->traced, state->place);
  if (!state->first)
    return;
  state->uniteFunctions();
  writeProgram(request, state->first->traced, state->place);
}

void JitTrace::State::uniteFunctions() {
  TracedFunction &one = first->traced;
  bool same = one.inputs.size() == traced.inputs.size();
  for (size_t i = 0; same && i < one.inputs.size(); ++i) {
    const TracedFunction::Input &a = one.inputs[i], &b = traced.inputs[i];
    same = a.cell == b.cell && a.update == b.update &&
           a.isNumber == b.isNumber &&
           areAlike({a.kind, 0, a.bytes}, {b.kind, 0, b.bytes});
  }
  if (!same)
    throw TraceError(errorPlace(place), name, kDependsOnBatch);
  one.module = first->generalised(*one.module, *traced.module, batch);
}

} // namespace tessera::detail
