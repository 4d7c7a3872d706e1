// Transforms of functions: what is traced, differentiated, and handed out.
#include "dialects/Tessera/Transforms/Autodiff.h"
#include "frontend/Formula.h"
#include "frontend/History.h"
#include "frontend/Operands.h"
#include "tessera/Autodiff.h"
#include "tessera/Manipulation.h"

using namespace mlir;

namespace tessera::detail {

void check(bool holds, const char *text, const char *name,
           std::source_location place) {
  if (!holds)
    throw ValueError(errorPlace(place), name, text);
}

static SmallVector<const Tensor *> pointers(std::span<const Tensor> tensors) {
  return llvm::map_to_vector(tensors, [](const Tensor &t) { return &t; });
}

// Begin and end

Transform::Transform(const char *name, std::source_location place,
                     std::span<const Tensor> inputs, bool stand)
    : stand(stand), name(name), place(place) {
  Recording r(name, place, pointers(inputs));
  SmallVector<Value> copies;
  for (const Tensor &input : inputs) {
    Value x = r.value(input);
    copies.push_back(stand ? r.create<ir::InputOp>(x.getType(), {})
                           : r.create<ir::IdentityOp>(x.getType(), x));
  }
  traced = r.finish(ValueRange(copies));
  Trace &trace = r.trace();
  frame = ++trace.lastFrame;
  trace.frames.push_back({frame, name, place});
  for (const Tensor &input : traced) {
    trace.makeInfo(input.handle()->op).frame = frame;
    input.handle()->frame = frame;
  }
}

Tensor Transform::standFor(const Tensor &value) {
  Recording r(name, place, {&value});
  Tensor input = r.finish(r.create<ir::InputOp>(r.value(value).getType(), {}));
  r.trace().makeInfo(input.handle()->op).frame = frame;
  input.handle()->frame = frame;
  return input;
}

Transform::~Transform() { close({}); }

void Transform::end(std::span<const Tensor> results) {
  std::vector<Tensor> all(results.begin(), results.end());
  for (auto &[cell, value] : scope.writes())
    all.push_back(value);
  close(all);
  if (!stand)
    scope.commit();
}

void Transform::close(std::span<const Tensor> results) {
  if (!frame)
    return;
  Trace &trace = Trace::current();
  TraceLock lock(trace);
  // Transforms end in the order in which their C++ scopes do.
  while (!trace.frames.empty() && trace.frames.back().id >= frame) {
    trace.endedFrames.push_back(trace.frames.back());
    trace.frames.pop_back();
    if (trace.endedFrames.size() > 64)
      trace.endedFrames.pop_front();
  }
  uint32_t outer = trace.frames.empty() ? 0 : trace.frames.back().id;
  for (const Tensor &result : results) {
    TensorImpl *impl = result.handle().get();
    if (!impl || impl->frame < frame || !impl->op)
      continue;
    impl->frame = outer;
    trace.makeInfo(impl->op).frame = outer;
  }
  frame = 0;
}

// Derivatives

static SmallVector<Value> values(Recording &r,
                                 std::span<const Tensor> tensors) {
  return llvm::map_to_vector(tensors,
                             [&](const Tensor &t) { return r.value(t); });
}

/// Zeros where a derivative is none.
static void fillZeros(Recording &r, MutableArrayRef<Value> derivatives,
                      ValueRange like) {
  for (auto [derivative, value] : llvm::zip(derivatives, like))
    if (!derivative)
      derivative = ir::detail::full(r.builder(), r.location(),
                                    ir::tensorType(value), 0.0);
}

static SmallVector<const Tensor *> both(std::span<const Tensor> a,
                                        std::span<const Tensor> b) {
  SmallVector<const Tensor *> all = pointers(a);
  llvm::append_range(all, pointers(b));
  return all;
}

/// Cotangents of inputs, with derivatives stopped where history is cut.
static SmallVector<Value> pullBack(Recording &r, ValueRange outputs,
                                   ValueRange inputs, ValueRange cotangents) {
  SmallVector<Value> all(inputs);
  llvm::append_range(all, findBarriers(r.trace(), outputs, inputs));
  SmallVector<Value> grads =
      ir::buildVjp(r.builder(), outputs, all, cotangents);
  grads.truncate(inputs.size());
  fillZeros(r, grads, inputs);
  return grads;
}

static void requireFloats(Recording &r, std::span<const Tensor> inputs) {
  for (const Tensor &input : inputs)
    if (!runtime::isFloat(input.dtype()))
      r.fail<TypeError>("only floats have derivatives: " + typeText(input));
}

std::vector<Tensor> Transform::gradients(const Tensor &loss) {
  Recording r(name, place, both({&loss, 1}, traced));
  requireFloats(r, traced);
  if (loss.ndim() != 0 || !runtime::isFloat(loss.dtype()))
    r.fail<ShapeError>("the value is no scalar: " + typeText(loss));
  Value y = r.value(loss);
  Value one =
      ir::detail::full(r.builder(), r.location(), ir::tensorType(y), 1.0);
  return r.finish(ValueRange(pullBack(r, y, values(r, traced), one)));
}

std::vector<Tensor> Transform::forward(std::span<const Tensor> outputs,
                                       std::span<const Tensor> tangents) {
  SmallVector<const Tensor *> all = both(outputs, traced);
  llvm::append_range(all, pointers(tangents));
  Recording r(name, place, all);
  SmallVector<Value> inputs, directions;
  for (auto [input, tangent] : llvm::zip(traced, tangents)) {
    if (input.shape() != tangent.shape() || input.dtype() != tangent.dtype())
      r.fail<ShapeError>("a tangent is not of the type of its primal: " +
                         typeText(tangent) + " and " + typeText(input));
    if (!runtime::isFloat(input.dtype()))
      continue; // integers do not change
    inputs.push_back(r.value(input));
    directions.push_back(r.value(tangent));
  }
  SmallVector<Value> results = values(r, outputs);
  for (Value barrier : findBarriers(r.trace(), results, inputs)) {
    inputs.push_back(barrier);
    directions.push_back({});
  }
  SmallVector<Value> changes =
      ir::buildJvp(r.builder(), results, inputs, directions);
  fillZeros(r, changes, results);
  return r.finish(ValueRange(changes));
}

std::vector<Tensor> Transform::backward(std::span<const Tensor> outputs) {
  Recording r(name, place, both(outputs, traced));
  requireFloats(r, traced);
  SmallVector<Value> results = values(r, outputs), stands, all;
  for (Value result : results)
    stands.push_back(r.create<ir::InputOp>(result.getType(), {}));
  SmallVector<Value> grads = pullBack(r, results, values(r, traced), stands);
  // A stand-in that nothing uses is kept by its handle.
  all = stands;
  all.append(grads);
  std::vector<Tensor> made = r.finish(ValueRange(all));
  placeholders.assign(made.begin(), made.begin() + ptrdiff_t(stands.size()));
  return {made.begin() + ptrdiff_t(stands.size()), made.end()};
}

std::vector<Tensor> Replay::operator()(std::span<const Tensor> given,
                                       std::source_location at) const {
  SmallVector<const Tensor *> all = both(given, placeholders);
  llvm::append_range(all, pointers(results));
  check(given.size() == placeholders.size(),
        "the cotangent has another structure than the value", name, at);
  for (const Tensor &result : results)
    if (result.handle()->trace != &Trace::current())
      throw TraceError(errorPlace(at), name,
                       "it is called on another thread than it was made on");
  Recording r(name, at, all);
  llvm::DenseMap<Value, Value> copies;
  for (auto [value, stand] : llvm::zip(given, placeholders)) {
    if (value.shape() != stand.shape() || value.dtype() != stand.dtype())
      r.fail<ShapeError>("the cotangent is not of the type of the value: " +
                         typeText(value) + " and " + typeText(stand));
    copies[r.value(stand)] = r.value(value);
  }
  SmallVector<Value> outputs = values(r, results);
  SmallVector<Value> sources = values(r, placeholders);
  for (Operation *op : ir::dependentOps(outputs, sources)) {
    Operation *copy = r.builder().clone(*op);
    for (OpOperand &operand : copy->getOpOperands())
      if (Value other = copies.lookup(operand.get()))
        operand.set(other);
    copies[op->getResult(0)] = copy->getResult(0);
  }
  for (Value &output : outputs)
    if (Value copy = copies.lookup(output))
      output = copy;
  return r.finish(ValueRange(outputs));
}

// Jacobians

std::vector<Tensor> basis(const Tensor &like, std::source_location place) {
  int64_t size = like.size();
  Recording r("jacobian", place, {&like});
  if (!runtime::isFloat(like.dtype()))
    r.fail<TypeError>("only floats have derivatives: " + typeText(like));
  SmallVector<Value> units;
  Shape flat{size};
  for (int64_t i = 0; i < size; ++i) {
    Expr position = r.expr(
        ir::IotaOp::create(r.builder(), r.location(), r.type(i64, flat), 0));
    Expr wanted = r.broadcast(r.expr(Operand(i), i64), flat);
    Expr unit = r.convert(position == wanted, like.dtype());
    units.push_back(ir::reshape(unit, toRef(like.shape())).value());
  }
  return r.finish(ValueRange(units));
}

Tensor assemble(std::span<const Tensor> columns, const Shape &shape, bool last,
                std::source_location place) {
  check(!columns.empty(), "there are no elements to differentiate by",
        "jacobian", place);
  Tensor stacked = stack(columns, last ? -1 : 0, place);
  Shape full = shape;
  const Shape &other = columns[0].shape();
  if (last)
    full = other;
  for (int64_t dim : last ? shape : other)
    full.push_back(dim);
  return tessera::reshape(Operand(stacked, place), full);
}

} // namespace tessera::detail
