// Calls a compiled program: binds buffers, takes an arena, runs the entry.
#include "runtime/Executable.h"

#include "runtime/Allocator.h"
#include "runtime/FloatEnv.h"
#include "runtime/Host.h"
#include "runtime/Profiler.h"
#include "runtime/cuda/Program.h"
#include "runtime/cuda/Staging.h"
#include "runtime/sim/Session.h"

#include <cstring>
#include <optional>
#include <stdexcept>

namespace tessera::runtime {

namespace {

// Scratch memory for one call. The allocator keeps the block between calls, so
// this is a few nanoseconds, and what is idle can be released.
class Arena {
public:
  explicit Arena(size_t bytes) : bytes(bytes) {
    if (bytes)
      data = Allocator::host().allocate(bytes);
  }
  ~Arena() { Allocator::host().deallocate(data, bytes); }
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  void *data = nullptr;

private:
  const size_t bytes;
};

cuda::DevicePointer onGpu(const Storage &storage) {
  return reinterpret_cast<cuda::DevicePointer>(storage.data());
}

std::string typeText(DType dtype, std::span<const int64_t> shape) {
  std::string text = std::string(nameOf(dtype)) + "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "," : "") + (shape[i] < 0 ? "?" : std::to_string(shape[i]));
  return text + "]";
}

std::string wrongSize(const char *what, size_t index, size_t got, size_t bytes,
                      const BufferInfo &info) {
  return what + std::to_string(index) + " has " + std::to_string(got) +
         " bytes, expected " + std::to_string(bytes) + " of " +
         typeText(info.dtype, info.shape);
}

} // namespace

BufferInfo BufferInfo::make(DType dtype, std::vector<int64_t> shape,
                            int aliasOf) {
  std::optional<size_t> bytes = byteSize(shape, dtype);
  if (!bytes)
    throw std::length_error("the size of a tensor overflows");
  return {dtype, std::move(shape), *bytes, aliasOf};
}

std::vector<int64_t> BufferInfo::shapeAt(const int64_t *dims) const {
  std::vector<int64_t> sizes = shape;
  for (const SymbolicDim &dim : symbolic)
    sizes[size_t(dim.dim)] = dim.at(dims);
  return sizes;
}

size_t BufferInfo::bytesAt(const int64_t *dims) const {
  std::optional<size_t> size = byteSize(shapeAt(dims), dtype);
  if (!size)
    throw std::length_error("the size of a tensor overflows");
  return *size;
}

size_t ExecutableInfo::arenaBytesAt(const int64_t *dims) const {
  int64_t bytes = int64_t(arenaBytes), most = 0;
  for (size_t s = 0; s < arenaPer.size(); ++s)
    bytes += arenaPer[s] * dims[s];
  for (const SizeFormula &workspace : workspaces)
    most = std::max(most, workspace.at(dims));
  return size_t(bytes + most);
}

Executable::Executable(ExecutableInfo info) : theInfo(std::move(info)) {
  if (!theInfo.entry && !theInfo.program)
    fail("it has no code");
  std::vector<bool> taken(theInfo.inputs.size());
  for (const BufferInfo &output : theInfo.outputs) {
    if (output.aliasOf < 0)
      continue;
    size_t input = size_t(output.aliasOf);
    if (input >= taken.size() || taken[input] ||
        theInfo.inputs[input].bytes != output.bytes ||
        theInfo.inputs[input].symbolic.empty() != output.symbolic.empty())
      fail("an output does not fit the input it aliases");
    taken[input] = true;
  }
}

void Executable::fail(const std::string &what) const {
  throw std::invalid_argument("[" + theInfo.name + "] " + what);
}

std::string Executable::nameOf(size_t input) const {
  const std::string &name = theInfo.inputs[input].name;
  return name.empty() ? "input " + std::to_string(input) : name;
}

void Executable::checkDims(const int64_t *dims) const {
  if (!dims)
    fail("called without its symbolic dimensions");
  for (size_t s = 0; s < theInfo.symbols.size(); ++s) {
    const SymbolInfo &symbol = theInfo.symbols[s];
    if (dims[s] < symbol.least || dims[s] > symbol.most)
      fail(symbol.name + " is " + std::to_string(dims[s]) + ", and must be " +
           symbol.rangeText());
  }
}

void Executable::bindDims(std::span<const std::span<const int64_t>> shapes,
                          int64_t *dims) const {
  if (shapes.size() != theInfo.inputs.size())
    fail("called with " + std::to_string(shapes.size()) + " inputs");
  std::vector<int64_t> givenBy(theInfo.symbols.size(), -1);
  for (size_t i = 0; i < shapes.size(); ++i) {
    const BufferInfo &info = theInfo.inputs[i];
    auto wrong = [&] {
      fail(nameOf(i) + " is " + typeText(info.dtype, shapes[i]) +
           ", and must be " + typeText(info.dtype, info.shape));
    };
    if (shapes[i].size() != info.shape.size())
      wrong();
    for (size_t dim = 0; dim < info.shape.size(); ++dim)
      if (info.shape[dim] >= 0 && info.shape[dim] != shapes[i][dim])
        wrong();
    for (const SymbolicDim &dim : info.symbolic) {
      size_t s = size_t(dim.symbol);
      int64_t size = shapes[i][size_t(dim.dim)] - dim.constant;
      if (size < 0 || size % dim.coefficient != 0)
        fail("dimension " + std::to_string(dim.dim) + " of " + nameOf(i) +
             " is " + std::to_string(size + dim.constant) + ", and must be " +
             std::to_string(dim.coefficient) + " * " + theInfo.symbols[s].name +
             " + " + std::to_string(dim.constant));
      size /= dim.coefficient;
      if (givenBy[s] >= 0 && dims[s] != size)
        fail(theInfo.symbols[s].name + " of " + nameOf(size_t(givenBy[s])) +
             " is " + std::to_string(dims[s]) + " and of " + nameOf(i) +
             " is " + std::to_string(size) + ": both are the symbol " +
             theInfo.symbols[s].name);
      dims[s] = size;
      givenBy[s] = int64_t(i);
    }
  }
  checkDims(dims);
}

void Executable::checkInputs(std::span<const Storage> inputs,
                             const int64_t *dims) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const BufferInfo &info = theInfo.inputs[i];
    if (size_t bytes = bytesOf(info, dims); inputs[i].bytes() < bytes)
        [[unlikely]]
      fail(wrongSize("input ", i, inputs[i].bytes(), bytes, info));
  }
}

