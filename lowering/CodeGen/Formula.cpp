// Formulas of stand-ins, and their form as attributes.
#include "lowering/CodeGen/Formula.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera::ir;
using tessera::runtime::SizeFormula;

namespace tessera::lowering {

SizeFormula formulaOf(int64_t number) { return ceilOf(number, 1); }

SizeFormula ceilOf(int64_t number, int64_t divisor, int64_t times) {
  if (times == 0)
    return {};
  Extent size = extentOf(number), factor = extentOf(times);
  if (!size.isSymbolic() && !factor.isSymbolic())
    return {times * int64_t(llvm::divideCeil(number, divisor)), {}};
  if (!size.isSymbolic()) {
    int64_t count = llvm::divideCeil(number, divisor);
    return {factor.constant * count,
            {{factor.symbol, count, factor.coefficient, 0, 1}}};
  }
  assert(!factor.isSymbolic() && "a product of symbols");
  if (divisor == 1)
    return {times * size.constant,
            {{size.symbol, times, size.coefficient, 0, 1}}};
  return {0, {{size.symbol, times, size.coefficient, size.constant, divisor}}};
}

SizeFormula operator+(SizeFormula a, const SizeFormula &b) {
  a.constant += b.constant;
  a.terms.insert(a.terms.end(), b.terms.begin(), b.terms.end());
  return a;
}

Attribute attributeOf(MLIRContext *context, const SizeFormula &formula) {
  Builder builder(context);
  if (formula.isConstant())
    return builder.getI64IntegerAttr(formula.constant);
  SmallVector<int64_t> numbers{formula.constant};
  for (const SizeFormula::Term &term : formula.terms)
    numbers.append(
        {term.symbol, term.times, term.coefficient, term.plus, term.divisor});
  return builder.getDenseI64ArrayAttr(numbers);
}

std::optional<SizeFormula> formulaOf(Attribute attribute) {
  if (auto number = dyn_cast_or_null<IntegerAttr>(attribute))
    return SizeFormula{number.getInt(), {}};
  auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(attribute);
  if (!numbers || numbers.size() % 5 != 1)
    return std::nullopt;
  SizeFormula formula{numbers[0], {}};
  for (int64_t i = 1; i < numbers.size(); i += 5) {
    if (numbers[i] < 0 || numbers[i] >= int64_t(kMaxSymbols) ||
        numbers[i + 4] <= 0)
      return std::nullopt;
    formula.terms.push_back({numbers[i], numbers[i + 1], numbers[i + 2],
                             numbers[i + 3], numbers[i + 4]});
  }
  return formula;
}

int64_t alignedTo(int64_t number, int64_t step) {
  Extent extent = extentOf(number);
  return numberOf({int64_t(llvm::alignTo(extent.coefficient, step)),
                   int64_t(llvm::alignTo(extent.constant, step)),
                   extent.symbol});
}

bool isMultipleOf(int64_t number, int64_t step) {
  Extent extent = extentOf(number);
  return extent.coefficient % step == 0 && extent.constant % step == 0;
}

} // namespace tessera::lowering
