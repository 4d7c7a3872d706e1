// Reports of what a thread does, for the emulator's checks and counters.
#include "lowering/GPU/Sim/SimBuilder.h"
#include "runtime/sim/SimAbi.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tessera::lowering {

namespace {

/// An access: where, how many bytes, and what for.
struct Access {
  Value address;
  Value bytes; ///< If not constant.
  int64_t size = 0;
  int64_t alignment = 1;
  uint32_t flags = 0;
};

uint32_t flagsOf(LLVM::AtomicOrdering order) {
  switch (order) {
  case LLVM::AtomicOrdering::not_atomic:
    return 0;
  case LLVM::AtomicOrdering::acquire:
    return TESSERA_SIM_ATOMIC | TESSERA_SIM_ACQUIRE;
  case LLVM::AtomicOrdering::release:
    return TESSERA_SIM_ATOMIC | TESSERA_SIM_RELEASE;
  case LLVM::AtomicOrdering::acq_rel:
  case LLVM::AtomicOrdering::seq_cst:
    return TESSERA_SIM_ATOMIC | TESSERA_SIM_ACQUIRE | TESSERA_SIM_RELEASE;
  default:
    return TESSERA_SIM_ATOMIC;
  }
}

/// Volatile accesses are relaxed atomic ones: PTX ISA, "ld.volatile".
uint32_t flagsOf(LLVM::AtomicOrdering order, bool isVolatile) {
  return flagsOf(order) | (isVolatile ? uint32_t(TESSERA_SIM_ATOMIC) : 0);
}

/// What is accessed by `op`.
SmallVector<Access, 2> accessesOf(SimBuilder &b, Operation *op) {
  constexpr uint32_t kBoth = TESSERA_SIM_READ | TESSERA_SIM_WRITE;
  auto access = [&](Value address, Type type, std::optional<uint64_t> alignment,
                    uint32_t flags) -> Access {
    int64_t natural = b.layout.getTypeABIAlignment(type);
    return {address,
            {},
            int64_t(b.layout.getTypeSize(type)),
            int64_t(alignment.value_or(natural)),
            flags};
  };
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return {access(load.getAddr(), load.getType(), load.getAlignment(),
                   TESSERA_SIM_READ |
                       flagsOf(load.getOrdering(), load.getVolatile_()))};
  if (auto store = dyn_cast<LLVM::StoreOp>(op))
    return {access(store.getAddr(), store.getValue().getType(),
                   store.getAlignment(),
                   TESSERA_SIM_WRITE |
                       flagsOf(store.getOrdering(), store.getVolatile_()))};
  if (auto update = dyn_cast<LLVM::AtomicRMWOp>(op))
    return {access(update.getPtr(), update.getType(), update.getAlignment(),
                   kBoth | flagsOf(update.getOrdering()))};
  if (auto exchange = dyn_cast<LLVM::AtomicCmpXchgOp>(op))
    return {access(exchange.getPtr(), exchange.getVal().getType(),
                   exchange.getAlignment(),
                   kBoth | flagsOf(exchange.getSuccessOrdering()))};
  auto range = [&](Value address, Value bytes, uint32_t flags) -> Access {
    return {address, bytes, 1, 1, flags};
  };
  if (auto copy = dyn_cast<LLVM::MemcpyOp>(op))
    return {range(copy.getSrc(), copy.getLen(), TESSERA_SIM_READ),
            range(copy.getDst(), copy.getLen(), TESSERA_SIM_WRITE)};
  if (auto fill = dyn_cast<LLVM::MemsetOp>(op))
    return {range(fill.getDst(), fill.getLen(), TESSERA_SIM_WRITE)};
  return {};
}

/// What a field of a struct was set to, or null; memrefs are such structs.
Value fieldOf(LLVM::ExtractValueOp extract) {
  Value container = extract.getContainer();
  while (auto insert = container.getDefiningOp<LLVM::InsertValueOp>()) {
    if (insert.getPosition() == extract.getPosition())
      return insert.getValue();
    container = insert.getContainer();
  }
  return {};
}

/// The op that made the memory, as far as it can be followed.
Operation *rootOf(Value address) {
  while (Operation *op = address.getDefiningOp()) {
    if (auto gep = dyn_cast<LLVM::GEPOp>(op))
      address = gep.getBase();
    else if (isa<LLVM::AddrSpaceCastOp, LLVM::BitcastOp>(op))
      address = op->getOperand(0);
    else if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op);
             extract && fieldOf(extract))
      address = fieldOf(extract);
    else
      return op;
  }
  return nullptr;
}

