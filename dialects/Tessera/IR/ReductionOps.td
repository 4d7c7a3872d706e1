// Ops that combine elements: reductions, products, and the composites built on them.
#ifndef TESSERA_IR_REDUCTIONOPS_TD
#define TESSERA_IR_REDUCTIONOPS_TD

include "dialects/Tessera/IR/Base.td"
include "dialects/Tessera/IR/Enums.td"

def Tessera_ReduceOp : Tessera_TensorOp<"reduce", [DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<JvpOpInterface>, DeclareOpInterfaceMethods<TransposeOpInterface>]> {
  let summary = "Combines the elements along `dims`, which vanish from the shape";
  let description = [{
    Float sums and products follow the fixed tree of the floating-point contract. Max and min of a NaN are NaN.
    `argmax` gives the row-major position (i64) among the reduced elements of the first NaN, else of the first
    maximum. On bool, max is any and min is all.
  }];
  let arguments = (ins Tessera_ReductionAttr:$reduction, Tessera_Tensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Tessera_Tensor:$y);
  let assemblyFormat = "`` $reduction `,` $x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
}

def Tessera_DotGeneralOp : Tessera_TensorOp<"dot_general", [DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<JvpOpInterface>, DeclareOpInterfaceMethods<TransposeOpInterface>, AllElementTypesMatch<["a", "b", "y"]>]> {
  let summary = "Products summed over contracted dimensions, for each batch index";
  let description = [{ The result has the batch dimensions, then the free dimensions of `a`, then those of `b`. }];
  let arguments = (ins Tessera_NumberTensor:$a, Tessera_NumberTensor:$b, DenseI64ArrayAttr:$a_batch,
                       DenseI64ArrayAttr:$b_batch, DenseI64ArrayAttr:$a_contract, DenseI64ArrayAttr:$b_contract);
  let results = (outs Tessera_NumberTensor:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
}

/// A composite has its own tangent formula and a decomposition into primitives, which defines its value.
class Tessera_CompositeOp<string mnemonic, list<Trait> traits = []>
    : Tessera_TensorOp<mnemonic, traits # [DeclareOpInterfaceMethods<InferTypeOpInterface>,
                                           DeclareOpInterfaceMethods<JvpOpInterface>,
                                           DeclareOpInterfaceMethods<DecomposeOpInterface>]>;

def Tessera_SoftmaxOp : Tessera_CompositeOp<"softmax"> {
  let summary = "exp(x - max) / sum(exp(x - max)) along one dimension";
  let arguments = (ins Tessera_FloatTensor:$x, I64Attr:$dim);
  let results = (outs Tessera_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Tessera_LogSoftmaxOp : Tessera_CompositeOp<"log_softmax"> {
  let summary = "(x - max) - log(sum(exp(x - max))) along one dimension";
  let arguments = (ins Tessera_FloatTensor:$x, I64Attr:$dim);
  let results = (outs Tessera_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Tessera_CrossEntropyOp : Tessera_CompositeOp<"cross_entropy"> {
  let summary = "-log_softmax(logits)[label] along the last dimension, for integer labels";
  let description = [{ A label outside [0, classes) gives NaN. }];
  let arguments = (ins Tessera_FloatTensor:$logits, Tessera_IntTensor:$labels);
  let results = (outs Tessera_FloatTensor:$y);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` type($logits) `,` type($labels) `->` type($y)";
}

#endif
