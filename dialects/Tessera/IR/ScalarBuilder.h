// Scalar bodies: one function an op, on scalars or vectors of any element type.
#ifndef TESSERA_IR_SCALARBUILDER_H
#define TESSERA_IR_SCALARBUILDER_H

#include "dialects/Tessera/IR/Tessera.h"

namespace tessera::ir {

/// Builds arithmetic on scalars or vectors by the floating-point contract:
/// integers wrap, division by zero gives 0.
class ScalarBuilder {
public:
  ScalarBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : b(builder), loc(loc) {}
  using Value = mlir::Value;

  Value abs(Value x), neg(Value x), bitNot(Value x);
  Value exp(Value x), log(Value x), sqrt(Value x), rsqrt(Value x),
      tanh(Value x), sin(Value x), cos(Value x), erf(Value x);
  Value add(Value a, Value b), sub(Value a, Value b), mul(Value a, Value b),
      div(Value a, Value b), pow(Value a, Value b);
  Value max(Value a, Value b), min(Value a, Value b);
  Value bitAnd(Value a, Value b), bitOr(Value a, Value b),
      bitXor(Value a, Value b);
  Value compare(Comparison comparison, Value a, Value b);
  Value convert(Value x, mlir::Type element);
  /// `number` as a scalar or vector of the type of `like`.
  Value constant(mlir::Type like, double number);
  Value identity(Reduction reduction, mlir::Type like);
  /// The combiner of a reduction other than argmax.
  Value combine(Reduction reduction, Value a, Value b);

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace tessera::ir

#endif
