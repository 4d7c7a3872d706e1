// A compiled program that can be called.
#pragma once

#include "runtime/DType.h"
#include "runtime/HostAbi.h"
#include "runtime/SizeFormula.h"
#include "runtime/Storage.h"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tessera::runtime {

namespace cuda {
class Program;
struct Copy;
} // namespace cuda

// What an executable expects of one input or output.
struct BufferInfo {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  size_t bytes = 0;
  // For an output: the input whose bytes it overwrites (the code gets one
  // pointer for both), or -1.
  int aliasOf = -1;
  // The dimension that depends on a symbol, if there is one: -1 in `shape`, and
  // `bytes` is 0.
  std::vector<SymbolicDim> symbolic = {};
  std::string name = {}; // for errors; "input N" if it has none

  std::vector<int64_t> shapeAt(const int64_t *dims) const;
  // Throws std::length_error if the size overflows.
  size_t bytesAt(const int64_t *dims) const;

  // Fills `bytes` in; std::length_error if the size overflows.
  static BufferInfo make(DType dtype, std::vector<int64_t> shape,
                         int aliasOf = -1);
};

struct ExecutableInfo {
  std::string name; // for the profile and for errors
  Device device = {};
  tessera_entry_fn entry = nullptr;
  // In place of an entry, for a GPU.
  std::shared_ptr<const cuda::Program> program = {};
  size_t arenaBytes = 0;
  std::vector<BufferInfo> inputs, outputs;
  std::shared_ptr<void> keepAlive; // holds the code of `entry`
  std::string dumpFolder = {};     // where its stages were written, or empty

  // Symbolic dimensions, in the order of `dims`. Each adds arenaPer times its
  // size to the arena, and the largest of `workspaces` comes on top.
  std::vector<SymbolInfo> symbols = {};
  std::vector<int64_t> arenaPer = {};
  std::vector<SizeFormula> workspaces = {};
  size_t arenaBytesAt(const int64_t *dims) const;
};

// How a call ended: code is 0, or what the entry returned, with the op whose
// check failed and the values to quote.
struct Status {
  int code = 0;
  int64_t op = -1;
  std::array<int64_t, 4> values = {};
  bool ok() const { return code == 0; }
};

// Immutable: any number of threads may call it at once.
class Executable {
public:
  explicit Executable(ExecutableInfo info);
  const ExecutableInfo &info() const { return theInfo; }

  // The symbolic dimensions for inputs of these shapes, into `dims`, which has
  // room for all. Throws std::invalid_argument, with the constraint that does
  // not hold, for shapes that do not fit.
  void bindDims(std::span<const std::span<const int64_t>> shapes,
                int64_t *dims) const;

  // Runs it on `threads` threads (0: the default). An output that is empty is
  // allocated; one that holds a storage, of enough bytes and shared with no
  // input, is written to. An output that aliases an input takes the input's
  // storage if the handle in `inputs` is the last one, and that handle is then
  // empty; else it gets a copy. `dims` are the symbolic dimensions, or null.
  // Throws std::invalid_argument for wrong counts or sizes, OutOfMemoryError,
  // sim::Fault if a check of the emulator finds something, and, for a GPU,
  // cuda::DeviceError. For a GPU, inputs may be in the host's memory, of which
  // copies are made; the call returns before it is computed, and what a kernel
  // does wrong is thrown by a later one.
  // After a status that is not ok the outputs hold no defined values.
  Status run(std::span<Storage> inputs, std::span<Storage> outputs,
             int threads = 0, const int64_t *dims = nullptr) const;

private:
  size_t bytesOf(const BufferInfo &info, const int64_t *dims) const {
    return info.symbolic.empty() ? info.bytes : info.bytesAt(dims);
  }
  void checkInputs(std::span<const Storage> inputs, const int64_t *dims) const;
  void checkDims(const int64_t *dims) const;
  std::string nameOf(size_t input) const;
  void provideOutputs(std::span<const Storage> inputs,
                      std::span<Storage> outputs, const int64_t *dims) const;
  void align(std::span<Storage> inputs) const;
  void bind(std::span<Storage> inputs, std::span<Storage> outputs,
            const int64_t *dims, void **buffers,
            std::vector<cuda::Copy> &copies) const;
  void upload(std::span<Storage> inputs) const;
  int call(void *const *buffers, const int64_t *dims, void *arena,
           tessera_status *status, int threads) const;
  [[noreturn]] void fail(const std::string &what) const;

  ExecutableInfo theInfo;
};

} // namespace tessera::runtime
