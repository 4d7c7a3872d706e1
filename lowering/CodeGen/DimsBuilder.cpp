// Formulas as instructions.
#include "lowering/CodeGen/DimsBuilder.h"

using namespace llvm;

namespace tessera::lowering {

Value *DimsBuilder::at(const runtime::SizeFormula &formula) {
  Value *result = b.getInt64(uint64_t(formula.constant));
  for (const runtime::SizeFormula::Term &term : formula.terms) {
    Value *size = b.CreateMul(symbol(term.symbol),
                              b.getInt64(uint64_t(term.coefficient)));
    size =
        b.CreateAdd(size, b.getInt64(uint64_t(term.plus + term.divisor - 1)));
    if (term.divisor != 1)
      size = b.CreateSDiv(size, b.getInt64(uint64_t(term.divisor)));
    result = b.CreateAdd(result,
                         b.CreateMul(size, b.getInt64(uint64_t(term.times))));
  }
  return result;
}

Value *DimsBuilder::sum(int64_t constant, ArrayRef<int64_t> per) {
  Value *result = b.getInt64(uint64_t(constant));
  for (auto [s, bytes] : enumerate(per))
    if (bytes != 0)
      result = b.CreateAdd(
          result, b.CreateMul(symbol(int64_t(s)), b.getInt64(uint64_t(bytes))));
  return result;
}

Value *DimsBuilder::offset(int64_t constant, ArrayRef<int64_t> per) {
  Value *result = sum(constant, per);
  return per.empty() ? result : b.CreateAnd(result, b.getInt64(uint64_t(-64)));
}

Value *DimsBuilder::symbol(int64_t number) {
  Value *&known = symbols[number];
  if (!known)
    known =
        b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_64(b.getInt64Ty(), dims,
                                                          uint64_t(number)));
  return known;
}

} // namespace tessera::lowering
