// Numbers of a kernel module that depend on the dimensions of a call.
#pragma once
#include "dialects/Tessera/IR/StandIns.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/SizeFormula.h"
#include <optional>

namespace tessera::lowering {

/// Elements of a buffer in its memref type, if they are known only at run time.
constexpr int64_t kUnknownElements = int64_t(1) << 40;

/// Elements that one sum over a symbolic dimension may have: three levels of
/// chunks of 1,024, each of which is not full.
constexpr int64_t kMostReduced = (int64_t(1) << 30) - 2048;

/// A number as a formula of the symbols.
runtime::SizeFormula formulaOf(int64_t number);
/// times * ceil(number / divisor); only one of `number` and `times` may be
/// symbolic.
runtime::SizeFormula ceilOf(int64_t number, int64_t divisor, int64_t times = 1);
runtime::SizeFormula operator+(runtime::SizeFormula a,
                               const runtime::SizeFormula &b);

/// A formula as an attribute: a plain i64 if it is constant.
mlir::Attribute attributeOf(mlir::MLIRContext *context,
                            const runtime::SizeFormula &formula);
std::optional<runtime::SizeFormula> formulaOf(mlir::Attribute attribute);

/// At least `number`, and a multiple of `step` for every size.
int64_t alignedTo(int64_t number, int64_t step);
/// Whether `number` is a multiple of `step` for every size.
bool isMultipleOf(int64_t number, int64_t step);

} // namespace tessera::lowering
