// Code that computes numbers from the symbolic dimensions of a call.
#pragma once
#include "runtime/SizeFormula.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"

namespace tessera::lowering {

/// Writes formulas as instructions. Dimensions are loaded once, so one builder
/// serves code that the place of its first use dominates.
class DimsBuilder {
public:
  /// `dims` points to the sizes of the symbols.
  DimsBuilder(llvm::IRBuilder<> &b, llvm::Value *dims) : b(b), dims(dims) {}

  /// runtime::SizeFormula::at().
  llvm::Value *at(const runtime::SizeFormula &formula);
  /// runtime::offsetAt(), without the rounding.
  llvm::Value *sum(int64_t constant, llvm::ArrayRef<int64_t> per);
  /// runtime::offsetAt().
  llvm::Value *offset(int64_t constant, llvm::ArrayRef<int64_t> per);
  /// The size of a symbol.
  llvm::Value *symbol(int64_t number);

private:
  llvm::IRBuilder<> &b;
  llvm::Value *dims;
  llvm::DenseMap<int64_t, llvm::Value *> symbols;
};

} // namespace tessera::lowering
