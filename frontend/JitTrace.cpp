// Tracing of functions into programs: for a call, for a look, and for a file.
#include "tessera/Jit.h"

#include "dialects/Tessera/Transforms/Generalise.h"
#include "frontend/CompiledProgram.h"
#include "frontend/Evaluate.h"
#include "frontend/Program.h"
#include "frontend/ProgramFile.h"
#include "frontend/Recording.h"
#include "lowering/CodeGen/UserPlace.h"
#include "tessera/Creation.h"

using namespace mlir;

namespace tessera::detail {

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

struct JitTrace::State {
  State(const JitCall &call, std::span<const Tensor> arguments,
        const char *name, std::source_location place)
      : name(name), place(place),
        donated(call.donated.items().begin(), call.donated.items().end()),
        transform(name, place, arguments, /*stand=*/true) {
    program->name = name;
    program->made = place;
    program->device =
        arguments.empty() ? default_device() : arguments[0].device();
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
    arguments.back() = zeros(shape, tensor->handle()->dtype, place)
                           .to(tensor->handle()->device, place);
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
    state->program->executable =
        executableFor(trace, slice, state->program->device, state->place);
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
  if (a.bytes.data() == b.bytes.data() || a.bytes.bytes() == 0)
    return true;
  // What is on a GPU is not looked at.
  return a.bytes.device().isHostMemory() && b.bytes.device().isHostMemory() &&
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
  program.executable = compileSymbolic(*module, program.device, a.place);
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
