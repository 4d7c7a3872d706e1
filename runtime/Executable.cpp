// Calls a compiled program: binds buffers, takes an arena, runs the entry.
#include "runtime/Executable.h"

#include "runtime/Allocator.h"
#include "runtime/FloatEnv.h"
#include "runtime/Host.h"
#include "runtime/Profiler.h"

#include <cstring>
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

std::string wrongSize(const char *what, size_t index, size_t got,
                      const BufferInfo &info) {
  std::string text = what + std::to_string(index) + " has " +
                     std::to_string(got) + " bytes, expected " +
                     std::to_string(info.bytes) + " of " +
                     std::string(nameOf(info.dtype)) + "[";
  for (size_t i = 0; i < info.shape.size(); ++i)
    text += (i ? "," : "") + std::to_string(info.shape[i]);
  return text + "]";
}

} // namespace

BufferInfo BufferInfo::make(DType dtype, std::vector<int64_t> shape,
                            int aliasOf) {
  std::optional<size_t> bytes = byteSize(shape, dtype);
  if (!bytes)
    throw std::length_error("the size of a tensor overflows");
  return {dtype, std::move(shape), *bytes, aliasOf};
}

Executable::Executable(ExecutableInfo info) : theInfo(std::move(info)) {
  if (!theInfo.entry)
    fail("it has no code");
  std::vector<bool> taken(theInfo.inputs.size());
  for (const BufferInfo &output : theInfo.outputs) {
    if (output.aliasOf < 0)
      continue;
    size_t input = size_t(output.aliasOf);
    if (input >= taken.size() || taken[input] ||
        theInfo.inputs[input].bytes != output.bytes)
      fail("an output does not fit the input it aliases");
    taken[input] = true;
  }
}

void Executable::fail(const std::string &what) const {
  throw std::invalid_argument("[" + theInfo.name + "] " + what);
}

void Executable::checkInputs(std::span<const Storage> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].bytes() < theInfo.inputs[i].bytes) [[unlikely]]
      fail(wrongSize("input ", i, inputs[i].bytes(), theInfo.inputs[i]));
}

// Everything that may throw happens here, before an input is given away.
void Executable::provideOutputs(std::span<const Storage> inputs,
                                std::span<Storage> outputs) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const BufferInfo &info = theInfo.outputs[i];
    if (outputs[i]) {
      if (outputs[i].bytes() < info.bytes) [[unlikely]]
        fail(wrongSize("output ", i, outputs[i].bytes(), info));
    } else if (info.aliasOf < 0 || !inputs[size_t(info.aliasOf)].canDonate()) {
      outputs[i] = Storage::allocate(info.bytes);
    }
  }
}

void Executable::bind(std::span<Storage> inputs, std::span<Storage> outputs,
                      void **buffers) const noexcept {
  for (size_t i = 0; i < inputs.size(); ++i)
    buffers[i] = inputs[i].data();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const BufferInfo &info = theInfo.outputs[i];
    if (info.aliasOf >= 0) {
      size_t source = size_t(info.aliasOf);
      if (!outputs[i])
        outputs[i] = std::move(inputs[source]);
      else if (outputs[i].data() != buffers[source] && info.bytes)
        std::memcpy(outputs[i].data(), buffers[source], info.bytes);
      buffers[source] = outputs[i].data();
    }
    buffers[inputs.size() + i] = outputs[i].data();
  }
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
  checkInputs(inputs);
  provideOutputs(inputs, outputs);
  Arena arena(theInfo.arenaBytes);
  bind(inputs, outputs, buffers);

  tessera_status raw = {-1, {}};
  Status status;
  {
    FloatEnv environment;
    status.code =
        theInfo.entry(hostFor(threads), buffers, dims, arena.data, &raw);
  }
  if (!status.ok()) [[unlikely]] {
    status.op = raw.op;
    for (size_t i = 0; i < status.values.size(); ++i)
      status.values[i] = raw.values[i];
  }
  return status;
}

} // namespace tessera::runtime