// Everything that may throw happens here, before an input is given away.
void Executable::provideOutputs(std::span<const Storage> inputs,
                                std::span<Storage> outputs,
                                const int64_t *dims) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const BufferInfo &info = theInfo.outputs[i];
    size_t bytes = bytesOf(info, dims);
    if (outputs[i]) {
      if (outputs[i].bytes() < bytes) [[unlikely]]
        fail(wrongSize("output ", i, outputs[i].bytes(), bytes, info));
    } else if (info.aliasOf < 0 || !inputs[size_t(info.aliasOf)].canDonate()) {
      outputs[i] = Storage::allocate(bytes, theInfo.device);
    }
  }
}

// Code for GPUs takes it that buffers are aligned, as memory of a device is.
void Executable::align(std::span<Storage> inputs) const {
  for (Storage &input : inputs) {
    if (reinterpret_cast<uintptr_t>(input.data()) % Allocator::kAlignment == 0)
      continue;
    Storage copy = Storage::allocate(input.bytes(), theInfo.device);
    if (theInfo.program)
      theInfo.program->gpu().stream().copy(onGpu(copy), onGpu(input),
                                           input.bytes());
    else
      std::memcpy(copy.data(), input.data(), input.bytes());
    input = std::move(copy);
  }
}

// Inputs in the host's memory, mostly numbers: small ones go in one copy.
void Executable::upload(std::span<Storage> inputs) const {
  constexpr size_t kSmall = 4096, kAlignment = cuda::Allocator::kAlignment;
  auto place = [](size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  };
  auto isSmall = [&](size_t i) {
    bool isOverwritten = false;
    for (const BufferInfo &output : theInfo.outputs)
      isOverwritten |= output.aliasOf == int(i);
    return inputs[i].device().isHostMemory() && inputs[i].bytes() <= kSmall &&
           !isOverwritten;
  };
  std::vector<char> together;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!isSmall(i)) {
      inputs[i] = inputs[i].on(theInfo.device);
    } else if (inputs[i].bytes() > 0) {
      auto *bytes = static_cast<const char *>(inputs[i].data());
      together.insert(together.end(), bytes, bytes + inputs[i].bytes());
      together.resize(place(together.size()));
    }
  if (together.empty())
    return;
  Storage all = Storage::allocate(together.size(), theInfo.device);
  cuda::Gpu &gpu = theInfo.program->gpu();
  gpu.staging().upload(onGpu(all), together.data(), together.size(),
                       gpu.stream());
  size_t offset = 0;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (isSmall(i)) {
      size_t bytes = inputs[i].bytes();
      inputs[i] = Storage::view(all, offset, bytes);
      offset += place(bytes);
    }
}

