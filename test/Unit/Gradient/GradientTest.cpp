// The derivative rules of every op of the dialect, against finite differences
// and against each other.
#include "dialects/Tessera/Transforms/Autodiff.h"
#include "dialects/Tessera/Transforms/Decompose.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "test/Numerics/driver/Inputs.h"
#include "test/Numerics/driver/Ops.h"
#include "test/Unit/Gradient/Derivatives.h"
#include "test/Unit/Gradient/Instances.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace tessera;
using namespace tessera::gradient;

namespace {
/// Structure of programs rather than an op of a trace: regions and their
/// terminators.
bool isStructure(RegisteredOperationName op) {
  return op.hasTrait<OpTrait::IsTerminator>() ||
         op.hasTrait<OpTrait::OneRegion>();
}

struct Gradient : testing::Test {
  Gradient() {
    context.loadDialect<ir::TesseraDialect, func::FuncDialect>();
    for (const char *text :
         {elementwiseInstances, movingInstances, combiningInstances})
      modules.push_back(parseSourceString<ModuleOp>(text, &context));
  }
  std::vector<func::FuncOp> functions() {
    std::vector<func::FuncOp> all;
    for (auto &module : modules)
      llvm::append_range(all, module->getOps<func::FuncOp>());
    return all;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::vector<OwningOpRef<ModuleOp>> modules;
};

/// One instance, with random inputs and directions.
class Check {
public:
  explicit Check(func::FuncOp function) : function(function) {
    inputs = numerics::makeInputs(function, numerics::Draw::plain, seed);
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      if (isReal(type) && !function.getArgAttr(i, "test.fixed"))
        active.push_back(i);
    if (auto attr = function->getAttrOfType<FloatAttr>("test.step"))
      step = attr.getValueAsDouble();
    if (auto attr = function->getAttrOfType<FloatAttr>("test.tolerance"))
      tolerance = attr.getValueAsDouble();
  }

  void all() {
    for (unsigned i : active)
      firstOrder({i});
    firstOrder(active);
    reverse();
    second();
    decomposed();
  }

private:
  Tensors evaluate(func::FuncOp f, const Tensors &arguments) {
    EXPECT_TRUE(succeeded(verify(f)));
    auto results = lowering::interpret(f, arguments);
    EXPECT_TRUE(succeeded(results));
    return succeeded(results) ? *results : Tensors();
  }

  Numbers direction(Type type) {
    Numbers numbers(cast<RankedTensorType>(type).getNumElements());
    for (double &x : numbers)
      x = std::uniform_real_distribution<>(-1, 1)(random);
    return numbersOf(type,
                     bytesOf(type, numbers)); // As the type can hold them.
  }
  std::vector<Numbers> directions(ArrayRef<Type> types) {
    std::vector<Numbers> all;
    for (Type type : types)
      all.push_back(direction(type));
    return all;
  }
  SmallVector<Type> typesOf(func::FuncOp f, ArrayRef<unsigned> which) {
    return llvm::map_to_vector(
        which, [&](unsigned i) { return f.getArgumentTypes()[i]; });
  }
  Tensors append(Tensors arguments, ArrayRef<Type> types,
                 ArrayRef<Numbers> numbers) {
    for (auto [type, values] : llvm::zip_equal(types, numbers))
      arguments.push_back(bytesOf(type, values));
    return arguments;
  }

  /// (f(x + h t) - f(x - h t)) / 2h for each float result.
  std::vector<Numbers> differences(func::FuncOp f, const Tensors &arguments,
                                   ArrayRef<unsigned> which,
                                   ArrayRef<Numbers> tangents) {
    auto at = [&](double h) {
      Tensors moved = arguments;
      for (auto [i, tangent] : llvm::zip_equal(which, tangents)) {
        Type type = f.getArgumentTypes()[i];
        Numbers x = numbersOf(type, arguments[i]);
        for (auto [value, t] : llvm::zip_equal(x, tangent))
          value += h * t;
        moved[i] = bytesOf(type, x);
      }
      return realResults(f, evaluate(f, moved));
    };
    std::vector<Numbers> high = at(step), low = at(-step);
    for (auto [a, b] : llvm::zip_equal(high, low))
      for (auto [x, y] : llvm::zip_equal(a, b))
        x = (x - y) / (2 * step);
    return high;
  }

  std::vector<Numbers> realResults(func::FuncOp f, const Tensors &results) {
    std::vector<Numbers> numbers;
    for (auto [type, bytes] : llvm::zip_equal(f.getResultTypes(), results))
      if (isReal(type))
        numbers.push_back(numbersOf(type, bytes));
    return numbers;
  }

  void expectNear(const std::vector<Numbers> &expected,
                  const std::vector<Numbers> &actual, double bound) {
    ASSERT_EQ(expected.size(), actual.size());
    for (auto [a, b] : llvm::zip_equal(expected, actual)) {
      ASSERT_EQ(a.size(), b.size());
      for (size_t i = 0; i < a.size(); ++i)
        EXPECT_NEAR(a[i], b[i], bound * (1 + std::fabs(a[i])))
            << "element " << i;
    }
  }

  static double dot(const std::vector<Numbers> &a,
                    const std::vector<Numbers> &b) {
    double sum = 0;
    for (auto [x, y] : llvm::zip_equal(a, b))
      for (auto [u, v] : llvm::zip_equal(x, y))
        sum += u * v;
    return sum;
  }

