// Ops of the later stages: kernel regions, and the plan that launches them.
#ifndef TESSERA_IR_KERNELOPS_TD
#define TESSERA_IR_KERNELOPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "dialects/Tessera/IR/Base.td"
include "dialects/Tessera/IR/Enums.td"

def Tessera_KernelOp : Tessera_Op<"kernel", [IsolatedFromAbove, Pure,
    SingleBlockImplicitTerminator<"::tessera::ir::YieldOp">]> {
  let summary = "Ops that run as one kernel of one kind";
  let description = [{
    The region's arguments stand for the inputs. `reasons` records what was fused, what was refused, and why. `places`
    says where the outputs lie, from the plan stage on; `in_place` gives, for each output, the input whose bytes it
    overwrites, or -1. Such an output has no pointer of its own.
  }];
  let arguments = (ins Tessera_KernelKindAttr:$kind, Variadic<Tessera_Tensor>:$inputs,
                       OptionalAttr<ArrayAttr>:$reasons,
                       OptionalAttr<TypedArrayAttrBase<Tessera_PlaceAttr, "places">>:$places,
                       OptionalAttr<DenseI64ArrayAttr>:$in_place);
  let results = (outs Variadic<Tessera_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`` $kind `(` $inputs `)` attr-dict-with-keyword `:` functional-type($inputs, $outputs) $body";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$outputs, "KernelKind":$kind,
                                 "::mlir::ValueRange":$inputs, CArg<"::mlir::ArrayAttr", "nullptr">:$reasons), [{
    build($_builder, $_state, outputs, kind, inputs, reasons, nullptr, nullptr);
  }]>];
  let extraClassDeclaration = [{
    /// The number of the input that an output overwrites, or -1.
    int64_t overwrittenInput(unsigned output) {
      return getInPlace() ? (*getInPlace())[output] : -1;
    }
  }];
}

def Tessera_YieldOp : Tessera_Op<"yield", [Terminator, Pure, ReturnLike, HasParent<"KernelOp">]> {
  let summary = "Ends a kernel region with its results";
  let arguments = (ins Variadic<Tessera_Tensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{}]>];
}

#endif