void Executable::bind(std::span<Storage> inputs, std::span<Storage> outputs,
                      const int64_t *dims, void **buffers,
                      std::vector<cuda::Copy> &copies) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    buffers[i] = inputs[i].data();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const BufferInfo &info = theInfo.outputs[i];
    if (info.aliasOf >= 0) {
      size_t source = size_t(info.aliasOf);
      if (!outputs[i])
        outputs[i] = std::move(inputs[source]);
      else if (size_t bytes = bytesOf(info, dims);
               bytes && outputs[i].data() != buffers[source]) {
        if (theInfo.program)
          copies.push_back({onGpu(outputs[i]), onGpu(inputs[source]), bytes});
        else
          std::memcpy(outputs[i].data(), buffers[source], bytes);
      }
      buffers[source] = outputs[i].data();
    }
    buffers[inputs.size() + i] = outputs[i].data();
  }
}

int Executable::call(void *const *buffers, const int64_t *dims, void *arena,
                     tessera_status *status, int threads) const {
  FloatEnv environment;
  if (theInfo.device.kind() != DeviceKind::Sim)
    return theInfo.entry(hostFor(threads), buffers, dims, arena, status);
  sim::Session session(threads);
  int code = theInfo.entry(session.host(), buffers, dims, arena, status);
  session.finish();
  return code;
}

Status Executable::run(std::span<Storage> inputs, std::span<Storage> outputs,
                       int threads, const int64_t *dims) const {
  if (inputs.size() != theInfo.inputs.size() ||
      outputs.size() != theInfo.outputs.size())
    fail("called with " + std::to_string(inputs.size()) + " inputs and " +
         std::to_string(outputs.size()) + " outputs");
  ProfileScope profile(theInfo.name);

  constexpr size_t kFew = 32;
  const size_t count = inputs.size() + outputs.size();
  void *few[kFew];
  std::unique_ptr<void *[]> many;
  void **buffers = few;
  if (count > kFew) {
    many = std::make_unique<void *[]>(count);
    buffers = many.get();
  }
  const bool isSymbolic = !theInfo.symbols.empty();
  if (isSymbolic)
    checkDims(dims);
  checkInputs(inputs, dims);
  if (theInfo.program)
    upload(inputs);
  if (theInfo.device.kind() == DeviceKind::Sim || theInfo.program)
    align(inputs);
  provideOutputs(inputs, outputs, dims);
  const size_t arenaBytes =
      isSymbolic ? theInfo.arenaBytesAt(dims) : theInfo.arenaBytes;
  std::vector<cuda::Copy> copies;
  if (theInfo.program) {
    bind(inputs, outputs, dims, buffers, copies);
    theInfo.program->run(buffers, dims, arenaBytes, copies);
    return {};
  }
  Arena arena(arenaBytes);
  bind(inputs, outputs, dims, buffers, copies);

  tessera_status raw = {-1, {}};
  Status status;
  status.code = call(buffers, dims, arena.data, &raw, threads);
  if (!status.ok()) [[unlikely]] {
    status.op = raw.op;
    for (size_t i = 0; i < status.values.size(); ++i)
      status.values[i] = raw.values[i];
  }
  return status;
}

} // namespace tessera::runtime
