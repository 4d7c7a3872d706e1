// Traces: who refers to which op, and when an op goes.
#include "frontend/Trace.h"

#include "frontend/Types.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace tessera::detail {

// A context is replaced once this many ops were recorded in it, as soon as it
// is empty: what a context uniques is never freed.
static constexpr size_t kOpsPerContext = size_t(1) << 20;

Trace::Trace() { openContext(); }
Trace::~Trace() { closeContext(); }

static thread_local Trace *currentTrace = nullptr;

Trace &Trace::current() {
  if (currentTrace) [[likely]]
    return *currentTrace;
  // The thread's reference goes with the thread; the trace may live on.
  struct Owner {
    Trace *trace = new Trace;
    ~Owner() {
      currentTrace = nullptr;
      trace->release();
    }
  };
  static thread_local Owner owner;
  currentTrace = owner.trace;
  return *currentTrace;
}

void Trace::release() {
  if (references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete this;
}

void Trace::openContext() {
  theContext = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  theContext->loadDialect<ir::TesseraDialect>();
  theContext->getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    if (!diagnostics.empty())
      diagnostics += "\n";
    diagnostics += diagnostic.str();
    return success();
  });
  module = ModuleOp::create(UnknownLoc::get(theContext.get()));
  theBuilder = std::make_unique<OpBuilder>(theContext.get());
  theBuilder->setInsertionPointToEnd(module->getBody());
}

void Trace::closeContext() {
  infos.clear();
  values.clear();
  inputOf.clear();
  inputs.clear();
  kindMemo.clear();
  typeMemo.clear();
  locations.fill({});
  verified.fill({});
  names.clear();
  inputName.reset();
  noAttributes = broadcastScalar = {};
  types.fill({});
  for (Spares &kept : spares)
    for (Operation *spare : kept.ops)
      if (spare)
        spare->destroy();
  spares.fill({});
  knownCalls = {};
  lastCut = {};
  theBuilder.reset();
  module = {};
  theContext.reset();
}

void Trace::recycleIfDue() {
  if (ops != 0 || !frames.empty())
    return;
  limit = kMostOps;
  if (recorded < kOpsPerContext)
    return;
  closeContext();
  openContext();
  recorded = 0;
}

LocationAttr Trace::locate(std::source_location place) {
  const char *file = place.file_name();
  uint32_t line = place.line(), column = place.column();
  size_t slot = (reinterpret_cast<uintptr_t>(file) >> 3) + line * 37 + column;
  KnownPlace &known = locations[slot % locations.size()];
  if (known.file != file || known.line != line || known.column != column)
    known = {file, line, column,
             FileLineColLoc::get(theContext.get(), file, line, column)};
  return known.location;
}

bool Trace::wasVerified(const OpSignature &signature) {
  size_t slot = 0;
  for (const void *part : signature)
    slot = slot * 31 + (reinterpret_cast<uintptr_t>(part) >> 4);
  OpSignature &known = verified[slot % verified.size()];
  if (known == signature)
    return true;
  known = signature;
  return false;
}

OperationName Trace::nameOf(unsigned index, StringRef name) {
  if (names.size() <= index)
    names.resize(index + 1);
  if (!names[index])
    names[index] = OperationName(name, theContext.get());
  return *names[index];
}

std::unique_ptr<KnownCall> &Trace::knownCall(ArrayRef<uint64_t> key) {
  uint64_t hash = 0;
  for (uint64_t word : key)
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
  return knownCalls[(hash >> 40) % knownCalls.size()];
}

size_t recordedOps() {
  TraceLock lock(Trace::current());
  return Trace::current().ops;
}

// Inputs

RankedTensorType Trace::typeOf(DType dtype, const Shape &shape) {
  size_t slot = size_t(dtype);
  for (int64_t dim : shape)
    slot = slot * 31 + size_t(dim);
  KnownType &known = types[(slot ^ slot >> 16) % types.size()];
  if (!known.type || known.dtype != dtype ||
      known.type.getShape() != toRef(shape)) [[unlikely]]
    known = {tensorType(theContext.get(), dtype, shape), dtype};
  return known.type;
}

Trace::Spares &Trace::sparesFor(Type type) {
  auto pointer = reinterpret_cast<uintptr_t>(type.getAsOpaquePointer());
  return spares[(pointer >> 4 ^ pointer >> 10) % spares.size()];
}

