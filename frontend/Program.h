// From a slice to its outputs' bytes: cached executables, or the interpreter.
#pragma once

#include "frontend/Slice.h"
#include "lowering/Compiler.h"
#include "runtime/Executable.h"
#include "tessera/Lower.h"

namespace tessera::detail {

/// The executable for a slice on a device, compiled unless one of the same
/// structure is known.
std::shared_ptr<runtime::Executable> executableFor(Trace &trace,
                                                   const Slice &slice,
                                                   const Device &device,
                                                   std::source_location place);

/// Computes the outputs of a slice from the bytes of its inputs.
std::vector<runtime::Storage> run(Trace &trace, const Slice &slice,
                                  std::vector<runtime::Storage> inputs,
                                  const Device &device, const char *what,
                                  std::source_location place);

/// The executable of a program of symbolic dimensions. Throws TraceError for
/// one that the compiler does not cover.
std::shared_ptr<runtime::Executable>
compileSymbolic(mlir::ModuleOp module, const Device &device,
                std::source_location place);

/// A slice's program to look at; it is compiled for the CPU and not run.
Lowered lowerSlice(const Slice &slice, std::source_location place);

/// Writes the inputs of the first call of a program beside its stages, if they
/// were dumped: x0.npy, x1.npy, ..., or by their names. `dims` are the symbolic
/// dimensions, or null.
void dumpInputs(const runtime::Executable &executable,
                std::span<const runtime::Storage> inputs,
                const int64_t *dims = nullptr);

/// Compiles as lowering::compile() does. Throws DeviceError and OutOfMemory for
/// what is wrong with the device.
mlir::FailureOr<std::shared_ptr<runtime::Executable>>
compileOn(mlir::ModuleOp module, const lowering::ProgramOptions &options,
          std::string &error, std::source_location place);

/// How this process compiles programs for a device, as its environment says.
/// Throws ValueError for what the environment must not say, and DeviceError.
lowering::ProgramOptions programOptions(const Device &device,
                                        std::source_location place);

/// How many programs were compiled by this process.
size_t compileCount();

} // namespace tessera::detail
