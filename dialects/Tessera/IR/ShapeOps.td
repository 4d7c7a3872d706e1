// Ops that move or make elements without computing on them: views, concatenation, padding, generators.
#ifndef TESSERA_IR_SHAPEOPS_TD
#define TESSERA_IR_SHAPEOPS_TD

include "dialects/Tessera/IR/Base.td"

defvar Indexing = [DeclareOpInterfaceMethods<IndexingOpInterface>];
defvar LinearView = Indexing # [DeclareOpInterfaceMethods<JvpOpInterface>, DeclareOpInterfaceMethods<TransposeOpInterface>];

/// A view whose result type is stated; `verify` holds the shape rule.
class Tessera_ViewOp<string mnemonic, dag attributes = (ins)> : Tessera_TensorOp<mnemonic, LinearView> {
  let arguments = !con((ins Tessera_Tensor:$x), attributes);
  let results = (outs Tessera_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

def Tessera_BroadcastOp : Tessera_ViewOp<"broadcast", (ins DenseI64ArrayAttr:$dims)> {
  let summary = "Repeats a tensor along new or unit dimensions";
  let description = [{ Operand dimension i becomes result dimension dims[i] (increasing), of equal size or from size 1. }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tessera_ReshapeOp : Tessera_ViewOp<"reshape"> {
  let summary = "The same elements in row-major order under another shape";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tessera_TransposeOp : Tessera_ViewOp<"transpose", (ins DenseI64ArrayAttr:$permutation)> {
  let summary = "Permutes dimensions: result dimension i is operand dimension permutation[i]";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tessera_SliceOp : Tessera_ViewOp<"slice", (ins DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$strides)> {
  let summary = "Every strides[i]-th element from starts[i] on; the result's shape says how many";
  let description = [{ A negative stride walks backwards. All elements read lie inside the operand. }];
  let hasFolder = 1;
}

def Tessera_PadOp : Tessera_TensorOp<"pad", LinearView> {
  let summary = "Puts `value` before, after and between the elements of a tensor";
  let arguments = (ins Tessera_Tensor:$x, Tessera_Tensor:$value, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       DenseI64ArrayAttr:$interior);
  let results = (outs Tessera_Tensor:$y);
  let assemblyFormat = "$x `,` $value attr-dict `:` type($x) `,` type($value) `->` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tessera_ConcatOp : Tessera_TensorOp<"concat", LinearView> {
  let summary = "Joins tensors along one dimension";
  let arguments = (ins Variadic<Tessera_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Tessera_Tensor:$y);
  let assemblyFormat = "$inputs attr-dict `:` functional-type($inputs, $y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tessera_DynamicSliceOp : Tessera_TensorOp<"dynamic_slice", LinearView> {
  let summary = "A block of the result's shape at run-time starts, moved inward where it would leave the operand";
  let arguments = (ins Tessera_Tensor:$x, Variadic<RankedTensorOf<[I64]>>:$starts);
  let results = (outs Tessera_Tensor:$y);
  let assemblyFormat = "$x `[` $starts `]` attr-dict `:` type($x) (`,` type($starts)^)? `->` type($y)";
  let hasVerifier = 1;
}

def Tessera_DynamicUpdateSliceOp : Tessera_TensorOp<"dynamic_update_slice", LinearView> {
  let summary = "The tensor with a block at run-time starts replaced";
  let arguments = (ins Tessera_Tensor:$x, Tessera_Tensor:$update, Variadic<RankedTensorOf<[I64]>>:$starts);
  let results = (outs Tessera_Tensor:$y);
  let assemblyFormat = "$x `,` $update `[` $starts `]` attr-dict `:` type($x) `,` type($update) (`,` type($starts)^)? `->` type($y)";
  let hasVerifier = 1;
}

def Tessera_IotaOp : Tessera_TensorOp<"iota", Indexing # [NonDifferentiable]> {
  let summary = "The position along one dimension";
  let arguments = (ins I64Attr:$dim);
  let results = (outs Tessera_NumberTensor:$y);
  let assemblyFormat = "attr-dict `:` type($y)";
  let hasVerifier = 1;
}

def Tessera_ConstantOp : Tessera_TensorOp<"constant", Indexing # [NonDifferentiable, ConstantLike]> {
  let summary = "A tensor with one value everywhere; other literals are storage";
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Tessera_Tensor:$y);
  let assemblyFormat = "$value attr-dict `:` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tessera_ExtentOp : Tessera_TensorOp<"extent", Indexing # [NonDifferentiable]> {
  let summary = "The number of elements of a tensor of type `of`, everywhere; narrow integers wrap";
  let description = [{ A constant, but where a dimension of `of` is a symbol, as in a mean over it. }];
  let arguments = (ins TypeAttrOf<Tessera_Tensor>:$of);
  let results = (outs Tessera_NumberTensor:$y);
  let assemblyFormat = "$of attr-dict `:` type($y)";
  let hasFolder = 1;
}

def Tessera_RandomBitsOp : Tessera_TensorOp<"random_bits", Indexing # [NonDifferentiable]> {
  let summary = "Random 32-bit words by Philox 4x32-10";
  let description = [{
    Word i (in row-major order) is word i mod 4 of the block with counter i / 4 under the two words of `key`.
    Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
  }];
  let arguments = (ins RankedTensorOf<[I32]>:$key);
  let results = (outs RankedTensorOf<[I32]>:$y);
  let assemblyFormat = "$key attr-dict `:` type($key) `->` type($y)";
  let hasVerifier = 1;
}

/// Marks the argument of a derivative, so that one tensor passed twice is two variables. Folds away.
def Tessera_IdentityOp : Tessera_TensorOp<"identity", LinearView # [AllTypesMatch<["x", "y"]>]> {
  let arguments = (ins Tessera_Tensor:$x);
  let results = (outs Tessera_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasFolder = 1;
}

def Tessera_StopGradientOp : Tessera_TensorOp<"stop_gradient", Indexing # [NonDifferentiable, AllTypesMatch<["x", "y"]>]> {
  let summary = "The same value, constant for derivatives";
  let arguments = (ins Tessera_Tensor:$x);
  let results = (outs Tessera_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

/// A value that comes from outside the program: in a trace, of a storage or of an argument; while an op is
/// linearised, of a tangent.
def Tessera_InputOp : Tessera_Op<"input", [NonDifferentiable]> {
  let results = (outs Tessera_Tensor:$y);
  let assemblyFormat = "attr-dict `:` type($y)";
}

#endif
