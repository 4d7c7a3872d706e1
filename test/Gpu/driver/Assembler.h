// NVIDIA's assembler ptxas as a program: what it says of each kernel.
#pragma once
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::test {

/// What `ptxas -v` reports of one kernel.
struct KernelUsage {
  std::string name;
  int registers = 0;
  int64_t spillStores = 0, spillLoads = 0, stack = 0; ///< bytes a thread
  int64_t shared = 0; ///< bytes that the module declares
};

/// The path of ptxas: on the PATH, or in the folder of CUDA_HOME, CUDA_PATH or
/// /usr/local/cuda. Nothing if this machine has none.
std::optional<std::string> findAssembler();

/// Assembles for exactly `arch`. If that fails, the error has the messages.
llvm::Expected<std::vector<KernelUsage>> assemblePtx(llvm::StringRef ptx,
                                                     llvm::StringRef arch);

/// The report of `ptxas -v` as data.
std::vector<KernelUsage> parseUsage(llvm::StringRef report);

} // namespace tessera::test
