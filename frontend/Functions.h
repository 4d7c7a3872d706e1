// Formulas that several public functions use.
#pragma once

#include "frontend/Formula.h"

namespace tessera::detail {

Expr log1p(Expr x);
Expr expm1(Expr x);
Expr sigmoid(Expr x);
Expr softplus(Expr x);
/// Rounded down; of floats, with derivative 0.
Expr floor(Expr x);
/// The integer quotient rounded down, 0 for a divisor of 0.
Expr floorDivideIntegers(Expr x, Expr y);

} // namespace tessera::detail
