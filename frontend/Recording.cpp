// How the ops of one call get into the trace.
#include "frontend/Recording.h"

#include "frontend/Evaluate.h"
#include "tessera/Scope.h"

using namespace mlir;

namespace tessera {

// What is in force on a thread

static thread_local int noGradDepth = 0;
static thread_local const std::source_location *scopePlace = nullptr;

NoGrad::NoGrad() { ++noGradDepth; }
NoGrad::~NoGrad() { --noGradDepth; }

namespace detail {

LocationScope::LocationScope(std::source_location place)
    : place(place), outermost(!scopePlace) {
  if (outermost)
    scopePlace = &this->place;
}

LocationScope::~LocationScope() {
  if (outermost)
    scopePlace = nullptr;
}

bool isGradOff() { return noGradDepth > 0; }

std::source_location userPlace(std::source_location place) {
  return scopePlace ? *scopePlace : place;
}

Place errorPlace(std::source_location place) {
  std::source_location user = userPlace(place);
  return {user.file_name(), user.line()};
}

// Numbers

static uint64_t floatBits(double value, const llvm::fltSemantics &semantics) {
  APFloat number(value);
  bool inexact;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &inexact);
  return number.bitcastToAPInt().getZExtValue();
}

std::optional<uint64_t> bitsOf(const Scalar &scalar, DType dtype) {
  switch (dtype) {
  case DType::boolean:
    return scalar.kind == runtime::DTypeKind::Float ? scalar.real != 0
                                                    : scalar.integer != 0;
  case DType::f16:
    return floatBits(scalar.real, APFloat::IEEEhalf());
  case DType::bf16:
    return floatBits(scalar.real, APFloat::BFloat());
  case DType::f32:
    return std::bit_cast<uint32_t>(float(scalar.real));
  case DType::f64:
    return std::bit_cast<uint64_t>(scalar.real);
  default: {
    unsigned bits = unsigned(runtime::bytesOf(dtype) * 8);
    if (!llvm::isIntN(bits, scalar.integer))
      return std::nullopt;
    return uint64_t(scalar.integer);
  }
  }
}

// Start and end

unsigned Recording::nextOpIndex() {
  static std::atomic<unsigned> next{0};
  return next++;
}

Trace &Recording::prepare(const char *name, std::source_location place,
                          ArrayRef<const Tensor *> tensors) {
  Trace &current = Trace::current();
  for (const Tensor *tensor : tensors) {
    if (!tensor)
      continue;
    TensorImpl *impl = tensor->handle().get();
    if (!impl)
      throw ValueError(errorPlace(place), name,
                       "an operand is an empty tensor");
    if (impl->donated.load(std::memory_order_relaxed)) [[unlikely]]
      checkNotDonated(*impl, name, place);
    if (impl->trace && impl->trace != &current &&
        !impl->ready.load(std::memory_order_acquire))
      evaluate({*tensor}, name, place);
  }
  return current;
}

Recording::Recording(const char *name, std::source_location place,
                     ArrayRef<const Tensor *> tensors)
    : theName(name), thePlace(place), theTrace(prepare(name, place, tensors)),
      lock(theTrace) {
  theTrace.recycleIfDue();
  if (theTrace.ops >= theTrace.limit && theTrace.frames.empty()) [[unlikely]]
    cutOlderHalf(theTrace, name, place);
  loc = theTrace.locate(place);
  if (scopePlace)
    loc = CallSiteLoc::get(loc, theTrace.locate(*scopePlace));
  Block &block = theTrace.block();
  lastBefore = block.empty() ? nullptr : &block.back();
}

Recording::Recording(const char *name, std::source_location place,
                     std::initializer_list<const Tensor *> tensors)
    : Recording(name, place, ArrayRef(tensors.begin(), tensors.size())) {}

Recording::~Recording() {
  if (finished)
    return;
  theTrace.diagnostics.clear();
  if (!counted)
    countNew();
  for (Block &block = theTrace.block();
       !block.empty() && &block.back() != lastBefore;)
    theTrace.erase(&block.back());
}

Block::iterator Recording::firstNew() {
  return lastBefore ? std::next(lastBefore->getIterator())
                    : theTrace.block().begin();
}

void Recording::failFromDiagnostics() {
  StringRef text = theTrace.diagnostics;
  // The dialect begins with the name of its op; the user's is put instead.
  if (text.consume_front("'tessera."))
    text = text.split("' op ").second;
  else if (text.consume_front("["))
    text = text.split("] ").second;
  std::string message = text.str();
  if (text.contains("element type"))
    fail<TypeError>(message);
  fail<ShapeError>(message);
}

// Operands

Operation *Recording::opOf(const Tensor &tensor) {
  TensorImpl *impl = tensor.handle().get();
  if (impl->frame)
    checkTraced(*impl, theTrace, theName, thePlace);
  if (!theDevice)
    theDevice = impl->device;
  else if (*theDevice != impl->device)
    fail<DeviceError>("the tensors are on two devices: " + theDevice->str() +
                      " and " + impl->device.str());
  if (impl->trace == &theTrace && impl->op)
    return impl->op;
  if (!elementType(context(), impl->dtype))
    fail<TypeError>("no op computes with " +
                    std::string(runtime::nameOf(impl->dtype)) + ": " +
                    typeText(impl->dtype, impl->shape));
  return theTrace.inputFor(impl, loc);
}

ir::Expr Recording::expr(const Operand &x) {
  return expr(x, x.isScalar() ? x.scalar().dtype : x.tensor().dtype());
}

ir::Expr Recording::expr(const Operand &x, DType dtype) {
  if (!x.isScalar())
    return convert(expr(value(x.tensor())), dtype);
  std::optional<uint64_t> bits = bitsOf(x.scalar(), dtype);
  if (!bits)
    fail<ValueError>(typeText(x) + " does not fit " +
                     std::string(runtime::nameOf(dtype)));
  Operation *op = theTrace.inputFor(*bits, dtype, loc);
  if (!key.empty())
    numbers.push_back({op, &x, dtype});
  return expr(op->getResult(0));
}

// Ops

Value Recording::createOp(OperationName name, Type type, ValueRange operands,
                          ArrayRef<NamedAttribute> attributes) {
  return createOp(name, type, operands,
                  attributes.empty()
                      ? DictionaryAttr::get(context())
                      : DictionaryAttr::get(context(), attributes));
}

Value Recording::createOp(OperationName name, Type type, ValueRange operands,
                          DictionaryAttr attributes) {
  return theTrace.append(loc, name, type, operands, attributes)->getResult(0);
}

ir::Expr Recording::convert(ir::Expr x, DType dtype) {
  Type element = elementType(context(), dtype);
  if (x.type().getElementType() == element)
    return x;
  if (!element)
    fail<TypeError>("no op makes " + std::string(runtime::nameOf(dtype)));
  return x.with(create<ir::ConvertOp>(x.type().clone(element), x.value()));
}

ir::Expr Recording::broadcast(ir::Expr x, const Shape &shape) {
  RankedTensorType from = x.type();
  if (from.getShape() == toRef(shape))
    return x;
  if (from.getRank() == 0)
    return x.with(create<ir::BroadcastOp>(from.clone(toRef(shape)), x.value(),
                                          theTrace.noDims()));
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < from.getRank(); ++i)
    dims.push_back(int64_t(shape.size()) - from.getRank() + i);
  return x.with(create<ir::BroadcastOp>(
      from.clone(toRef(shape)), x.value(),
      builder().getNamedAttr("dims", builder().getDenseI64ArrayAttr(dims))));
}

