// Elementwise ops: one record an op holds its name, its scalar body and its tangent.
#ifndef TESSERA_IR_ELEMENTWISEOPS_TD
#define TESSERA_IR_ELEMENTWISEOPS_TD

include "dialects/Tessera/IR/Base.td"
include "dialects/Tessera/IR/Enums.td"

/// Operands and result have one type. `scalar` is an expression over the operand scalars (by name, and `s`, a
/// ScalarBuilder); `tangent` is an expression over operands, the result `y` and the tangents `t` of a unary op.
class Tessera_ElementwiseOp<string mnemonic, list<Trait> traits>
    : Tessera_TensorOp<mnemonic, traits # [DeclareOpInterfaceMethods<ScalarOpInterface>]>;

class Tessera_UnaryOp<string mnemonic, string scalar, string tangent, Type type = Tessera_FloatTensor,
                      list<Trait> traits = [DeclareOpInterfaceMethods<JvpOpInterface>]>
    : Tessera_ElementwiseOp<mnemonic, traits # [AllTypesMatch<["x", "y"]>]> {
  let arguments = (ins type:$x);
  let results = (outs type:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  code scalarDefinition = [{
    ::mlir::Value $cppClass::buildScalar(::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::ValueRange args) {
      ScalarBuilder s(builder, loc);
      ::mlir::Value x = args[0];
      return }] # scalar # [{;
    }
  }];
  code jvpDefinition = !if(!empty(tangent), "", [{
    ::mlir::Value $cppClass::jvp(::mlir::OpBuilder &builder, ::mlir::ValueRange tangents) {
      if (!tangents[0])
        return {};
      Expr x(builder, getLoc(), getX()), y(builder, getLoc(), getY()), t(builder, getLoc(), tangents[0]);
      (void)x, (void)y;
      return (}] # tangent # [{).value();
    }
  }]);
  let extraClassDefinition = scalarDefinition # jvpDefinition;
}

/// The tangent of a binary op is the sum of its two partial terms, `ta` over the first operand's tangent and `tb`
/// over the second's; an absent tangent drops its term.
class Tessera_BinaryOp<string mnemonic, string scalar, string ta, string tb, Type type = Tessera_NumberTensor,
                       list<Trait> traits = [DeclareOpInterfaceMethods<JvpOpInterface>]>
    : Tessera_ElementwiseOp<mnemonic, traits # [AllTypesMatch<["a", "b", "y"]>]> {
  let arguments = (ins type:$a, type:$b);
  let results = (outs type:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a)";
  code scalarDefinition = [{
    ::mlir::Value $cppClass::buildScalar(::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::ValueRange args) {
      ScalarBuilder s(builder, loc);
      ::mlir::Value a = args[0], b = args[1];
      return }] # scalar # [{;
    }
  }];
  code jvpDefinition = !if(!empty(ta), "", [{
    ::mlir::Value $cppClass::jvp(::mlir::OpBuilder &builder, ::mlir::ValueRange tangents) {
      Expr a(builder, getLoc(), getA()), b(builder, getLoc(), getB()), y(builder, getLoc(), getY());
      (void)a, (void)b, (void)y;
      ::mlir::Value left, right;
      if (tangents[0]) {
        Expr t(builder, getLoc(), tangents[0]);
        left = (}] # ta # [{).value();
      }
      if (tangents[1]) {
        Expr t(builder, getLoc(), tangents[1]);
        right = (}] # tb # [{).value();
      }
      return detail::addTangents(builder, getLoc(), left, right);
    }
  }]);
  let extraClassDefinition = scalarDefinition # jvpDefinition;
}

defvar Linear = [DeclareOpInterfaceMethods<JvpOpInterface>, DeclareOpInterfaceMethods<TransposeOpInterface>];

//                                    mnemonic  scalar body      tangent
def Tessera_AbsOp   : Tessera_UnaryOp<"abs",   "s.abs(x)",      "select(x > 0.0, t, select(x < 0.0, -t, t.zero()))",
                                      Tessera_NumberTensor>;
