// Records the ops of one call of a public function.
#pragma once

#include "dialects/Tessera/IR/Expr.h"
#include "frontend/Trace.h"
#include "frontend/Types.h"

namespace tessera::detail {

/// Whether NoGrad is in force on this thread.
bool isGradOff();
/// The user's place of a call at `place`: that of the outermost LocationScope.
std::source_location userPlace(std::source_location place);
Place errorPlace(std::source_location place);

/// Holds this thread's trace locked while one call records its ops. Ops that
/// were made when an exception is thrown are erased. Tensors must not be
/// destroyed meanwhile, since that takes the lock.
class Recording {
public:
  /// `name` is what the user called. All tensors that will be used are given
  /// here, since those of other threads are evaluated before the lock is taken;
  /// a null pointer is skipped. Throws ValueError for an empty tensor.
  Recording(const char *name, std::source_location place,
            std::initializer_list<const Tensor *> tensors = {});
  Recording(const char *name, std::source_location place,
            llvm::ArrayRef<const Tensor *> tensors);
  Recording(const char *name, const Operand &x)
      : Recording(name, x.place(), {tensorOf(x)}) {
    operands[0] = &x;
  }
  Recording(const char *name, const Operand &x, const Operand &y)
      : Recording(name, x.place(), {tensorOf(x), tensorOf(y)}) {
    operands = {&x, &y, nullptr};
  }
  Recording(const char *name, const Operand &x, const Operand &y,
            const Operand &z)
      : Recording(name, x.place(), {tensorOf(x), tensorOf(y), tensorOf(z)}) {
    operands = {&x, &y, &z};
  }
  ~Recording();
  Recording(const Recording &) = delete;

  const char *name() const { return theName; }
  std::source_location place() const { return thePlace; }
  Trace &trace() { return theTrace; }
  mlir::OpBuilder &builder() { return theTrace.builder(); }
  mlir::MLIRContext *context() { return &theTrace.context(); }
  mlir::Location location() const { return loc; }
  Device device() const { return theDevice ? *theDevice : default_device(); }

  // Calls that are known

  /// The result, if this function was called on operands of these types and
  /// with these parameters before: its ops are made again. Else an empty
  /// tensor, and the call is remembered at its end. What is recorded must
  /// depend on nothing else; `expr` alone may look at an operand's number.
  Tensor recall(llvm::ArrayRef<int64_t> parameters);
  /// The same for other operands than those that the recording was made with;
  /// more than three are not remembered.
  Tensor recall(llvm::ArrayRef<const Operand *> list,
                llvm::ArrayRef<int64_t> parameters);
  /// The same for a list of tensors, and no other operands.
  Tensor recall(std::span<const Tensor> tensors,
                llvm::ArrayRef<int64_t> parameters);
  template <std::integral... Integers> Tensor recall(Integers... parameters) {
    return recall(llvm::ArrayRef<int64_t>(
        std::array<int64_t, sizeof...(Integers)>{int64_t(parameters)...}));
  }

  // Operands

  mlir::Value value(const Tensor &tensor) { return opOf(tensor)->getResult(0); }
  ir::Expr expr(mlir::Value value) { return {builder(), loc, value}; }
  /// An operand in its own dtype.
  ir::Expr expr(const Operand &x);
  /// An operand converted to a dtype; a number stays without dimensions.
  ir::Expr expr(const Operand &x, DType dtype);

  // Ops

  /// Creates an op of one result without asking its type rule.
  template <typename Op>
  mlir::Value create(mlir::Type type, mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return createOp(nameOf<Op>(), type, operands, attributes);
  }
  template <typename Op>
  mlir::Value create(mlir::Type type, mlir::ValueRange operands,
                     mlir::DictionaryAttr attributes) {
    return createOp(nameOf<Op>(), type, operands, attributes);
  }
  /// Creates an op whose type follows from its operands and attributes.
  template <typename Op>
  mlir::Value infer(mlir::ValueRange operands,
                    llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    mlir::DictionaryAttr dictionary = builder().getDictionaryAttr(attributes);
    llvm::SmallVector<mlir::Type, 1> types;
    if (failed(Op::inferReturnTypes(context(), loc, operands, dictionary,
                                    nullptr, {}, types)))
      failFromDiagnostics();
    return create<Op>(types.front(), operands, attributes);
  }

  ir::Expr convert(ir::Expr x, DType dtype);
  /// Repeats x to a shape that it broadcasts to.
  ir::Expr broadcast(ir::Expr x, const Shape &shape);

  mlir::RankedTensorType type(DType dtype, const Shape &shape) {
    return theTrace.typeOf(dtype, shape);
  }

  // The end

  /// Verifies the ops made, and hands the result out.
  Tensor finish(mlir::Value result);
  Tensor finish(ir::Expr result) { return finish(result.value()); }
  std::vector<Tensor> finish(mlir::ValueRange results);

  template <typename E> [[noreturn]] void fail(const std::string &message) {
    throw E(errorPlace(thePlace), theName, message);
  }

private:
  static const Tensor *tensorOf(const Operand &x) {
    return x.isScalar() ? nullptr : &x.tensor();
  }
  static unsigned nextOpIndex();
  /// The name of an op, looked up once in each context.
  template <typename Op> mlir::OperationName nameOf() {
    static const unsigned index = nextOpIndex();
    return theTrace.nameOf(index, Op::getOperationName());
  }
  static Trace &prepare(const char *name, std::source_location place,
                        llvm::ArrayRef<const Tensor *> tensors);
  mlir::Value createOp(mlir::OperationName name, mlir::Type type,
                       mlir::ValueRange operands,
                       llvm::ArrayRef<mlir::NamedAttribute> attributes);
  mlir::Value createOp(mlir::OperationName name, mlir::Type type,
                       mlir::ValueRange operands,
                       mlir::DictionaryAttr attributes);
  mlir::Block::iterator firstNew();
  void countNew();
  void adoptAll();
  void adopt(mlir::Operation *op);
  void note(mlir::Operation *op);
  mlir::Operation *opOf(const Tensor &tensor);
  void addToKey(const Tensor &tensor);
  Tensor recallKey(llvm::ArrayRef<int64_t> parameters);
  Tensor repeat(const KnownCall &known);
  void remember(mlir::Operation *result);
  void verify(mlir::Operation *op);
  void sweep();
  [[noreturn]] void failFromDiagnostics();

  const char *theName;
  std::source_location thePlace;
  Trace &theTrace;
  TraceLock lock;
  mlir::LocationAttr loc;
  mlir::Operation *lastBefore;
  std::optional<Device> theDevice;
  bool counted = false, finished = false;
  std::array<const Operand *, 3> operands = {};
  llvm::SmallVector<mlir::Operation *, 4> operandOps;
  /// Of a call that will be remembered.
  llvm::SmallVector<uint64_t, 12> key;
  /// The ops that stand for numbers, and whose they are.
  struct Number {
    mlir::Operation *op;
    const Operand *operand;
    DType dtype;
  };
  llvm::SmallVector<Number, 2> numbers;
};

} // namespace tessera::detail
