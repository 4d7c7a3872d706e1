// How ops that have attributes, or operands of several types, are added to a
// random program.
#ifndef TESSERA_TEST_FUZZ_MAKERS_H
#define TESSERA_TEST_FUZZ_MAKERS_H

#include "test/Fuzz/Program.h"

namespace tessera::fuzz {

struct Maker {
  llvm::StringRef op;
  /// Adds one, if it finds operands for it.
  void (*make)(Program &program);
};

/// Listed as often as an op is to be chosen.
llvm::ArrayRef<Maker> makers();
/// The op's, or null for an op that needs none.
const Maker *makerOf(mlir::OperationName op);

} // namespace tessera::fuzz

#endif
