// Which ops share a kernel: greedy by the bytes of memory traffic saved, within
// what the emitters cover.
#include "dialects/Tessera/Transforms/FusionGroups.h"
#include "dialects/Tessera/IR/Symbols.h"

using namespace mlir;

namespace tessera::ir {

/// Caps that keep a kernel's compile time and register pressure in hand.
static constexpr size_t kMaxOps = 96;
static constexpr int kMaxReductions = 8;
/// From here on a full reduction is worth the partial results of the column
/// kind.
static constexpr int64_t kParallelReduction = 1 << 16;

bool isView(Operation *op) {
  return isa<BroadcastOp, ReshapeOp, TransposeOp, SliceOp, IdentityOp,
             StopGradientOp, ConstantOp, IotaOp, ExtentOp>(op);
}

Use traceViews(Value value, llvm::function_ref<bool(Operation *)> stored) {
  Use use;
  Operation *op = value.getDefiningOp();
  while (op && isView(op) && !stored(op) && op->getNumOperands() == 1) {
    use.views.push_back(op);
    value = op->getOperand(0);
    op = value.getDefiningOp();
  }
  std::reverse(use.views.begin(), use.views.end());
  use.root = value;
  return use;
}

Use FusionGroups::trace(Value value) const {
  return traceViews(value, [&](Operation *op) { return isStored(op); });
}

/// Reshapes and identities leave memory as it is.
static bool keepsMemory(Operation *op) {
  return isa<ReshapeOp, IdentityOp, StopGradientOp>(op);
}

FusionGroups::FusionGroups(func::FuncOp function) {
  int next = 0;
  for (Operation &op : function.getBody().front())
    position[&op] = next++;
  markStoredViews(function);
  for (Operation &op : function.getBody().front().without_terminator())
    if (!isView(&op) && !owner.contains(&op))
      addGroup(&op);
  findUses(function);
  place.resize(groups.size());
  for (Operation &op : function.getBody().front())
    if (int group = groupOf(&op); group >= 0) {
      place[group] = int(groupAt.size());
      groupAt.push_back(group);
    }
}

/// A view whose result must lie in memory is a kernel of its own: one that a
/// product reads or that is returned, and an identity at a result, which stands
/// for a copy.
void FusionGroups::markStoredViews(func::FuncOp function) {
  auto need = [&](Value value, bool copies) {
    Operation *op = value.getDefiningOp();
    while (op && keepsMemory(op) && !isStored(op) &&
           !(copies && isa<IdentityOp, StopGradientOp>(op)))
      op = op->getOperand(0).getDefiningOp();
    if (op && isView(op) && !isStored(op))
      addGroup(op);
  };
  for (DotGeneralOp op : function.getOps<DotGeneralOp>())
    for (Value operand : op.getOperands())
      need(operand, false);
  for (Value operand :
       function.getBody().front().getTerminator()->getOperands())
    need(operand, true);
}

void FusionGroups::addGroup(Operation *op) {
  Group group;
  group.ops = {op};
  auto shapeOf = [](Value v) { return Shape(tensorType(v).getShape()); };
  group.space = shapeOf(op->getResult(0));
  if (isa<DotGeneralOp>(op))
    group.kind = KernelKind::gemm;
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    group.space = shapeOf(reduce.getX());
    int64_t rank = group.space.size(), count = reduce.getDims().size();
    bool trailing =
        llvm::all_of(llvm::enumerate(reduce.getDims()), [&](auto it) {
          return it.value() == rank - count + int64_t(it.index());
        });
    int64_t rows = 1, all = tensorType(reduce.getX()).getNumElements();
    for (int64_t i = 0; i < rank - count; ++i)
      rows *= group.space[i];
    bool single = rows < 4 && all >= kParallelReduction &&
                  reduce.getReduction() != Reduction::argmax;
    // Of rows whose length is a symbol the column kind makes chunks.
    bool grows = llvm::any_of(reduce.getDims(), [&](int64_t dim) {
      return isSymbolic(group.space[dim]);
    });
    group.kind = trailing && !single && !grows ? KernelKind::row_reduce
                                               : KernelKind::col_reduce;
    group.kept = rank - count;
    group.reductions = 1;
  }
  owner[op] = groups.size();
  parent.push_back(groups.size());
  groups.push_back(std::move(group));
}

