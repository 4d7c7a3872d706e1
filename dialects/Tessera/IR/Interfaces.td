// The interfaces through which passes and emitters see an op. Nothing else may ask what an op is.
#ifndef TESSERA_IR_INTERFACES_TD
#define TESSERA_IR_INTERFACES_TD

include "mlir/IR/OpBase.td"

def ScalarOpInterface : OpInterface<"ScalarOpInterface"> {
  let cppNamespace = "::tessera::ir";
  let description = [{
    An elementwise op: every result element is one function of the operand elements at the same index.
  }];
  let methods = [InterfaceMethod<
    "Computes the function on `args`, which are scalars or vectors of one width; the same code for CPU and GPU.",
    "::mlir::Value", "buildScalar",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$args)>];
}

def IndexingOpInterface : OpInterface<"IndexingOpInterface"> {
  let cppNamespace = "::tessera::ir";
  let description = [{
    An op whose result element at an index is an operand element at another index (a view), a choice of such
    elements, or a function of the index itself.
  }];
  let methods = [InterfaceMethod<[{
      The result element (or vector of lanes) at `index`, from operand elements fetched with `read`, whose index
      is always inside the operand. Fails where the lanes of `index` do not stay one arithmetic progression
      in an operand; the caller then goes lane by lane, and that never fails.
    }],
    "::llvm::FailureOr<::mlir::Value>", "buildAt",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
         "::llvm::ArrayRef<::tessera::ir::LaneIndex>":$index, "int64_t":$lanes,
         "::tessera::ir::ReadOperand":$read)>];
}

def JvpOpInterface : OpInterface<"JvpOpInterface"> {
  let cppNamespace = "::tessera::ir";
  let description = [{ The forward derivative rule (Jacobian-vector product), one formula an op. }];
  let methods = [InterfaceMethod<[{
      The tangent of the result, from the tangents of the operands; a null tangent is zero, and is returned
      where the result's tangent is zero. Only linear ops may be applied to tangents.
    }],
    "::mlir::Value", "jvp",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$tangents)>];
}

def TransposeOpInterface : OpInterface<"TransposeOpInterface"> {
  let cppNamespace = "::tessera::ir";
  let description = [{ The transpose of an op that is linear in some operands. }];
  let methods = [InterfaceMethod<[{
      The cotangents of the operands marked in `linear`, from the cotangent of the result; null for the
      others. The op is linear in the marked operands jointly.
    }],
    "::llvm::SmallVector<::mlir::Value>", "transpose",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$cotangent, "::llvm::ArrayRef<bool>":$linear)>];
}

def DecomposeOpInterface : OpInterface<"DecomposeOpInterface"> {
  let cppNamespace = "::tessera::ir";
  let description = [{ A composite: an op whose value is defined by a program of primitives. }];
  let methods = [InterfaceMethod<
    "Builds that program and returns its result.",
    "::mlir::Value", "decompose", (ins "::mlir::OpBuilder &":$builder)>];
}

#endif