// The end

/// What the rules of an op depend on; they read no values and no constants.
static OpSignature signatureOf(Operation *op) {
  OpSignature signature{op->getName().getAsOpaquePointer(),
                        op->getAttrDictionary().getAsOpaquePointer(),
                        op->getResult(0).getType().getAsOpaquePointer()};
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    signature[3 + i] = op->getOperand(i).getType().getAsOpaquePointer();
  return signature;
}

void Recording::verify(Operation *op) {
  if (op->getNumOperands() <= 3 && theTrace.wasVerified(signatureOf(op)))
    return;
  Value result = op->getResult(0);
  if (failed(op->getName().verifyInvariants(op))) {
    theTrace.forgetVerified();
    failFromDiagnostics();
  }
  if (!runtime::byteSize(ir::tensorType(result).getShape(), dtypeFor(result))) {
    theTrace.forgetVerified();
    fail<ShapeError>("a value would be too large: " +
                     typeText(dtypeFor(result), shapeOf(result)));
  }
}

/// What leaves and transforms need to know of an op.
void Recording::note(Operation *op) {
  bool onLeaf = false, released = false;
  uint32_t frame = 0;
  if (!theTrace.isPlain())
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *definition = operand.get().getDefiningOp();
      onLeaf |= theTrace.dependsOnLeaf(definition);
      frame = std::max(frame, theTrace.activeFrame(definition));
      released |= theTrace.hasReleased && theTrace.info(definition).released;
    }
  bool cut = isGradOff() && !isa<ir::InputOp>(op);
  if (!onLeaf && !frame && !cut && !released)
    return;
  OpInfo &info = theTrace.makeInfo(op);
  info.onLeaf = onLeaf && !cut && !op->hasTrait<ir::NonDifferentiable>();
  info.cut = cut;
  info.frame = frame;
  info.released = released && !cut;
  theTrace.hasCuts |= cut;
}

void Recording::adopt(Operation *op) {
  verify(op);
  note(op);
}

void Recording::countNew() {
  size_t count = 0;
  for (auto it = firstNew(), end = theTrace.block().end(); it != end; ++it)
    ++count;
  theTrace.ops += count;
  theTrace.recorded += count;
  counted = true;
}

void Recording::adoptAll() {
  countNew();
  for (auto it = firstNew(), end = theTrace.block().end(); it != end; ++it)
    adopt(&*it);
}

void Recording::sweep() {
  Block &block = theTrace.block();
  if (block.empty() || firstNew() == std::prev(block.end()))
    return;
  auto it = block.end();
  while (it != block.begin()) {
    Operation *op = &*--it;
    if (op == lastBefore)
      return;
    if (!op->getResult(0).use_empty() || theTrace.info(op).impl)
      continue;
    ++it;
    theTrace.erase(op);
  }
}

Tensor Recording::finish(Value result) {
  adoptAll();
  finished = true;
  Tensor tensor = theTrace.wrap(result.getDefiningOp(), device());
  sweep();
  if (!key.empty())
    remember(result.getDefiningOp());
  return tensor;
}

std::vector<Tensor> Recording::finish(ValueRange results) {
  adoptAll();
  finished = true;
  std::vector<Tensor> tensors;
  for (Value result : results)
    tensors.push_back(result ? theTrace.wrap(result.getDefiningOp(), device())
                             : Tensor());
  sweep();
  return tensors;
}

} // namespace detail
} // namespace tessera