void FusionGroups::findUses(func::FuncOp function) {
  for (Operation &op : function.getBody().front()) {
    bool isReturn = isa<func::ReturnOp>(op);
    if (!isReturn && !isStored(&op))
      continue;
    for (Value operand : op.getOperands()) {
      Use use = trace(operand);
      if (Operation *root = use.root.getDefiningOp(); root && isStored(root))
        uses[root].push_back({isReturn ? nullptr : &op, std::move(use)});
    }
  }
}

int FusionGroups::find(int group) const {
  while (parent[group] != group)
    group = parent[group] = parent[parent[group]];
  return group;
}

int FusionGroups::groupOf(Operation *op) const {
  auto it = owner.find(op);
  return it == owner.end() ? -1 : find(it->second);
}

bool FusionGroups::escapes(Operation *op) const {
  auto it = uses.find(op);
  if (it == uses.end())
    return false;
  return llvm::any_of(it->second, [&](const auto &use) {
    return !use.first || groupOf(use.first) != groupOf(op);
  });
}

/// Whether another group lies on a path from the producer to the consumer.
/// `reached` gets the groups that the producer reaches and that come before the
/// consumer: only those can lead to it.
bool FusionGroups::makesCycle(int producer, int consumer,
                              llvm::SmallDenseSet<int> &reached) const {
  SmallVector<int> work{producer};
  while (!work.empty()) {
    int group = work.pop_back_val();
    for (Operation *op : groups[group].ops) {
      auto it = uses.find(op);
      if (it == uses.end())
        continue;
      for (auto &[reader, use] : it->second) {
        int next = reader ? groupOf(reader) : -1;
        if (next < 0 || next == producer)
          continue;
        if (next == consumer && group != producer)
          return true;
        if (place[next] < place[consumer] && reached.insert(next).second)
          work.push_back(next);
      }
    }
  }
  return false;
}

/// Orders the groups anew for a join: what the producer reaches comes after the
/// joined group, whatever else was between the two before it.
void FusionGroups::orderJoined(int producer, int consumer,
                               const llvm::SmallDenseSet<int> &reached) {
  int first = place[producer], last = place[consumer];
  SmallVector<int> before, after;
  for (int i = first + 1; i < last; ++i)
    if (int group = groupAt[i]; group >= 0)
      (reached.contains(group) ? after : before).push_back(group);
  int next = first;
  auto put = [&](int group) {
    place[group] = next;
    groupAt[next++] = group;
  };
  llvm::for_each(before, put);
  put(consumer);
  llvm::for_each(after, put);
  while (next <= last)
    groupAt[next++] = -1;
}

/// Whether a use reads a value at the element that the reader computes: no view
/// stands between, and the reader does not look elsewhere itself.
static bool readsInPlace(Operation *reader, const Use &use) {
  return use.views.empty() && isa<ScalarOpInterface, ReduceOp, DotGeneralOp,
                                  IdentityOp, StopGradientOp>(reader);
}

/// Whether `holds` is true of every use of p's values in c.
bool FusionGroups::allUses(
    const Group &p, const Group &c,
    llvm::function_ref<bool(Operation *, const Use &)> holds) const {
  int consumer = groupOf(c.ops.front());
  for (Operation *op : p.ops)
    if (auto it = uses.find(op); it != uses.end())
      for (auto &[reader, use] : it->second)
        if (reader && groupOf(reader) == consumer && !holds(reader, use))
          return false;
  return true;
}

/// Every value that goes from p to c is read in place.
bool FusionGroups::usesAreDirect(const Group &p, const Group &c) const {
  return allUses(p, c, readsInPlace);
}

/// A view chain that spreads a row's value over the row: one broadcast along
/// the leading dimensions.
static bool spreadsRow(const Use &use, const Group &rows) {
  if (use.views.size() != 1)
    return false;
  auto broadcast = dyn_cast<BroadcastOp>(use.views[0]);
  if (!broadcast ||
      tensorType(broadcast.getX()).getShape() !=
          ArrayRef<int64_t>(rows.rowShape()) ||
      tensorType(broadcast.getY()).getShape() != ArrayRef<int64_t>(rows.space))
    return false;
  return llvm::all_of(llvm::enumerate(broadcast.getDims()), [](auto it) {
    return it.value() == int64_t(it.index());
  });
}

