// Programs replayed through the front end, op by op.
#include "frontend/Recording.h"
#include "frontend/TensorImpl.h"
#include "frontend/Types.h"
#include "mlir/AsmParser/AsmParser.h"
#include "tessera/tessera.h"
#include "test/Fuzz/Ways.h"
#include "test/Numerics/driver/Random.h"

using namespace mlir;

namespace tessera::fuzz {
using lowering::TensorBytes;
using Handles = std::vector<Tensor>;

// Values in and out

static Tensor fromBytes(Type type, const TensorBytes &bytes) {
  auto tensor = cast<RankedTensorType>(type);
  auto storage = runtime::Storage::allocate(bytes.size());
  llvm::copy(bytes, static_cast<uint8_t *>(storage.data()));
  return detail::makeTensor(
      std::move(storage),
      Shape(tensor.getShape().begin(), tensor.getShape().end()),
      detail::dtypeFor(tensor.getElementType()), Device("cpu"));
}

static numerics::Tensors toBytes(const Handles &tensors) {
  numerics::Tensors results;
  for (const Tensor &tensor : tensors) {
    tensor.eval();
    const runtime::Storage &storage = tensor.handle()->storage;
    auto *data = static_cast<const uint8_t *>(storage.data());
    results.emplace_back(data, data + storage.bytes());
  }
  return results;
}

// Recording

template <typename T> static std::string textOf(T object) {
  std::string text;
  llvm::raw_string_ostream(text) << object;
  return text;
}

static Tensor record(Operation &op, ArrayRef<const Tensor *> operands) {
  detail::Recording r("replay", std::source_location::current(), operands);
  auto values = llvm::map_to_vector(
      operands, [&](const Tensor *operand) { return r.value(*operand); });
  Type type = parseType(textOf(op.getResult(0).getType()), r.context());
  auto attributes = cast<DictionaryAttr>(
      parseAttribute(textOf(op.getAttrDictionary()), r.context()));
  Operation *copy = r.trace().append(
      r.location(), OperationName(op.getName().getStringRef(), r.context()),
      type, values, attributes);
  return r.finish(copy->getResult(0));
}

namespace {
/// How a program is replayed.
struct Manner {
  /// Keeps a handle of every value; else one goes after its last use.
  bool keep = false;
  /// Evaluates some values on the way.
  numerics::Random *evaluations = nullptr;
};
} // namespace

static Handles replay(func::FuncOp program, const Handles &arguments,
                      Manner manner) {
  llvm::DenseMap<Value, Tensor> values;
  llvm::DenseMap<Value, size_t> uses;
  auto define = [&](Value value, Tensor tensor) {
    uses[value] = size_t(llvm::range_size(value.getUses()));
    values[value] = std::move(tensor);
  };
  for (auto [value, tensor] :
       llvm::zip_equal(program.getArguments(), arguments))
    define(value, tensor);
  Block &body = program.getBody().front();
  for (Operation &op : body.without_terminator()) {
    SmallVector<const Tensor *> operands;
    for (Value operand : op.getOperands())
      operands.push_back(&values[operand]);
    Tensor result = record(op, operands);
    if (manner.evaluations && manner.evaluations->below(4) == 0)
      result.eval();
    define(op.getResult(0), std::move(result));
    if (!manner.keep)
      for (Value operand : op.getOperands())
        if (--uses[operand] == 0)
          values.erase(operand);
  }
  Handles results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(values[value]);
  return results;
}

// Gradients

static bool isReal(Type type) {
  return isa<FloatType>(cast<RankedTensorType>(type).getElementType());
}

/// What the autodiff pass's twin of the program computes, by vjp.
static Handles replayGradient(func::FuncOp program, const Handles &arguments,
                              Manner manner) {
  Handles primals(arguments.begin(),
                  arguments.begin() + ptrdiff_t(program.getNumArguments()));
  auto next = arguments.begin() + ptrdiff_t(primals.size());
  Handles reals;
  for (auto [type, tensor] : llvm::zip(program.getArgumentTypes(), primals))
    if (isReal(type))
      reals.push_back(tensor);
  auto function = [&](const Handles &traced) {
    Handles all = primals;
    auto from = traced.begin();
    for (auto [type, tensor] : llvm::zip(program.getArgumentTypes(), all))
      if (isReal(type))
        tensor = *from++;
    return replay(program, all, manner);
  };
  auto [results, pullback] = vjp(function, reals);
  auto isOutput = [](Type type) { return isReal(type); };
  bool isScalar =
      llvm::count_if(program.getResultTypes(), isOutput) == 1 &&
      cast<RankedTensorType>(*llvm::find_if(program.getResultTypes(), isOutput))
              .getRank() == 0;
  Handles cotangents;
  for (auto [type, result] : llvm::zip(program.getResultTypes(), results)) {
    if (!isReal(type))
      cotangents.push_back(result); // of no meaning
    else if (isScalar)
      cotangents.push_back(ones({}, result.dtype()));
    else
      cotangents.push_back(*next++);
  }
  Handles gradients = pullback(cotangents);
  results.insert(results.end(), gradients.begin(), gradients.end());
  return results;
}

Ways frontEndWays(func::FuncOp program, bool gradient, uint64_t seed) {
  auto run = [program, gradient](const Handles &arguments, Manner manner) {
    return gradient ? replayGradient(program, arguments, manner)
                    : replay(program, arguments, manner);
  };
  using Call = std::function<Handles(const Handles &)>;
  auto compiled = jit(
      [run](const Handles &arguments) {
        return run(arguments, {.keep = false});
      },
      {.threads = 2});
  // Tracing twice would compile twice, so evaluations on the way are for some.
  std::pair<const char *, Call> calls[] = {
      {"lazy", [run](const Handles &a) { return run(a, {.keep = false}); }},
      {"jit", [compiled](const Handles &a) { return compiled(a); }},
      {"lazy with evaluations on the way",
       [run, gradient, seed](const Handles &a) {
         numerics::Random random(seed);
         return run(
             a, {.keep = true, .evaluations = gradient ? nullptr : &random});
       }},
  };
  numerics::Random random(seed);
  Ways ways;
  for (auto &[name, call] : calls) {
    if (ways.size() == 2 && random.below(4))
      break;
    ways.push_back({name,
                    [program, call](const numerics::Tensors &inputs) mutable
                        -> FailureOr<numerics::Tensors> {
                      // Cotangents may follow the arguments.
                      SmallVector<Type> types(program.getArgumentTypes());
                      if (inputs.size() > types.size())
                        llvm::copy_if(program.getResultTypes(),
                                      std::back_inserter(types), isReal);
                      Handles arguments;
                      for (auto [type, bytes] : llvm::zip_equal(types, inputs))
                        arguments.push_back(fromBytes(type, bytes));
                      return toBytes(call(arguments));
                    }});
  }
  return ways;
}

} // namespace tessera::fuzz
