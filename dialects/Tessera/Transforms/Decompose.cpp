// Composites replaced by the primitives that define them. No kernel computes a
// composite otherwise than its decomposition does, so this changes no bit of a
// result; it comes where a stage knows primitives only.
#include "dialects/Tessera/Transforms/Decompose.h"
#include "dialects/Tessera/Transforms/Passes.h"

using namespace mlir;

namespace tessera::ir {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "dialects/Tessera/Transforms/Passes.h.inc"

void decomposeComposites(Operation *root) {
  SmallVector<DecomposeOpInterface> composites;
  auto collect = [&] {
    root->walk([&](DecomposeOpInterface op) { composites.push_back(op); });
    return !composites.empty();
  };
  while (collect()) {
    for (DecomposeOpInterface op : composites) {
      OpBuilder builder(op);
      op->getResult(0).replaceAllUsesWith(op.decompose(builder));
      op->erase();
    }
    composites.clear();
  }
}

namespace {
struct DecomposePass : impl::DecomposePassBase<DecomposePass> {
  void runOnOperation() override { decomposeComposites(getOperation()); }
};
} // namespace

} // namespace tessera::ir