/// Whether `other`'s values, which `rows` reads or that read its, stand either
/// at the rows or at their elements.
const char *FusionGroups::rowFit(const Group &rows, const Group &other) const {
  if (other.kind == KernelKind::row_reduce) {
    if (other.space != rows.space || other.kept != rows.kept)
      return "they reduce different rows";
  } else if (other.kind != KernelKind::loop ||
             (other.space != rows.space && other.space != rows.rowShape())) {
    return "it loops over another shape";
  }
  int a = groupOf(rows.ops.front()), b = groupOf(other.ops.front());
  for (const Group *from : {&rows, &other})
    for (Operation *op : from->ops)
      if (auto it = uses.find(op); it != uses.end())
        for (auto &[reader, use] : it->second) {
          int to = reader ? groupOf(reader) : -1;
          bool between = (to == a || to == b) && to != groupOf(op);
          if (between && !readsInPlace(reader, use) &&
              !(spreadsRow(use, rows) &&
                isa<ScalarOpInterface, ReduceOp>(reader)))
            return "a view between them moves elements across rows";
        }
  return nullptr;
}

/// The shape of what a reduction or product group combines elements to.
static Shape combinedShape(const Group &group) {
  for (Operation *op : group.ops)
    if (isa<ReduceOp, DotGeneralOp>(op))
      return Shape(tensorType(op->getResult(0)).getShape());
  llvm_unreachable("the group combines nothing");
}

/// Whether the loop group p is read by c only after c's product or reduction,
/// at the result's elements.
bool FusionGroups::feedsEpilogue(const Group &p, const Group &c) const {
  if ((c.kind != KernelKind::gemm && c.kind != KernelKind::col_reduce) ||
      p.space != combinedShape(c) || !usesAreDirect(p, c))
    return false;
  return allUses(p, c, [](Operation *reader, const Use &) {
    return !isa<ReduceOp, DotGeneralOp>(reader);
  });
}

/// Whether the elementwise group p is computed as an operand of c's product: it
/// then is where the product packs that operand, once for each element.
bool FusionGroups::feedsProduct(const Group &p, const Group &c) const {
  if (p.kind != KernelKind::loop || c.kind != KernelKind::gemm ||
      !llvm::all_of(p.ops,
                    [](Operation *op) { return isa<ScalarOpInterface>(op); }))
    return false;
  return allUses(p, c, [](Operation *reader, const Use &use) {
    return isa<DotGeneralOp>(reader) && llvm::all_of(use.views, keepsMemory);
  });
}

/// Whether a loop's or a product's shapes depend on a symbol.
static bool isSymbolic(const Shape &space, const Group &product) {
  return llvm::any_of(space, [](int64_t size) { return isSymbolic(size); }) ||
         llvm::any_of(product.ops, [](Operation *op) {
           return isSymbolic(op->getResult(0).getType());
         });
}