Value asI64(SimBuilder &b, Location loc, Value value) {
  return value.getType() == b.i64
             ? value
             : LLVM::ZExtOp::create(b, loc, b.i64, value).getResult();
}

void report(SimBuilder &b, Operation *op, const Access &access) {
  Location loc = op->getLoc();
  Operation *root = rootOf(access.address);
  if (isa_and_nonnull<LLVM::AllocaOp>(root))
    return;
  Value bytes = access.bytes ? asI64(b, loc, access.bytes)
                             : b.constant(loc, access.size, 64);
  Value address = b.asGeneric(loc, access.address);
  unsigned space =
      cast<LLVM::LLVMPointerType>(access.address.getType()).getAddressSpace();
  if (auto constant = dyn_cast_or_null<LLVM::AddressOfOp>(root)) {
    auto global =
        b.module.lookupSymbol<LLVM::GlobalOp>(constant.getGlobalName());
    if (global) { // those in shared memory are gone by now
      Value base = b.asGeneric(loc, constant);
      Value size =
          b.constant(loc, int64_t(b.layout.getTypeSize(global.getType())), 64);
      b.callAt(op, "constant_access", {}, {address, bytes, base, size});
      return;
    }
  }
  uint32_t flags = access.flags | llvm::Log2_64(uint64_t(access.alignment));
  if (space == 1)
    flags |= TESSERA_SIM_GLOBAL;
  else
    b.granule = std::min({b.granule, access.size, access.alignment});
  if (space == 3)
    flags |= TESSERA_SIM_SHARED;
  b.callAt(op, "access", {}, {address, bytes, b.constant(loc, flags)});
}

/// Adds what a basic block executes to the thread's count.
void countOperations(SimBuilder &b, Block &block) {
  int64_t count = llvm::count_if(block, [](Operation &op) {
    return !op.hasTrait<OpTrait::ConstantLike>() && !isa<LLVM::AllocaOp>(op);
  });
  Location loc = block.front().getLoc();
  b.setInsertionPointToStart(&block);
  Value place = LLVM::GEPOp::create(
      b, loc, b.ptr, b.getI8Type(), b.lane(),
      ArrayRef<LLVM::GEPArg>{int32_t(offsetof(tessera_sim_lane, operations))});
  Value sum = LLVM::LoadOp::create(b, loc, b.i64, place);
  sum = LLVM::AddOp::create(b, loc, sum, b.constant(loc, count, 64));
  LLVM::StoreOp::create(b, loc, sum, place);
}

} // namespace

void instrument(SimBuilder &b, LLVM::LLVMFuncOp func) {
  if (!b.options.checks && !b.options.counters)
    return;
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) { ops.push_back(op); });
  // Before there are reports, which do not count.
  if (b.options.counters)
    for (Block &block : func.getBody())
      countOperations(b, block);
  for (Operation *op : ops) {
    b.setInsertionPoint(op);
    for (const Access &access : accessesOf(b, op))
      report(b, op, access);
    auto branch = dyn_cast<LLVM::CondBrOp>(op);
    if (branch && b.options.counters)
      b.callAt(op, "branch", {},
               {b.asI32(op->getLoc(), branch.getCondition())});
  }
}

} // namespace tessera::lowering
