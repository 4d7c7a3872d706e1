// The tessera dialect: everything a pass or an emitter needs to include.
#ifndef TESSERA_IR_TESSERA_H
#define TESSERA_IR_TESSERA_H

#include "dialects/Tessera/IR/LaneIndex.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tessera::ir {
/// Marks an op that no tangent flows through.
template <typename ConcreteType>
class NonDifferentiable
    : public mlir::OpTrait::TraitBase<ConcreteType, NonDifferentiable> {};
} // namespace tessera::ir

#include "dialects/Tessera/IR/Dialect.h.inc"
#include "dialects/Tessera/IR/Enums.h.inc"
#include "dialects/Tessera/IR/Interfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Tessera/IR/Attributes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Tessera/IR/Ops.h.inc"

namespace tessera::ir {

/// A type as users read it: `f32[2,3]`, `bool[]`.
std::string typeText(mlir::Type type);

/// The type of `x`, which is a ranked tensor.
inline mlir::RankedTensorType tensorType(mlir::Value x) {
  return llvm::cast<mlir::RankedTensorType>(x.getType());
}

} // namespace tessera::ir

#endif
