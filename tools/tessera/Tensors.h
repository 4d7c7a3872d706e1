// The values of a program's arguments and results: from files, random, printed
// and compared.
#ifndef TESSERA_TOOLS_TESSERA_TENSORS_H
#define TESSERA_TOOLS_TESSERA_TENSORS_H

#include "runtime/Executable.h"
#include "tools/tessera/Program.h"

namespace tessera::tool {

/// One value for each argument: what --input says, else the weights file's,
/// else random numbers. Throws a Failure for a file of another type, and for
/// names that the program does not have.
std::vector<runtime::Storage> argumentValues(Program &program,
                                             const Arguments &arguments);

/// A program that is ready to be called where --device says.
class Runner {
public:
  Runner(Program &program, const Arguments &arguments);
  /// The values in the memory that a call reads them from.
  std::vector<runtime::Storage> place(llvm::ArrayRef<runtime::Storage> inputs);
  /// One value for each result, where it was computed; a GPU may not be done.
  std::vector<runtime::Storage> run(llvm::ArrayRef<runtime::Storage> inputs);
  /// Returns when the device is done.
  void wait();

private:
  Program &program;
  runtime::Device device;
  bool isReference;
  int threads;
  std::shared_ptr<runtime::Executable> executable;
};

/// A result, with its name and type, and its elements as far as they fit a
/// screen.
std::string printed(const lowering::Port &port, const runtime::Storage &value);

/// How two tensors differ, or nothing if no element does by more than
/// atol + rtol |expected|. NaN equals NaN.
std::string difference(const lowering::Port &port,
                       const runtime::Storage &value,
                       const io::RawTensor &expected, double rtol, double atol);

/// The bytes of a value as a file has them.
io::RawTensor asFile(const lowering::Port &port, const runtime::Storage &value);

} // namespace tessera::tool

#endif
