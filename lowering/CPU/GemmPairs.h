// Internal to the Gemm emitter: products of bf16 by an instruction that adds
// two of them to an f32, with the bits of the contract.
//
// AVX512-BF16's instruction is two fused multiply-adds, first of the operands'
// high halves and then of the low ones, each rounded to nearest, ties to even.
// That is the contract's chain over two steps of k, where a pair has the
// earlier step in its high half. But the instruction takes denormals for zeros
// and flushes denormal sums to zero.
//
// Neither happens if no operand is denormal and every product is a multiple of
// 2^-126, the least normal number, since then all sums are. A number of bf16
// with the biased exponent e > 0 is a multiple of 2^(e - 127 - 7). So packing
// finds the least exponent of each operand; where their sum is too small, the
// pairs are taken apart for fused multiply-adds of f32.
#pragma once
#include "lowering/CPU/GemmBuilder.h"

namespace tessera::lowering::cpu {

/// Whether the product with this schedule is better computed in pairs.
bool isForPairs(const GemmKernel &kernel, const GemmTarget &target,
                const GemmPlan &plan);

/// The same product, whose operands are loaded as pairs of steps of k. The last
/// pair of an odd k ends with -0 in A and 0 in B, whose product changes no sum.
GemmKernel inPairs(const GemmKernel &kernel);

/// One half of each pair, as f32.
mlir::Value highHalf(FunctionBuilder &f, mlir::Value pairs);
mlir::Value lowHalf(FunctionBuilder &f, mlir::Value pairs);

/// `sums` plus the products of both halves, as the instruction has them.
mlir::Value dotPairs(FunctionBuilder &f, mlir::Value x, mlir::Value y,
                     mlir::Value sums, const GemmTarget &target);

/// The least biased exponent of some elements: 0 for a denormal, more than any
/// float's if all are zero.
class LeastExponent {
public:
  /// Of no elements yet, in vectors of as many pairs as `type` has lanes.
  LeastExponent(FunctionBuilder &f, mlir::VectorType type);
  void add(mlir::Value pairs);
  mlir::Value value(); ///< An i32.

private:
  FunctionBuilder &f;
  mlir::VectorType halves;
  mlir::Value least; ///< In memory: of each lane the magnitude's bits, minus 1.
};

/// Where packing leaves the exponents that its tiles found: an i32 each.
mlir::Value exponentsOf(const GemmEmission &e, FunctionBuilder &f);
/// The least of the exponents [begin, begin + count).
mlir::Value leastOf(FunctionBuilder &f, mlir::Value exponents, int64_t begin,
                    int64_t count);
/// Whether the instruction gives the contract's bits on operands with these
/// least exponents.
mlir::Value isDotExact(FunctionBuilder &f, mlir::Value a, mlir::Value b);

} // namespace tessera::lowering::cpu
