// Weights that are part of a program file.
#ifndef TESSERA_LOWERING_AOT_INSIDEWEIGHTS_H
#define TESSERA_LOWERING_AOT_INSIDEWEIGHTS_H

#include "lowering/Aot/Interface.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera::lowering {

/// A weight's value, of the type that the program has for it.
struct InsideWeight {
  std::string name;
  mlir::RankedTensorType type;
  llvm::StringRef bytes; ///< row-major, little-endian
};

/// What `tessera.weights` is for a program that holds its weights: a dictionary
/// of resources, whose bytes stay the caller's while the module lives.
mlir::Attribute insideWeights(mlir::MLIRContext *context,
                              llvm::ArrayRef<InsideWeight> weights);

/// Whether `tessera.weights` is of that form.
bool isInsideWeights(mlir::Attribute attribute);

/// The bytes of an argument that is a weight, which live as long as the
/// module's context; an error if the program holds no such weight, or of
/// another size.
llvm::Expected<llvm::StringRef> insideWeight(mlir::ModuleOp module,
                                             const Port &argument);

} // namespace tessera::lowering

#endif
