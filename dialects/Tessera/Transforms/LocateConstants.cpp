// Gives ops without a place that of their first user.
//
// Why: folding merges equal constants that come from several lines, and then
// leaves their location unknown. An error or a profile that comes to such an op
// must still show a line of the user.
#include "dialects/Tessera/Transforms/LocateConstants.h"
#include "dialects/Tessera/Transforms/Passes.h"
#include "mlir/IR/Iterators.h"

using namespace mlir;

namespace tessera::ir {
#define GEN_PASS_DEF_LOCATECONSTANTSPASS
#include "dialects/Tessera/Transforms/Passes.h.inc"

static Operation *firstUser(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers())
    if (Operation *here = op->getBlock()->findAncestorOpInBlock(*user))
      if (!first || here->isBeforeInBlock(first))
        first = here;
  return first;
}

void locateConstants(Operation *root) {
  // Backwards, so that a user that had no place itself has one by now.
  root->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (!isa<UnknownLoc>(op->getLoc()))
      return;
    if (Operation *user = firstUser(op))
      op->setLoc(user->getLoc());
  });
}

namespace {
struct LocateConstantsPass
    : impl::LocateConstantsPassBase<LocateConstantsPass> {
  void runOnOperation() override { locateConstants(getOperation()); }
};
} // namespace

} // namespace tessera::ir