  /// The tangent in a random direction of the arguments `which` against finite
  /// differences.
  void firstOrder(ArrayRef<unsigned> which) {
    SCOPED_TRACE("tangents of " + std::to_string(which.size()) +
                 " arguments from " + std::to_string(which[0]));
    func::FuncOp tangent = forwardOf(function, which);
    everyLinearOpHasATranspose(tangent);
    auto types = typesOf(function, which);
    auto t = directions(types);
    expectNear(
        differences(function, inputs, which, t),
        realResults(tangent, evaluate(tangent, append(inputs, types, t))),
        tolerance);
  }

  /// Whatever depends on a tangent argument will be transposed.
  void everyLinearOpHasATranspose(func::FuncOp tangent) {
    ValueRange tangents =
        tangent.getArguments().drop_front(function.getNumArguments());
    for (Operation *op : ir::dependentOps(
             tangent.getBody().front().getTerminator()->getOperands(),
             tangents))
      EXPECT_TRUE(isa<ir::TransposeOpInterface>(op))
          << op->getName().getStringRef().str();
  }

  /// <ct, J t> = <J^T ct, t>.
  void reverse() {
    SCOPED_TRACE("cotangents");
    func::FuncOp tangent = forwardOf(function, active),
                 cotangent = reverseOf(function, active);
    auto inputTypes = typesOf(function, active);
    SmallVector<Type> outputTypes =
        llvm::filter_to_vector(function.getResultTypes(), isReal);
    auto t = directions(inputTypes), ct = directions(outputTypes);
    auto forward =
        realResults(tangent, evaluate(tangent, append(inputs, inputTypes, t)));
    auto backward = realResults(
        cotangent, evaluate(cotangent, append(inputs, outputTypes, ct)));
    double left = dot(ct, forward), right = dot(backward, t);
    EXPECT_NEAR(left, right, exactness() * (1 + std::fabs(left)));
  }

  /// Derivatives of the cotangents: forward against finite differences, and
  /// reverse against forward.
  void second() {
    SCOPED_TRACE("second derivatives");
    func::FuncOp cotangent = reverseOf(function, active);
    SmallVector<Type> outputTypes =
        llvm::filter_to_vector(function.getResultTypes(), isReal);
    auto ct = directions(outputTypes);
    Tensors arguments = append(inputs, outputTypes, ct);
    func::FuncOp forward = forwardOf(cotangent, active),
                 twice = reverseOf(cotangent, active);
    auto inputTypes = typesOf(function, active);
    auto t = directions(inputTypes), u = directions(inputTypes);
    auto hessianTimesT = realResults(
        forward, evaluate(forward, append(arguments, inputTypes, t)));
    expectNear(differences(cotangent, arguments, active, t), hessianTimesT,
               10 * tolerance);
    auto uTimesHessian =
        realResults(twice, evaluate(twice, append(arguments, inputTypes, u)));
    double left = dot(u, hessianTimesT), right = dot(uTimesHessian, t);
    EXPECT_NEAR(left, right, exactness() * (1 + std::fabs(left)));
  }

  /// A composite's own tangent formula against that of its decomposition.
  void decomposed() {
    func::FuncOp primitives = function.clone();
    function->getBlock()->push_back(primitives);
    ir::decomposeComposites(primitives);
    SCOPED_TRACE("decomposition");
    auto types = typesOf(function, active);
    auto t = directions(types);
    func::FuncOp own = forwardOf(function, active),
                 other = forwardOf(primitives, active);
    expectNear(realResults(other, evaluate(other, append(inputs, types, t))),
               realResults(own, evaluate(own, append(inputs, types, t))),
               exactness());
  }

  /// How far two formulas for one number may be apart.
  double exactness() const { return tolerance > 1e-6 ? tolerance : 1e-9; }

  static constexpr uint64_t seed = 7;
  func::FuncOp function;
  Tensors inputs;
  SmallVector<unsigned> active;
  std::mt19937_64 random{seed};
  double step = 1e-5, tolerance = 1e-6;
};
} // namespace

TEST_F(Gradient, EveryOpSaysHowItDifferentiates) {
  for (RegisteredOperationName op : numerics::registeredOps(context)) {
    if (isStructure(op))
      continue;
    bool none = op.hasTrait<ir::NonDifferentiable>(),
         rule = op.hasInterface<ir::JvpOpInterface>();
    EXPECT_NE(none, rule)
        << op.getStringRef().str()
        << " needs NonDifferentiable or JvpOpInterface, and not both";
  }
}

TEST_F(Gradient, EveryDifferentiableOpHasAnInstance) {
  llvm::DenseSet<OperationName> covered;
  for (func::FuncOp function : functions())
    for (Operation &op : function.getBody().front().without_terminator())
      covered.insert(op.getName());
  for (RegisteredOperationName op : numerics::registeredOps(context))
    if (op.hasInterface<ir::JvpOpInterface>())
      EXPECT_TRUE(covered.contains(op))
          << op.getStringRef().str() << " has no instance in Instances.cpp";
}

TEST_F(Gradient, InstancesHoldTheirOpOnly) {
  for (func::FuncOp function : functions()) {
    llvm::DenseSet<OperationName> names;
    for (Operation &op : function.getBody().front().without_terminator())
      names.insert(op.getName());
    EXPECT_EQ(names.size(), 1u) << function.getName().str();
  }
}

TEST_F(Gradient, RulesAgree) {
  for (func::FuncOp function : functions()) {
    SCOPED_TRACE(function.getName().str());
    Check(function).all();
  }
}

TEST_F(Gradient, Programs) {
  auto module = parseSourceString<ModuleOp>(programs, &context);
  ASSERT_TRUE(module);
  for (func::FuncOp function :
       llvm::to_vector(module->getOps<func::FuncOp>())) {
    SCOPED_TRACE(function.getName().str());
    Check(function).all();
  }
}
