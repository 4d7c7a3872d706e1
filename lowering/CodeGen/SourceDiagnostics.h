// Diagnostics about a text that somebody gave us.
#ifndef TESSERA_LOWERING_CODEGEN_SOURCEDIAGNOSTICS_H
#define TESSERA_LOWERING_CODEGEN_SOURCEDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <string>

namespace tessera::lowering {

/// While it lives, takes the diagnostics of a context and appends them to a
/// text as "FILE:LINE:COLUMN: error: ..." with a line break after each, and
/// with the line itself if the file is the text given. Upstream's handler opens
/// any file that a location names, which may be a device without an end.
class SourceDiagnostics {
public:
  SourceDiagnostics(mlir::MLIRContext &context, llvm::MemoryBufferRef source,
                    std::string &to);

private:
  void print(mlir::Location loc, mlir::DiagnosticSeverity severity,
             const std::string &what);

  llvm::MemoryBufferRef source;
  std::string &to;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tessera::lowering

#endif
