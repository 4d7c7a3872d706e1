// Computes on weights at compile time what a call would compute each time.
#ifndef TESSERA_LOWERING_AOT_FOLDWEIGHTS_H
#define TESSERA_LOWERING_AOT_FOLDWEIGHTS_H

#include "lowering/Aot/Object.h"
#include <deque>

namespace tessera::lowering {

/// Weights that are part of the object and are read only through transposes of
/// one permutation become arguments of the transposed type, in a program of the
/// trace or the tensor stage; `weights` then has the transposed bytes, which
/// `storage` owns. Weights are often stored as [out, in], and products read
/// [in, out] faster.
void foldWeightTransposes(mlir::func::FuncOp main,
                          llvm::StringMap<Weight> &weights,
                          std::deque<std::string> &storage);

} // namespace tessera::lowering

#endif
