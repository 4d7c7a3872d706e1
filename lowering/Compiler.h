// From a recorded program to something that runs: what the front end and the
// tools call.
#ifndef TESSERA_LOWERING_COMPILER_H
#define TESSERA_LOWERING_COMPILER_H

#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <string>

namespace tessera::runtime {
class Executable;
}

namespace tessera::lowering {

struct ProgramOptions {
  /// Threads that compile kernels; 0 means one for each core.
  int threads = 0;
  /// Fuses ops into kernels; without it each op is a kernel of its own, with
  /// the same results.
  bool fuse = true;
  /// A folder that receives every stage; empty for none. A dump compiles past
  /// every cache.
  std::string dump;
};

/// Compiles the function `main` of a trace-stage module for this machine's CPU.
/// The module is consumed: it ends in the plan stage. On failure `error` says
/// why; a failure is a bug of the compiler or of the machine, since a program
/// that verifies can be compiled. Inputs of the executable are the function's
/// arguments, outputs its results.
mlir::FailureOr<std::shared_ptr<runtime::Executable>>
compile(mlir::ModuleOp module, const ProgramOptions &options,
        std::string &error);

} // namespace tessera::lowering

#endif
