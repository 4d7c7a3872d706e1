// The environment variables TESSERA_*: one list, read through typed functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::runtime {

// X(enumerator, name after TESSERA_, what it holds)
#define TESSERA_VARIABLES(X)                                                   \
  X(Dump, "DUMP", "a folder for every stage of each program compiled")         \
  X(Cache, "CACHE", "the folder of the kernel cache, or off")                  \
  X(Cpu, "CPU", "the CPU to compile for: x86-64-v3, znver3, native")           \
  X(Fuse, "FUSE", "0 switches fusion off")                                     \
  X(Threads, "THREADS", "how many threads compute")                            \
  X(Profile, "PROFILE", "a file for a Chrome trace of the calls")              \
  X(CudaDriver, "CUDA_DRIVER", "the CUDA driver to load, not libcuda.so.1")    \
  X(SimCheck, "SIM_CHECK", "what the emulator checks: race,bounds,init")       \
  X(SimSeed, "SIM_SEED", "the order in which the emulator runs threads")       \
  X(Tf32, "TF32", "1 lets GPUs multiply matrices of f32 in tf32")

enum class Variable : uint8_t {
#define X(id, name, help) id,
  TESSERA_VARIABLES(X)
#undef X
};

// "TESSERA_THREADS".
std::string nameOf(Variable variable);

// The value; nothing if it is not set or is empty. The first read reports
// unknown TESSERA_* variables on stderr, once a process.
std::optional<std::string> readVariable(Variable variable);

// The value as a whole number; std::invalid_argument, with the name and the
// range, if it is not one from `min` to `max`.
std::optional<int64_t> readInteger(Variable variable, int64_t min, int64_t max);

// The value as 0/1, off/on, false/true or no/yes; else std::invalid_argument.
std::optional<bool> readFlag(Variable variable);

// Names in `environment` ("NAME=value" strings up to a null pointer) that start
// with TESSERA_ and are not in the list above.
std::vector<std::string> unknownVariables(const char *const *environment);

// Reports unknown variables of this process on stderr, at the first call only.
void checkEnvironment();

} // namespace tessera::runtime
