// The groups of ops that fusion forms: what each computes, and which may be
// joined.
#ifndef TESSERA_TRANSFORMS_FUSIONGROUPS_H
#define TESSERA_TRANSFORMS_FUSIONGROUPS_H

#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::ir {

using Shape = llvm::SmallVector<int64_t>;

/// Ops that run as one kernel.
struct Group {
  KernelKind kind = KernelKind::loop;
  llvm::SmallVector<mlir::Operation *> ops; ///< In program order.
  Shape space; ///< What the kernel loops over: the results' shape, or the shape
               ///< that is reduced.
  int64_t kept = 0; ///< For reductions over trailing dimensions, the number of
                    ///< leading ones.
  int reductions = 0;
  bool alive = true;
  llvm::SmallVector<std::string> reasons;

  Shape rowShape() const {
    return Shape(llvm::ArrayRef(space).take_front(kept));
  }
};

/// How a value reaches an op: through views, which the consuming kernel folds
/// in.
struct Use {
  mlir::Value
      root; ///< A value that some group, or the function's caller, stores.
  llvm::SmallVector<mlir::Operation *> views; ///< From the root on.
};

/// An op that only renames elements, so that each kernel that needs it repeats
/// it for free.
bool isView(mlir::Operation *op);

/// Follows views backwards from `value`; stops at a view for which `stored`
/// holds.
Use traceViews(mlir::Value value,
               llvm::function_ref<bool(mlir::Operation *)> stored);

/// All groups of a function, and their joining.
class FusionGroups {
public:
  explicit FusionGroups(mlir::func::FuncOp function);

  /// Joins groups greedily, the largest saving of memory traffic first.
  void fuse();

  llvm::ArrayRef<Group> all() const { return groups; }
  /// The group that computes `op`, or -1.
  int groupOf(mlir::Operation *op) const;
  /// Whether a view is computed by a group of its own, because its result has
  /// to lie in memory.
  bool isStored(mlir::Operation *view) const { return owner.contains(view); }
  Use trace(mlir::Value value) const;
  /// Whether something outside the op's group needs its result in memory.
  bool escapes(mlir::Operation *op) const;

private:
  void markStoredViews(mlir::func::FuncOp function);
  void addGroup(mlir::Operation *op);
  void findUses(mlir::func::FuncOp function);
  int find(int group) const;
  bool makesCycle(int producer, int consumer,
                  llvm::SmallDenseSet<int> &reached) const;
  void orderJoined(int producer, int consumer,
                   const llvm::SmallDenseSet<int> &reached);
  /// Null if the two may be joined, else why not. On success `kind` and `shape`
  /// describe the whole.
  const char *whyApart(const Group &p, const Group &c, Group &joined) const;
  bool
  allUses(const Group &p, const Group &c,
          llvm::function_ref<bool(mlir::Operation *, const Use &)> holds) const;
  bool usesAreDirect(const Group &p, const Group &c) const;
  bool feedsEpilogue(const Group &p, const Group &c) const;
  bool feedsProduct(const Group &p, const Group &c) const;
  const char *rowFit(const Group &rows, const Group &other) const;
  void join(int producer, int consumer, Group joined, int64_t bytes,
            const llvm::SmallDenseSet<int> &reached);

  llvm::SmallVector<Group> groups;
  mutable llvm::SmallVector<int> parent;
  llvm::DenseMap<mlir::Operation *, int> owner;
  /// For each op that a group computes, the ops that read it and how; a null
  /// reader is the function's result.
  llvm::MapVector<mlir::Operation *,
                  llvm::SmallVector<std::pair<mlir::Operation *, Use>>>
      uses;
  llvm::DenseMap<mlir::Operation *, int> position;
  /// An order in which each group comes after those that it reads: the place of
  /// each group in it, and the group at each place, or -1. A group that was
  /// joined spans other positions of the program, so these do not tell.
  llvm::SmallVector<int> place, groupAt;
};

} // namespace tessera::ir

#endif
