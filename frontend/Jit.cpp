// What distinguishes calls of jitted functions, and the calls of their
// programs.
#include "tessera/Jit.h"

#include "frontend/CompiledProgram.h"
#include "frontend/Devices.h"
#include "frontend/Evaluate.h"
#include "frontend/Program.h"
#include "frontend/Recording.h"
#include "runtime/Allocator.h"

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

/// What the environment says wrongly is an error of the compilation.
static MatmulPrecision precisionOfCall() {
  try {
    return matmul_precision();
  } catch (const ValueError &) {
    return MatmulPrecision::exact;
  }
}

/// A device but the CPU is part of the signature, with the precision of its
/// products.
static void sign(JitCall &call, const Device &device) {
  if (device == Device()) [[likely]]
    return;
  std::string text = device.str();
  signBytes(call, text.data(), text.size());
  MatmulPrecision precision = precisionOfCall();
  signBytes(call, &precision, sizeof precision);
}

bool mustInline(JitCall &call) {
  Trace &trace = Trace::current();
  Device device = default_device();
  if (!trace.frames.empty() || isInterpreted(device))
    return true;
  sign(call, device);
  for (const Tensor *argument : call.tensors.items()) {
    TensorImpl *impl = argument->handle().get();
    if (!impl || isInterpreted(impl->device))
      return true;
    sign(call, impl->device);
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
    dumpInputs(*program.executable, inputs, dims());
    if (call.donated.size() > 0)
      take();
    try {
      runtime::Status status =
          program.executable->run(inputs, outputs, threads, dims());
      if (!status.ok())
        throw InternalError(errorPlace(place), program.name,
                            "the compiled program failed with code " +
                                std::to_string(status.code));
    } catch (const std::length_error &error) {
      throw OutOfMemory(errorPlace(place), program.name, error.what());
    } catch (const std::invalid_argument &error) {
      throw ShapeError(errorPlace(place), program.name, error.what());
    } catch (...) {
      rethrowDeviceError(program.name, place);
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
                        program.device);
    std::vector<int64_t> shape =
        program.executable->info().outputs[i].shapeAt(dims());
    return makeTensor(std::move(outputs[i]), Shape(std::move(shape)),
                      type.dtype, program.device);
  }

  /// Finds the bytes of all inputs that are no loans.
  void bind() {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Source &source = program.sources[i];
      if (source.kind == Source::Argument)
        inputs[i] = bytesOf(*call.tensors[source.index], "an argument");
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
    inputs[i] = bytesOf(value, "a variable");
  }

  const runtime::Storage &bytesOf(const Tensor &value, const char *what) {
    if (const Device &device = value.handle()->device; device != program.device)
      throw DeviceError(errorPlace(place), program.name,
                        "the program is for " + program.device.str() +
                            ", and " + what + " is on " + device.str());
    return storageOf(value, program.name, place);
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

} // namespace tessera::detail