Operation *Trace::makeInput(LocationAttr loc, Type type) {
  if (!loc)
    loc = theBuilder->getUnknownLoc();
  Spares &kept = sparesFor(type);
  if (kept.type == type.getAsOpaquePointer())
    for (Operation *&spare : kept.ops)
      if (spare) {
        Operation *op = std::exchange(spare, nullptr);
        op->setLoc(loc);
        block().push_back(op);
        return op;
      }
  if (!inputName) {
    inputName =
        OperationName(ir::InputOp::getOperationName(), theContext.get());
    noAttributes = DictionaryAttr::get(theContext.get());
  }
  return append(loc, *inputName, type, {}, noAttributes);
}

bool Trace::keepSpare(Operation *input) {
  Type type = input->getResult(0).getType();
  Spares &kept = sparesFor(type);
  if (kept.type != type.getAsOpaquePointer()) {
    for (Operation *&spare : kept.ops)
      if (spare)
        std::exchange(spare, nullptr)->destroy();
    kept.type = type.getAsOpaquePointer();
  }
  auto *free = llvm::find(kept.ops, nullptr);
  if (free == kept.ops.end())
    return false;
  *free = input;
  return true;
}

Operation *Trace::inputFor(TensorImpl *impl, LocationAttr loc) {
  Operation *&op = inputOf[impl];
  if (op)
    return op;
  op = makeInput(loc, typeOf(impl->dtype, impl->shape));
  detail::retain(impl);
  inputs[op] = {ImplPtr(impl), 0, impl->storage};
  return op;
}

Operation *Trace::inputFor(uint64_t bits, DType dtype, LocationAttr loc) {
  Operation *op = makeInput(loc, typeOf(dtype, {}));
  inputs[op] = {{}, bits, {}};
  return op;
}

Operation *Trace::append(LocationAttr loc, OperationName name, Type type,
                         ValueRange operands, DictionaryAttr attributes) {
  Operation *op = Operation::create(loc, name, type, operands, attributes,
                                    OpaqueProperties(nullptr), BlockRange(), 0);
  block().push_back(op);
  return op;
}

DictionaryAttr Trace::noDims() {
  if (!broadcastScalar)
    broadcastScalar = theBuilder->getDictionaryAttr(
        theBuilder->getNamedAttr("dims", theBuilder->getDenseI64ArrayAttr({})));
  return broadcastScalar;
}

const InputInfo *Trace::inputInfo(Operation *op) const {
  auto it = inputs.find(op);
  return it == inputs.end() ? nullptr : &it->second;
}

// What is known of an op

std::shared_ptr<Leaf> Trace::leafOf(Operation *op) const {
  if (auto *input = inputInfo(op))
    return input->impl ? input->impl->leaf : nullptr;
  TensorImpl *impl = info(op).impl;
  return impl ? impl->leaf : nullptr;
}

bool Trace::isPlain() const {
  return frames.empty() && !hasReleased &&
         !leavesExist.load(std::memory_order_relaxed);
}

bool Trace::dependsOnLeaf(Operation *op) const {
  if (isa<ir::InputOp>(op)) {
    auto *input = inputInfo(op);
    return input && input->impl && input->impl->leaf;
  }
  return info(op).onLeaf;
}

const Frame *Trace::findFrame(uint32_t id) const {
  for (const Frame &frame : frames)
    if (frame.id == id)
      return &frame;
  return nullptr;
}

uint32_t Trace::activeFrame(Operation *op) const {
  if (frames.empty())
    return 0;
  uint32_t id = info(op).frame;
  // An op of a transform that has ended may depend on what encloses it.
  return !id || findFrame(id) ? id : frames.back().id;
}

bool Trace::hasStorage(Operation *op) const {
  return values.contains(op) || inputs.contains(op);
}

runtime::Storage Trace::storageOf(Operation *op) {
  if (auto it = values.find(op); it != values.end())
    return it->second;
  auto it = inputs.find(op);
  if (it == inputs.end())
    return {};
  if (it->second.impl)
    return it->second.storage;
  size_t bytes = runtime::bytesOf(dtypeFor(op->getResult(0)));
  auto storage = runtime::Storage::allocate(bytes);
  std::memcpy(storage.data(), &it->second.bits, bytes);
  return storage;
}

// Handles

