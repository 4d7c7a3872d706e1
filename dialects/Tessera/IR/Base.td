// The dialect, its tensor types, and the base classes of its op records.
#ifndef TESSERA_IR_BASE_TD
#define TESSERA_IR_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "dialects/Tessera/IR/Interfaces.td"

def Tessera_Dialect : Dialect {
  let name = "tessera";
  let cppNamespace = "::tessera::ir";
  let summary = "Tensor programs: what the ops mean, not how they run";
  // Attributes stay one uniqued dictionary, so that a trace is hashed and compared by pointer.
  let usePropertiesForAttributes = 0;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

def Tessera_FloatTensor : RankedTensorOf<[F16, BF16, F32, F64]>;
def Tessera_IntTensor : RankedTensorOf<[I8, I16, I32, I64]>;
def Tessera_BoolTensor : RankedTensorOf<[I1]>;
def Tessera_BitTensor : RankedTensorOf<[I1, I8, I16, I32, I64]>;
def Tessera_NumberTensor : RankedTensorOf<[F16, BF16, F32, F64, I8, I16, I32, I64]>;
def Tessera_Tensor : RankedTensorOf<[F16, BF16, F32, F64, I1, I8, I16, I32, I64]>;

/// No tangent flows through the op: its results are integers, or are constant by definition.
def NonDifferentiable : NativeOpTrait<"NonDifferentiable"> { let cppNamespace = "::tessera::ir"; }

class Tessera_Op<string mnemonic, list<Trait> traits = []> : Op<Tessera_Dialect, mnemonic, traits>;

/// An op of the trace: pure, one tensor result.
class Tessera_TensorOp<string mnemonic, list<Trait> traits = []>
    : Tessera_Op<mnemonic, traits # [Pure]>;

#endif
