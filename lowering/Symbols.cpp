// What a caller may choose for the symbolic dimensions of a program.
#include "lowering/Symbols.h"
#include "dialects/Tessera/IR/Symbols.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/CodeGen/Formula.h"
#include "lowering/Stage.h"

using namespace mlir;

namespace tessera::lowering {

FailureOr<std::vector<runtime::SymbolInfo>> symbolsOf(ModuleOp module) {
  FailureOr<SmallVector<ir::SymbolRange>> ranges = ir::symbolRanges(module);
  if (failed(ranges))
    return failure();
  std::vector<runtime::SymbolInfo> symbols;
  for (ir::SymbolRange &range : *ranges)
    symbols.push_back({range.name, range.least, range.why});
  return symbols;
}

void limitSums(ModuleOp module, std::vector<runtime::SymbolInfo> &symbols) {
  mainFunction(module).walk([&](ir::ReduceOp op) {
    int64_t count = 1;
    for (int64_t dim : op.getDims())
      count *= ir::tensorType(op.getX()).getDimSize(dim);
    ir::Extent extent = ir::extentOf(count);
    if (!extent.isSymbolic() || extent.symbol >= symbols.size())
      return;
    int64_t &most = symbols[extent.symbol].most;
    most =
        std::min(most, (kMostReduced - extent.constant) / extent.coefficient);
  });
}

void limitBytes(runtime::SymbolInfo &symbol, int64_t bytes) {
  constexpr int64_t kMostBytes = int64_t(1) << 58; // sums of a few fit
  if (bytes > 0)
    symbol.most = std::min(symbol.most, kMostBytes / bytes);
}

void limitArena(const Plan &plan, std::vector<runtime::SymbolInfo> &symbols) {
  for (auto [symbol, bytes] : llvm::zip(symbols, plan.arenaPer))
    limitBytes(symbol, bytes);
  for (const runtime::SizeFormula &workspace : plan.workspaces)
    for (const runtime::SizeFormula::Term &term : workspace.terms)
      limitBytes(symbols[size_t(term.symbol)],
                 std::max<int64_t>(1, term.times) * term.coefficient);
}

} // namespace tessera::lowering