Tensor Trace::wrap(Operation *op, const Device &device) {
  return wrap(op, device, shapeOf(op->getResult(0)),
              dtypeFor(op->getResult(0)));
}

Tensor Trace::wrap(Operation *op, const Device &device, const Shape &shape,
                   DType dtype) {
  if (auto *input = inputInfo(op); input && input->impl)
    return Tensor(input->impl);
  OpInfo &info = infos[op];
  if (info.impl && tryRetain(info.impl))
    return Tensor(ImplPtr(info.impl));
  auto *impl = new TensorImpl(shape, dtype, device);
  retain();
  impl->trace = this;
  impl->op = op;
  impl->frame = info.frame;
  if (auto it = values.find(op); it != values.end()) {
    impl->storage = it->second;
    impl->ready.store(true, std::memory_order_release);
  }
  info.impl = impl;
  return Tensor(ImplPtr(impl));
}

void Trace::dropHandle(TensorImpl *impl) {
  Operation *op = impl->op;
  impl->op = nullptr;
  auto it = infos.find(op);
  // Another handle may have been made while this one was on its way here.
  if (it == infos.end() || it->second.impl != impl)
    return;
  it->second.impl = nullptr;
  if (op->getResult(0).use_empty())
    eraseIfUnused(op);
  else if (!it->second.frame && !it->second.onLeaf && !it->second.cut &&
           !it->second.released)
    infos.erase(it);
}

void Trace::forget(Operation *op) {
  if (onErase)
    onErase(op);
  infos.erase(op);
  if (isa<ir::InputOp>(op)) {
    if (auto it = inputs.find(op); it != inputs.end()) {
      if (it->second.impl) {
        inputOf.erase(it->second.impl.get());
        graveyard.push_back(std::move(it->second));
      }
      inputs.erase(it);
    }
  } else if (!values.empty()) {
    if (auto it = values.find(op); it != values.end()) {
      buried.push_back(std::move(it->second));
      values.erase(it);
    }
  }
  --ops;
}

void Trace::erase(Operation *op) {
  forget(op);
  op->remove();
  if (!isa<ir::InputOp>(op) || !keepSpare(op))
    op->destroy();
}

void Trace::eraseIfUnused(Operation *first) {
  SmallVector<Operation *, 16> work{first};
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!op->getResult(0).use_empty() || info(op).impl)
      continue;
    SmallVector<Operation *, 4> operands;
    for (OpOperand &operand : op->getOpOperands())
      operands.push_back(operand.get().getDefiningOp());
    erase(op);
    // The last user of an operand goes once, so no op is in the list twice but
    // by two operands of one op.
    for (auto [i, operand] : llvm::enumerate(operands))
      if (operand->getResult(0).use_empty() &&
          !llvm::is_contained(ArrayRef(operands).take_front(i), operand))
        work.push_back(operand);
  }
}

// Evaluated values

void Trace::keepValue(Operation *op, runtime::Storage storage) {
  if (TensorImpl *impl = info(op).impl) {
    impl->storage = storage;
    impl->ready.store(true, std::memory_order_release);
  }
  values[op] = std::move(storage);
}

void Trace::replaceByInput(Operation *op, runtime::Storage storage,
                           const std::shared_ptr<const Cut> &cut,
                           const Device &device) {
  auto it = infos.find(op);
  TensorImpl *impl = it == infos.end() ? nullptr : it->second.impl;
  if (impl) {
    it->second.impl = nullptr;
    impl->op = nullptr;
    impl->cut = cut;
    if (!impl->ready.load(std::memory_order_relaxed)) {
      impl->storage = storage;
      impl->ready.store(true, std::memory_order_release);
    }
  }
  if (!op->use_empty()) {
    ImplPtr owner;
    if (impl && tryRetain(impl))
      owner = ImplPtr(impl);
    else {
      owner = makeTensor(std::move(storage), shapeOf(op->getResult(0)),
                         dtypeFor(op->getResult(0)), device)
                  .handle();
      owner->cut = cut;
    }
    OpBuilder builder(op);
    auto input =
        ir::InputOp::create(builder, op->getLoc(), op->getResult(0).getType());
    ++ops;
    inputOf[owner.get()] = input;
    runtime::Storage bytes = owner->storage;
    inputs[input] = {std::move(owner), 0, std::move(bytes)};
    op->replaceAllUsesWith(input);
  }
  eraseIfUnused(op);
}

} // namespace tessera::detail
