// Compiles a program of one kernel for a GPU and runs it on the emulator.
#pragma once
#include "lowering/CodeGen/GpuTarget.h"
#include "lowering/CodeGen/LowerToLLVM.h"
#include "lowering/GPU/Sim/Compile.h"
#include "runtime/sim/Launch.h"

namespace tessera::test {

/// A kernel as the emulator runs it.
struct GpuKernel {
  lowering::SimProgram program;
  std::vector<lowering::LaunchInfo> launches;
  /// The program's input that each of the kernel's inputs is.
  std::vector<unsigned> inputs;
  const lowering::GpuTarget *gpu = nullptr;
  std::string error; ///< Empty: it compiled.
};

/// Leads a program through all stages. The code counts what it does if
/// `counts`, and may use tf32 if `tf32`.
GpuKernel compileProgram(const std::string &text, const std::string &arch,
                         bool counts = false, bool tf32 = false);

/// Runs all launches on the program's buffers, inputs before outputs, with
/// every check. Returns what went wrong.
std::string runKernel(const GpuKernel &kernel,
                      std::vector<runtime::sim::Extent> buffers,
                      std::vector<int64_t> dims = {}, uint64_t seed = 0,
                      runtime::sim::Counters *counters = nullptr);

template <typename T> runtime::sim::Extent bufferOf(std::vector<T> &values) {
  return {values.data(), values.size() * sizeof(T),
          /*writable=*/!std::is_const_v<T>};
}

/// A product y[batch, m, n] of A and B as the text of a program; without batch
/// dimensions if `batch` is 0.
struct ProductText {
  int64_t batch = 0, m = 1, n = 1, k = 1;
  bool transA = false, transB = false;
  std::string type = "f32";
  /// The type of A and B if it is another: they are converted.
  std::string narrow = "";
  /// Lines that make %x and %w of the arguments %a and %b, and %z of the
  /// product %y and of %c, which has y's type; without them they are the same.
  std::string producers = "", epilogue = "";
  /// A size to state as `?`: 'm', 'n', 'k' or 'b'.
  char symbol = 0;

  /// Of 'a', 'b' or 'y', with these elements or those of the argument.
  std::string typeOf(char operand, std::string element = "") const;
  std::string text() const;
};

} // namespace tessera::test
