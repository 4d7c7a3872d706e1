// Programs as the commands load them: a file, its weights, and what the flags
// change.
#ifndef TESSERA_TOOLS_TESSERA_PROGRAM_H
#define TESSERA_TOOLS_TESSERA_PROGRAM_H

#include "frontend/io/Safetensors.h"
#include "lowering/Aot/Interface.h"
#include "lowering/CodeGen/Target.h"
#include "lowering/Stage.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "tools/tessera/Shapes.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tessera::tool {

/// A program file, parsed and checked, with its weights.
class Program {
public:
  /// Reads the file that the arguments name, and does what --from, --grad and
  /// --shape ask for. Throws a Failure.
  explicit Program(const Arguments &arguments,
                   Symbols symbols = Symbols::needSizes);
  /// Reads the weights: those of --weights, else of the file that the program
  /// names. Throws a Failure if they are not what the program expects.
  void loadWeights(const Arguments &arguments);

  mlir::ModuleOp module() { return *theModule; }
  mlir::func::FuncOp main() { return lowering::mainFunction(module()); }
  const lowering::Interface &interface() const { return ports; }
  /// The weight of this name, or null.
  const io::RawTensor *weight(llvm::StringRef name) const;
  /// The weights file, empty if there is none, or the weights are in the
  /// program.
  const std::string &weightsPath() const { return weightsFile; }
  const io::SafetensorsFile &weights() const { return values; }

  std::string path; ///< "-" for the standard input

private:
  void parse(const Arguments &arguments, Symbols symbols);
  void checkFlags(const Arguments &arguments);
  void loadInsideWeights();
  void addGradients(llvm::ArrayRef<std::string> names);

  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> theModule;
  lowering::Interface ports;
  std::string weightsFile;
  io::SafetensorsFile values;
};

/// Throws for a compilation that failed, of a program that was read: its error
/// says whether that is internal.
[[noreturn]] void failCompilation(llvm::StringRef error);

/// Whether ops are to be fused into kernels, by --no-fuse and TESSERA_FUSE.
bool isFusing(const Arguments &arguments);
/// The CPU or GPU that --target names, with what TESSERA_TF32 asks for; a usage
/// error if there is none.
lowering::TargetInfo targetNamed(llvm::StringRef name);
/// Lets a GPU compute products of f32 in tf32, if TESSERA_TF32 asks for it.
void chooseTF32(lowering::TargetInfo &target);
/// The folder for every stage, by --dump or TESSERA_DUMP, or empty. It is there
/// and can be written to; otherwise throws a Failure.
std::string dumpFolder(const Arguments &arguments);

/// The bytes of a file, or of the standard input for "-". Throws a Failure.
std::unique_ptr<llvm::MemoryBuffer> readInput(llvm::StringRef path);

/// What readInput() has read from the standard input. A signal handler may ask.
llvm::StringRef standardInput();

/// Writes a file under a temporary name and renames it, or to the standard
/// output for "-". Throws a Failure.
void writeOutput(llvm::StringRef path, llvm::StringRef bytes);

} // namespace tessera::tool

#endif
