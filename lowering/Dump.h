// Every stage of a compilation as files in a folder.
#ifndef TESSERA_LOWERING_DUMP_H
#define TESSERA_LOWERING_DUMP_H

#include "lowering/Stage.h"
#include <string>

namespace tessera::lowering {

/// One compilation's folder `ROOT/NNN-file-line/`, numbered in the order of the
/// compilations of this process. Files that cannot be written are reported once
/// on stderr; the compilation goes on.
class Dump {
public:
  /// `place` names the folder: the user's file and line. Nothing is written
  /// under an empty root.
  Dump(std::string root, mlir::Location place);

  bool enabled() const { return !folder.empty(); }
  /// The folder, empty if nothing is written.
  const std::string &path() const { return folder; }
  /// Writes one stage as one file:
  /// - 0-trace.mlir, 1-tensor.mlir, 2-kernels.mlir, 3-plan.mlir: the program;
  /// - 4-KERNEL.mlir, 5-KERNEL.ll, 6-KERNEL.s: a kernel as loops, as LLVM IR
  ///   after LLVM's passes, as assembly. Equal kernels are one, under the name
  ///   of the first.
  /// All have the user's locations. 0 to 3 are what compile() takes, 4 and 5
  /// what compileKernel() takes.
  void write(Stage stage, llvm::StringRef kernel, llvm::StringRef text);

private:
  std::string folder;
};

} // namespace tessera::lowering

#endif