const char *FusionGroups::whyApart(const Group &p, const Group &c,
                                   Group &joined) const {
  if (p.ops.size() + c.ops.size() > kMaxOps ||
      p.reductions + c.reductions > kMaxReductions)
    return "the kernel would be too large";
  joined.kind = c.kind;
  joined.space = c.space;
  joined.kept = c.kept;
  joined.reductions = p.reductions + c.reductions;
  bool leaves = llvm::any_of(p.ops, [&](Operation *op) {
    auto it = uses.find(op);
    return it != uses.end() && llvm::any_of(it->second, [&](const auto &use) {
             int reader = use.first ? groupOf(use.first) : -1;
             return reader != groupOf(op) && reader != groupOf(c.ops.front());
           });
  });
  if (p.kind == KernelKind::loop && c.kind == KernelKind::loop) {
    if (p.space != c.space)
      return "it loops over another shape";
    return usesAreDirect(p, c) ? nullptr : "a view between them moves elements";
  }
  if (c.kind == KernelKind::row_reduce)
    return rowFit(c, p);
  if (p.kind == KernelKind::row_reduce && c.kind == KernelKind::loop) {
    joined.kind = p.kind;
    joined.space = p.space;
    joined.kept = p.kept;
    return rowFit(p, c);
  }
  if (p.kind == KernelKind::loop && feedsEpilogue(p, c))
    return nullptr;
  if (feedsProduct(p, c) && isSymbolic(p.space, c))
    return "a product of a symbolic dimension reads its operands from memory";
  if (feedsProduct(p, c))
    return leaves ? "its result is needed in memory too" : nullptr;
  if (c.kind == KernelKind::col_reduce && p.kind == KernelKind::loop) {
    if (p.space != c.space || !usesAreDirect(p, c))
      return "it loops over another shape";
    return leaves ? "its result is needed in memory too" : nullptr;
  }
  if (c.kind == KernelKind::loop &&
      (p.kind == KernelKind::col_reduce || p.kind == KernelKind::gemm)) {
    joined.kind = p.kind;
    joined.kept = p.kept;
    joined.space = p.space;
    if (c.space != combinedShape(p))
      return "it loops over another shape";
    return usesAreDirect(p, c) ? nullptr : "a view between them moves elements";
  }
  return "no kernel kind does both";
}

void FusionGroups::join(int producer, int consumer, Group joined, int64_t bytes,
                        const llvm::SmallDenseSet<int> &reached) {
  orderJoined(producer, consumer, reached);
  Group &p = groups[producer], &c = groups[consumer];
  joined.ops = p.ops;
  llvm::append_range(joined.ops, c.ops);
  llvm::sort(joined.ops, [&](Operation *a, Operation *b) {
    return position.lookup(a) < position.lookup(b);
  });
  joined.reasons = std::move(p.reasons);
  llvm::append_range(joined.reasons, c.reasons);
  std::string reason;
  llvm::raw_string_ostream(reason)
      << "fused " << p.ops.back()->getName().stripDialect() << " into "
      << c.ops.front()->getName().stripDialect() << ": saves "
      << sizeText(bytes) << " bytes";
  joined.reasons.push_back(std::move(reason));
  parent[producer] = consumer;
  p.alive = false;
  c = std::move(joined);
}

void FusionGroups::fuse() {
  struct Edge {
    Operation *from, *to;
    int64_t bytes;
  };
  SmallVector<Edge> edges;
  for (auto &[op, readers] : uses)
    for (auto &[reader, use] : readers)
      if (reader) {
        auto type = tensorType(op->getResult(0));
        edges.push_back(
            {op, reader,
             type.getNumElements() *
                 std::max<int64_t>(1, type.getElementTypeBitWidth() / 8)});
      }
  // Equal savings keep the program's order, so that the result depends on the
  // program alone.
  llvm::sort(edges, [&](const Edge &a, const Edge &b) {
    auto key = [&](const Edge &e) {
      return std::tuple(-e.bytes, position.lookup(e.from),
                        position.lookup(e.to));
    };
    return key(a) < key(b);
  });
  for (bool changed = true; changed;) {
    changed = false;
    for (const Edge &edge : edges) {
      int p = groupOf(edge.from), c = groupOf(edge.to);
      if (p == c)
        continue;
      Group joined;
      llvm::SmallDenseSet<int> reached;
      if (whyApart(groups[p], groups[c], joined) || makesCycle(p, c, reached))
        continue;
      join(p, c, std::move(joined), edge.bytes, reached);
      changed = true;
    }
  }
  // What stayed apart is recorded with the consumer.
  for (const Edge &edge : edges) {
    int p = groupOf(edge.from), c = groupOf(edge.to);
    if (p == c)
      continue;
    Group joined;
    const char *why = whyApart(groups[p], groups[c], joined);
    std::string reason;
    llvm::raw_string_ostream(reason)
        << "apart from " << edge.from->getName().stripDialect() << ": "
        << (why ? why : "another kernel lies between them");
    if (!llvm::is_contained(groups[c].reasons, reason))
      groups[c].reasons.push_back(std::move(reason));
  }
}

} // namespace tessera::ir
