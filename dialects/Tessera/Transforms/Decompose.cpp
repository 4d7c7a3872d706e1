// Composites become primitives. Theirs is the only definition of their value, so this comes before fusion, which joins
// the pieces again.
#include "dialects/Tessera/Transforms/Simplify.h"

using namespace mlir;

namespace tessera::ir {

void decomposeComposites(func::FuncOp function) {
  // A decomposition may hold further composites; the walk repeats until there are none.
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<Operation *> composites;
    function.walk([&](DecomposeOpInterface op) { composites.push_back(op); });
    for (Operation *op : composites) {
      OpBuilder builder(op);
      Value value = cast<DecomposeOpInterface>(op).decompose(builder);
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
      changed = true;
    }
  }
}

} // namespace tessera::ir