def Tessera_ExpOp   : Tessera_UnaryOp<"exp",   "s.exp(x)",      "t * y">;
def Tessera_LogOp   : Tessera_UnaryOp<"log",   "s.log(x)",      "t / x">;
def Tessera_SqrtOp  : Tessera_UnaryOp<"sqrt",  "s.sqrt(x)",     "t / (y + y)">;
def Tessera_RsqrtOp : Tessera_UnaryOp<"rsqrt", "s.rsqrt(x)",    "t * (y / x * -0.5)">;
def Tessera_TanhOp  : Tessera_UnaryOp<"tanh",  "s.tanh(x)",     "t * (1.0 - y * y)">;
def Tessera_SinOp   : Tessera_UnaryOp<"sin",   "s.sin(x)",      "t * cos(x)">;
def Tessera_CosOp   : Tessera_UnaryOp<"cos",   "s.cos(x)",      "t * -sin(x)">;
def Tessera_ErfOp   : Tessera_UnaryOp<"erf",   "s.erf(x)",      "t * (exp(-(x * x)) * 1.1283791670955126)">;
def Tessera_NegOp   : Tessera_UnaryOp<"neg",   "s.neg(x)",      "-t", Tessera_NumberTensor, Linear>;
def Tessera_NotOp   : Tessera_UnaryOp<"not",   "s.bitNot(x)",   "", Tessera_BitTensor, [NonDifferentiable]>;

//                                   mnemonic  scalar body      tangent over a,   over b
def Tessera_AddOp : Tessera_BinaryOp<"add",   "s.add(a, b)",   "t",              "t", Tessera_NumberTensor, Linear>;
def Tessera_SubOp : Tessera_BinaryOp<"sub",   "s.sub(a, b)",   "t",              "-t", Tessera_NumberTensor, Linear>;
def Tessera_MulOp : Tessera_BinaryOp<"mul",   "s.mul(a, b)",   "t * b",          "t * a", Tessera_NumberTensor, Linear>;
def Tessera_DivOp : Tessera_BinaryOp<"div",   "s.div(a, b)",   "t / b",          "t * -(y / b)", Tessera_NumberTensor, Linear>;
def Tessera_PowOp : Tessera_BinaryOp<"pow",   "s.pow(a, b)",
  "t * powSlope(a, b)",
  "t * select(a == 0.0, a.zero(), y * log(select(a == 0.0, a.one(), a)))", Tessera_FloatTensor>;
/// Where the operands are equal each gets half of the tangent.
def Tessera_MaxOp : Tessera_BinaryOp<"max",   "s.max(a, b)",
  "select(a > b, t, select(a == b, t * 0.5, t.zero()))", "select(b > a, t, select(a == b, t * 0.5, t.zero()))">;
def Tessera_MinOp : Tessera_BinaryOp<"min",   "s.min(a, b)",
  "select(a < b, t, select(a == b, t * 0.5, t.zero()))", "select(b < a, t, select(a == b, t * 0.5, t.zero()))">;
def Tessera_AndOp : Tessera_BinaryOp<"and",   "s.bitAnd(a, b)", "", "", Tessera_BitTensor, [NonDifferentiable]>;
def Tessera_OrOp  : Tessera_BinaryOp<"or",    "s.bitOr(a, b)",  "", "", Tessera_BitTensor, [NonDifferentiable]>;
def Tessera_XorOp : Tessera_BinaryOp<"xor",   "s.bitXor(a, b)", "", "", Tessera_BitTensor, [NonDifferentiable]>;

def Tessera_CompareOp : Tessera_ElementwiseOp<"compare", [NonDifferentiable, AllTypesMatch<["a", "b"]>,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Compares two tensors; any comparison with a NaN is false but `ne`";
  let arguments = (ins Tessera_ComparisonAttr:$comparison, Tessera_Tensor:$a, Tessera_Tensor:$b);
  let results = (outs Tessera_BoolTensor:$y);
  let hasVerifier = 1;
  let assemblyFormat = "`` $comparison `,` $a `,` $b attr-dict `:` type($a) `->` type($y)";
}

def Tessera_SelectOp : Tessera_ElementwiseOp<"select", Linear # [AllTypesMatch<["a", "b", "y"]>]> {
  let summary = "`a` where the predicate holds, else `b`";
  let arguments = (ins Tessera_BoolTensor:$predicate, Tessera_Tensor:$a, Tessera_Tensor:$b);
  let results = (outs Tessera_Tensor:$y);
  let hasVerifier = 1;
  let assemblyFormat = "$predicate `,` $a `,` $b attr-dict `:` type($predicate) `,` type($a)";
}

def Tessera_ConvertOp : Tessera_TensorOp<"convert", Linear # [DeclareOpInterfaceMethods<ScalarOpInterface>]> {
  let summary = "Converts the element type";
  let description = [{
    Float to integer truncates and saturates, NaN gives 0; a number is true if it is not zero; integers wrap.
  }];
  let arguments = (ins Tessera_Tensor:$x);
  let results = (outs Tessera_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif
